"""The arguments of the commands that find code."""

import argparse

from asterism.cli import structure_arguments
from asterism.cli.options import add_request
from asterism.cli.parser import Commands, command, json_option
from asterism.operations.requests import SearchCode, SimilarCode, SymbolLookup


def add_search(commands: Commands) -> None:
    """Add `search`."""
    parser = command(commands, "search", "Find the code for a question.")
    add_request(parser, SearchCode)
    _path(
        parser,
        "look only here: a directory or file in the index (default: the repository around)",
    )
    structure_arguments.add_format(parser)
    json_option(parser)


def add_similar(commands: Commands) -> None:
    """Add `similar`."""
    parser = command(commands, "similar", "Find code like the code at a place.")
    parser.add_argument(
        "place", metavar="FILE:LINE", help="the function, class … around that line; or a whole FILE"
    )
    _path(parser, "look only here: a directory or file of the same repository (default: all of it)")
    add_request(parser, SimilarCode)
    json_option(parser)


def add_symbols(commands: Commands) -> None:
    """Add `symbols`."""
    parser = command(
        commands, "symbols", "Show where a name is defined, exported, imported and used."
    )
    add_request(parser, SymbolLookup)
    _path(parser, "anything in the repository (default: here)")
    json_option(parser)


def _path(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument("path", metavar="PATH", nargs="?", help=text)
