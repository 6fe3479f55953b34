"""Data on disk: the catalogue (SQLite), the chunk table (Lance), the registry of repositories."""
