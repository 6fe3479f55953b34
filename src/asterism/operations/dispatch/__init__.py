"""Runs the operations of one server: checks, turns, deadlines, limits, jobs and watchers."""
