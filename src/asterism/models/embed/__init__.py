"""Embedding: vectors of texts, by models of our own or by services."""
