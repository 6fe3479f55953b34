"""How well texts answer a question: models of others that read both together."""
