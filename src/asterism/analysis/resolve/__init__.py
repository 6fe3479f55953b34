"""Resolves names: imports, modules, receivers and heritage."""
