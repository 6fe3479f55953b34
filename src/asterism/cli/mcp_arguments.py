"""The arguments of the command that serves coding agents."""

from asterism.cli.parser import Commands, command


def add(commands: Commands) -> None:
    """Add `mcp`."""
    parser = command(commands, "mcp", "Serve coding agents over MCP on standard input and output.")
    parser.add_argument(
        "path", metavar="PATH", nargs="?", help="the repository (default: the current directory)"
    )
