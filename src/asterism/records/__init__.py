"""Conversations and sessions in a database, with migrations."""
