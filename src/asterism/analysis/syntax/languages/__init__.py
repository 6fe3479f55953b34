"""One module of data per language; `catalogue.py` says which file belongs to which."""
