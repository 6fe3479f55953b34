"""How do other programs reach the engine? Tools over MCP; wire shapes live here."""
