"""The arguments of the commands that show how symbols connect."""

import argparse

from asterism.cli.options import add_request
from asterism.cli.parser import Commands, command, json_option
from asterism.operations.requests import NAME_FORMS, SymbolRelations


def add(commands: Commands) -> None:
    """Add `show`, `callers`, `callees` and `refs`."""
    _show(commands)
    _relation(commands, "callers", "Show who calls a symbol, as a tree.")
    _relation(commands, "callees", "Show what a symbol calls, as a tree.")
    _relation(commands, "refs", "Show which files refer to a symbol.")


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add how a search is answered."""
    parser.add_argument(
        "--format",
        choices=("list", "context"),
        default="list",
        help="a list of hits, or how they connect with the code that is needed to work on them: "
        "8,000 --tokens at most, of results that are worth them (default: %(default)s)",
    )


def _show(commands: Commands) -> None:
    parser = command(
        commands,
        "show",
        "Show a symbol: how it is connected, and its code with all it uses of its file.",
    )
    parser.add_argument("symbol", metavar="SYMBOL", help=NAME_FORMS)
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="?",
        help="look only here: a directory or file in the index (default: the repository around)",
    )
    parser.add_argument(
        "--limit", type=int, default=10, metavar="N", help="definitions (default: %(default)s)"
    )
    parser.add_argument(
        "--tokens", type=int, metavar="N", help="give no more text than this (default: 8,000)"
    )
    json_option(parser)


def _relation(commands: Commands, name: str, text: str) -> None:
    parser = command(commands, name, text)
    parser.set_defaults(module="relations", depth=1)
    # References have no depth.
    add_request(parser, SymbolRelations, leave_out=("depth",) if name == "refs" else ())
    json_option(parser)
