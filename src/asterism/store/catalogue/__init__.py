"""The catalogue of a project: files, symbols, links and jobs in SQLite."""
