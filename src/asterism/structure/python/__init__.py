"""Connections of Python, from the type checker."""
