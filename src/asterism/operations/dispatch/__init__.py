"""The state of one server that runs operations: turns, jobs, watchers, hidden paths."""
