"""The user's words, checked and completed."""
