"""The Python API: `Codebase`, its replies and requests."""
