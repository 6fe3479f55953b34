"""Where an index is kept: Lance for chunks, SQLite for the catalogue."""
