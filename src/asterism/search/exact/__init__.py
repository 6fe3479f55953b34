"""Exact search: phrases, words and regular expressions over chunks."""
