"""Writes replies: connection graphs and snapshots of files that fit a budget."""
