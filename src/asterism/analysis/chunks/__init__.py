"""Outline to chunks: each parent with its children collapsed to signatures."""
