"""Question to hits: recall, fuse, rank, select."""
