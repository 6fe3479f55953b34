"""The arguments of the commands that show how symbols connect."""

import argparse

from asterism.cli.arguments import Commands, command, json_option

_NAME = "x, A.x, A::x, 'A > x' or 'path > A > x'"


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
        "8,000 --tokens unless told otherwise, of hits that score 0.5 (default: %(default)s)",
    )


def _show(commands: Commands) -> None:
    parser = command(
        commands,
        "show",
        "Show a symbol: how it is connected, and its code with all it uses of its file.",
    )
    _symbol(parser, "look only here: a directory or file in the index")
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
    _symbol(parser, "only what is defined here: a directory or file in the index")
    if name != "refs":
        parser.add_argument(
            "--depth", type=int, metavar="N", help="follow so many calls, up to 10 (default: 1)"
        )
    json_option(parser)


def _symbol(parser: argparse.ArgumentParser, where: str) -> None:
    parser.add_argument("symbol", metavar="SYMBOL", help=_NAME)
    parser.add_argument(
        "path", metavar="PATH", nargs="?", help=f"{where} (default: the repository around)"
    )
