"""Measures of the code base, which the tidy test checks and `python -m scripts.house` prints."""
