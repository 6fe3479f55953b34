"""Models of others, asked over HTTP: what all of them have in common."""
