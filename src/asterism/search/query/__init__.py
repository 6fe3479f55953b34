"""Parses a query: text, names, paths and what kind of query it is."""
