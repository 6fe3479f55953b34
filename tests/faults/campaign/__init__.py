"""Kills, faults at single calls, damaged files and processes at once, as many as there is time for."""
