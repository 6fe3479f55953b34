"""Markdown, reStructuredText and plain text."""
