"""Connections of other languages, from language servers."""
