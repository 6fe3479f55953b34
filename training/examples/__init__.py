"""Training examples mined from source files: a query and the text that answers it."""
