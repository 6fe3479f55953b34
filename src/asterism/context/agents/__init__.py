"""Agent files: reading, checking, editing and writing them."""
