"""Finds chunks and symbols for a query: parsing, recall, ranking, exact search, selection."""
