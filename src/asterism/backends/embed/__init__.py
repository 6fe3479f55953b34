"""Text to vectors: the built-in model, and models of others."""
