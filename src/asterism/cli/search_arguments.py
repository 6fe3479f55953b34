"""The arguments of the commands that find code."""

import argparse

from asterism.cli import structure_arguments
from asterism.cli.arguments import Commands, command, json_option


def add_search(commands: Commands) -> None:
    """Add `search`."""
    parser = command(commands, "search", "Find the code for a question.")
    parser.add_argument(
        "query",
        metavar="QUERY",
        help="words, names, code, regex:PATTERN or symbol = NAME; - reads it from standard input",
    )
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="?",
        help="look only here: a directory or file in the index (default: the repository around)",
    )
    parser.add_argument(
        "--mode",
        choices=("hybrid", "semantic", "exact", "definition", "similar"),
        default="hybrid",
        help="how to search (default: %(default)s)",
    )
    structure_arguments.add_format(parser)
    _what_is_wanted(parser)


def add_similar(commands: Commands) -> None:
    """Add `similar`."""
    parser = command(commands, "similar", "Find code like the code at a place.")
    parser.add_argument(
        "place", metavar="FILE:LINE", help="the function, class … around that line; or a whole FILE"
    )
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="?",
        help="look only here: a directory or file of the same repository (default: all of it)",
    )
    _what_is_wanted(parser)


def _what_is_wanted(parser: argparse.ArgumentParser) -> None:
    """The options of every kind of search."""
    parser.add_argument("--limit", type=int, default=10, metavar="N", help="hits (default: 10)")
    parser.add_argument(
        "--filter",
        action="append",
        metavar="KEY=VALUE",
        help="only such code: path_prefix=src/, type=class, languages=python …; repeatable",
    )
    parser.add_argument("--min-score", type=float, metavar="S", help="leave out what scores less")
    parser.add_argument(
        "--tokens", type=int, metavar="N", help="give no more text than this; less detail instead"
    )
    parser.add_argument(
        "--context-lines",
        type=int,
        default=0,
        metavar="N",
        help="show lines of the file around each hit, up to 10 (default: %(default)s)",
    )
    parser.add_argument(
        "--stage", choices=("discover", "refine"), help="look around widely, or strictly"
    )
    parser.add_argument(
        "--exhaustive", action="store_true", help="every match, page by page, in stable order"
    )
    parser.add_argument("--cursor", help="where an exhaustive search goes on")
    parser.add_argument("--explain", action="store_true", help="say why each hit is where it is")
    json_option(parser)
