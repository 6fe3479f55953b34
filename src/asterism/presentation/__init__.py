"""Hits to reply: snapshots of files, the connection graph, and both inside one budget."""
