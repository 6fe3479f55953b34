"""How the database of the records came to be what it is, step by step."""
