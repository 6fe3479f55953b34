"""How symbols are connected: what compilers and type checkers say of a repository, live."""
