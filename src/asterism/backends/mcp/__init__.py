"""The other side of MCP: agents' tool servers are started, asked and ended from here."""
