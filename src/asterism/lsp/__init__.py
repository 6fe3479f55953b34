"""The client of language servers: processes, connections, requests."""
