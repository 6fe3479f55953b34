"""Starts other programs, with fixed arguments, environment and limits; all use of `subprocess`."""
