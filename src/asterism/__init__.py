"""Asterism answers one question about a repository: what code do I need for this?"""

__version__ = "0.1.0"
