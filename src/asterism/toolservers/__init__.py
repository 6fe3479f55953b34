"""The client of MCP servers whose tools an agent may call."""
