"""Reranking: models that score a query with a text."""
