"""The arguments of the command that serves over HTTP."""

import argparse

from asterism.cli.parser import Commands, command

HIGHEST_PORT = 65_535


def add(commands: Commands) -> None:
    """Add `serve`."""
    parser = command(
        commands, "serve", "Serve MCP and the HTTP API for many clients, until it is ended."
    )
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="?",
        help="the repository that is meant where a request names none (default: the current "
        "directory)",
    )
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        help="listen here (default: 127.0.0.1, this machine alone; any other needs a token)",
    )
    parser.add_argument(
        "--port", metavar="N", type=_port, help="listen on this port (default: 8420; 0: any)"
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help="a file with a token of your own that requests have to bring (or set "
        "ASTERISM_SERVER_TOKEN); the server makes one by itself otherwise",
    )
    parser.add_argument(
        "--no-token",
        action="store_true",
        help="answer every user of this machine (never other machines)",
    )
    parser.add_argument(
        "--read-only",
        action="store_true",
        help="answer questions, and let nobody add, index or remove repositories over HTTP",
    )


def _port(text: str) -> int:
    if text.isdecimal() and text.isascii() and int(text[:6]) <= HIGHEST_PORT:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no port; give 0 to {HIGHEST_PORT:,}")
