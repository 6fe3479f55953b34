"""The `asterism` command: arguments in, exit code out, errors as one clear line."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn, TypeAlias

from asterism import __version__
from asterism.cli import install_arguments, structure_arguments
from asterism.domain.errors import AsterismError
from asterism.domain.files import display_path

# The request cannot be carried out as given.
EXIT_USAGE = 2
# 128 + SIGINT, as shells report it.
EXIT_INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    """Complains in one line, as every other error does."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USAGE, f"{self.prog}: {display_path(message)}; see {self.prog} --help\n")


def build_parser() -> argparse.ArgumentParser:
    """The whole command line, from which `docs/cli.md` is generated."""
    parser: argparse.ArgumentParser = _Parser(
        prog="asterism",
        description="Code search from the syntax tree: see any source file as symbols and chunks.",
    )
    parser.add_argument("--version", action="version", version=f"asterism {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _search(commands)
    _similar(commands)
    structure_arguments.add(commands)
    _index(commands)
    _status(commands)
    _symbols(commands)
    _watch(commands)
    _mcp(commands)
    _repos(commands)
    _clean(commands)
    install_arguments.add(commands)
    _debug(commands)
    _doctor(commands)
    _outline(commands)
    _chunks(commands)
    _files(commands)
    _validate(commands)
    _eval(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; each is imported only when it is called."""
    options = build_parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a letter shows its escape; that is no reason to stop.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        module = getattr(options, "module", options.command)
        command = import_module(f"asterism.cli.{module}")
        code: int = command.run(options)
        sys.stdout.flush()
        return code
    except AsterismError as error:
        sys.stderr.write(f"asterism: {error}\n")
        return EXIT_USAGE
    except BrokenPipeError:
        # The reader went away, as `| head` does; that is its right.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _command(commands: _Commands, name: str, text: str) -> argparse.ArgumentParser:
    return commands.add_parser(name, help=text, description=text)


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of text for people")


def _search(commands: _Commands) -> None:
    parser = _command(commands, "search", "Find the code for a question.")
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


def _similar(commands: _Commands) -> None:
    parser = _command(commands, "similar", "Find code like the code at a place.")
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
    _json(parser)


def _index(commands: _Commands) -> None:
    parser = _command(commands, "index", "Make or refresh the index of a repository.")
    parser.add_argument(
        "path", metavar="PATH", nargs="?", help="the directory (default: the repository around you)"
    )
    parser.add_argument("--force", action="store_true", help="read and write every file anew")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")
    parser.add_argument("--cancel", action="store_true", help="stop the process that is indexing")
    parser.add_argument("--name", help="what to call the repository (default: its directory)")
    parser.add_argument("--project", help="the project it belongs to (default: its own)")
    _json(parser)


def _status(commands: _Commands) -> None:
    parser = _command(commands, "status", "Show whether the index is fresh, and what it holds.")
    parser.add_argument(
        "path", metavar="PATH", nargs="?", help="a directory in it (default: the current one)"
    )
    _json(parser)


def _symbols(commands: _Commands) -> None:
    parser = _command(
        commands, "symbols", "Show where a name is defined, exported, imported and used."
    )
    parser.add_argument("name", metavar="NAME", help="x, A.x, A::x, 'A > x' or 'path > A > x'")
    parser.add_argument(
        "path", metavar="PATH", nargs="?", help="anything in the repository (default: here)"
    )
    parser.add_argument(
        "--kind",
        metavar="K",
        action="append",
        help="only this kind, such as class; may be repeated",
    )
    parser.add_argument(
        "--role",
        action="append",
        choices=("definition", "export", "import", "usage"),
        help="only this role; may be repeated",
    )
    parser.add_argument(
        "--limit", type=int, default=50, metavar="N", help="show so many (default: %(default)s)"
    )
    _json(parser)


def _watch(commands: _Commands) -> None:
    parser = _command(commands, "watch", "Keep an index fresh while files change; Ctrl-C ends it.")
    parser.add_argument(
        "path", metavar="PATH", nargs="?", help="the directory (default: the repository around you)"
    )
    parser.add_argument("--quiet", action="store_true", help="say only what goes wrong")


def _mcp(commands: _Commands) -> None:
    parser = _command(commands, "mcp", "Serve coding agents over MCP on standard input and output.")
    parser.add_argument(
        "path", metavar="PATH", nargs="?", help="the repository (default: the current directory)"
    )


def _repos(commands: _Commands) -> None:
    parser = _command(commands, "repos", "List the repositories that are known; add or remove one.")
    parser.add_argument(
        "action",
        nargs="?",
        choices=("list", "add", "remove"),
        default="list",
        help="what to do (default: %(default)s)",
    )
    parser.add_argument(
        "target", metavar="TARGET", nargs="?", help="the path to add; the name or path to remove"
    )
    parser.add_argument("--name", help="with add: what to call it (default: its directory)")
    parser.add_argument("--project", help="with add: the project it belongs to (default: its own)")
    parser.add_argument("--yes", action="store_true", help="with remove: do not ask")
    _json(parser)


def _clean(commands: _Commands) -> None:
    parser = _command(
        commands, "clean", "Remove indexes and leftovers that nobody needs; repositories stay."
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")
    parser.add_argument("--cache", action="store_true", help="empty the cache of vectors as well")
    parser.add_argument(
        "--yes", action="store_true", help="remove indexes of vanished repositories without asking"
    )
    _json(parser)


def _debug(commands: _Commands) -> None:
    parser = _command(commands, "debug", "Show what is indexed of a file, and why not the rest.")
    parser.add_argument("what", choices=("file",), help="what to look at")
    parser.add_argument("path", metavar="PATH", help="the file")
    parser.add_argument("--text", action="store_true", help="print the text a model reads as well")
    _json(parser)


def _doctor(commands: _Commands) -> None:
    parser = _command(
        commands, "doctor", "Check the installation and say what to do; exit 1 on a problem."
    )
    parser.add_argument("--online", action="store_true", help="ask the providers that are set, too")
    _json(parser)


def _outline(commands: _Commands) -> None:
    parser = _command(commands, "outline", "Show a file's symbols, imports and problems.")
    parser.add_argument("file", metavar="FILE", help="the source file")
    _json(parser)


def _chunks(commands: _Commands) -> None:
    parser = _command(commands, "chunks", "Show the chunks a file is searched by.")
    parser.add_argument("file", metavar="FILE", help="the source file")
    parser.add_argument(
        "--show",
        choices=("source", "embedding"),
        help="print each chunk's source, or the text a model reads",
    )
    _json(parser)


def _files(commands: _Commands) -> None:
    parser = _command(commands, "files", "Show which files would be indexed, and which not.")
    parser.add_argument("path", metavar="PATH", help="the repository or a directory in it")
    parser.add_argument("--skipped", action="store_true", help="list skipped files with reasons")
    parser.add_argument(
        "--max-bytes", type=int, metavar="N", help="skip larger files (default: the settings')"
    )
    _json(parser)


def _validate(commands: _Commands) -> None:
    parser = _command(
        commands,
        "validate",
        "Check the ten rules of chunks over every file; exit 1 if one is broken.",
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", help="files or repositories")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: the settings')")
    _json(parser)


def _eval(commands: _Commands) -> None:
    parser = _command(
        commands, "eval", "Measure how good, fast and cheap a search is on labelled queries."
    )
    parser.add_argument(
        "dataset",
        metavar="DATASET",
        nargs="?",
        help="a JSONL file, a folder with queries.jsonl and repos.json, or a saved run (.json)",
    )
    parser.add_argument("--repos-dir", metavar="DIR", help="the directory of the repositories")
    tools = parser.add_mutually_exclusive_group()
    tools.add_argument("--adapter", metavar="FILE", help="a Python file with a class Adapter")
    tools.add_argument(
        "--command",
        dest="template",
        metavar="CMD",
        help="another tool: 'tool --json -k {k} {query} {repo}'",
    )
    tools.add_argument("--baseline", action="store_true", help="words by BM25 and nothing else")
    tools.add_argument(
        "--make", metavar="REPOSITORY", help="make a set from a repository; --out says where"
    )
    parser.add_argument(
        "--index-command", metavar="CMD", help="with --command: 'tool index {repo}'"
    )
    parser.add_argument(
        "--arg", metavar="K=V", action="append", help="for the adapter; may be repeated"
    )
    parser.add_argument(
        "--repo", metavar="NAME", action="append", help="only this repository; may be repeated"
    )
    parser.add_argument(
        "--scope",
        choices=("root", "full"),
        default="root",
        help="index the part that the dataset names, or whole checkouts (default: %(default)s)",
    )
    parser.add_argument(
        "--match",
        choices=("suffix", "strict"),
        help="how paths are compared (default: as the dataset is made)",
    )
    parser.add_argument(
        "--limit", type=int, default=10, metavar="K", help="places a query (default: %(default)s)"
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=1,
        metavar="N",
        help="searches a query, the median time counts (default: %(default)s)",
    )
    parser.add_argument(
        "--index-dir", metavar="DIR", help="keep indexes here (default: made anew each time)"
    )
    parser.add_argument("-o", "--out", metavar="FILE", help="where to save the run, or the set")
    parser.add_argument("--compare", metavar="RUN", help="a saved run to compare with")
    parser.add_argument(
        "--reliability",
        action="store_true",
        help="also print how often places of each score are right",
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="with --make: which set (default: 1)"
    )
    parser.add_argument(
        "--size",
        type=int,
        default=40,
        metavar="N",
        help="with --make: queries of each category (default: %(default)s)",
    )
    _json(parser)
