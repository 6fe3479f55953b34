"""Everything about one programming language in one place: a folder for each."""
