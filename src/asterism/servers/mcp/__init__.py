"""The MCP server: standard input and output, frames, sessions."""
