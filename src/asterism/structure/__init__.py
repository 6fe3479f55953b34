"""How symbols are connected, as compilers and type checkers report it for the current files."""
