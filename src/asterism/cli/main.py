"""The `asterism` command: arguments in, exit code out, errors as one clear line."""

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from asterism import __version__
from asterism.cli import (
    agent_arguments,
    ask_arguments,
    eval_arguments,
    file_arguments,
    index_arguments,
    install_arguments,
    keeping_arguments,
    mcp_arguments,
    search_arguments,
    serve_arguments,
    structure_arguments,
)
from asterism.cli.terminal import visible_streams
from asterism.telemetry.notices import taken
from asterism.types.errors import AsterismError
from asterism.types.files import display_path

# The request cannot be carried out as given.
EXIT_USAGE = 2
# 128 + SIGINT, as shells report it.
EXIT_INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    """Complains in one line, as every other error does."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USAGE, f"{self.prog}: {display_path(message)}; see {self.prog} --help\n")


class _Command(_Parser):
    """Takes options between the positional arguments of a command as well."""

    _is_mixed = False

    # typeshed has overloads for other namespaces, which no command uses.
    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """The values, and the arguments that mean nothing."""
        found, rest = super().parse_known_args(args, namespace)
        if not rest or self._is_mixed:
            return found, rest
        # A PATH that may be left out is taken as left out when an option comes before it.
        self._is_mixed = True
        try:
            return self.parse_known_intermixed_args(args)
        finally:
            self._is_mixed = False


def build_parser() -> argparse.ArgumentParser:
    """The whole command line, from which `docs/cli.md` is generated."""
    parser: argparse.ArgumentParser = _Parser(
        prog="asterism",
        description="Code search from the syntax tree: see any source file as symbols and chunks.",
    )
    parser.add_argument("--version", action="version", version=f"asterism {__version__}")
    made: type[argparse.ArgumentParser] = _Command
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=made
    )
    search_arguments.add_search(commands)
    search_arguments.add_similar(commands)
    structure_arguments.add(commands)
    ask_arguments.add(commands)
    agent_arguments.add(commands)
    index_arguments.add_index(commands)
    index_arguments.add_status(commands)
    search_arguments.add_symbols(commands)
    index_arguments.add_watch(commands)
    mcp_arguments.add(commands)
    serve_arguments.add(commands)
    keeping_arguments.add_repos(commands)
    keeping_arguments.add_trust(commands)
    keeping_arguments.add_clean(commands)
    install_arguments.add(commands)
    keeping_arguments.add_debug(commands)
    keeping_arguments.add_doctor(commands)
    file_arguments.add_outline(commands)
    file_arguments.add_chunks(commands)
    file_arguments.add_files(commands)
    file_arguments.add_validate(commands)
    eval_arguments.add(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; each is imported only when it is called."""
    with visible_streams():
        options = build_parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a letter shows its escape; that is no reason to stop.
        sys.stdout.reconfigure(errors="backslashreplace")
    with visible_streams():
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    """The command's exit code; errors as one line."""
    try:
        module = getattr(options, "module", options.command)
        command = import_module(f"asterism.cli.commands.{module}")
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
    except OSError as error:
        # Wherever a path is first looked at, the system says this of it.
        if error.errno != errno.ENAMETOOLONG:
            raise
        shown = display_path(str(error.filename)[:80])
        sys.stderr.write(f"asterism: {shown}… is too long for a path; check it.\n")
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    finally:
        for sentence in taken():
            sys.stderr.write(f"asterism: {sentence}\n")
