"""The parser of the command line: all commands in one table, each declared when it is used.

A command's module has `declare(parser)` for its arguments and `run(options)` for its work. Both
come with what the command needs, the engine for most, so `asterism --help` and the start of `mcp`
read the table below and import no other command's module.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

from asterism import __version__
from asterism.types.files import display_path

if TYPE_CHECKING:
    # They are loaded for commands that an operation declares alone.
    from asterism.operations.operation import Operation

EXIT_USAGE = 2
"""The request cannot be carried out as given."""


class Command(NamedTuple):
    """A command of its own."""

    name: str
    help: str
    module: str = ""
    """Below `asterism.cli.commands`, where it is not called like the command."""
    operation: str = ""
    """The operation that declares its arguments and output alone; it has no module then."""


COMMANDS = (
    Command("search", "Find code by meaning, words or names."),
    Command("similar", "Find code similar to FILE:LINE.", "search"),
    Command(
        "show",
        "Show a symbol: its connections, and its code with what it uses of its file.",
        "search",
    ),
    Command("callers", "Show who calls a symbol, as a tree.", "symbols"),
    Command("callees", "Show what a symbol calls, as a tree.", "symbols"),
    Command("refs", "Show which files refer to a symbol.", "symbols"),
    Command("ask", "Answer a question about a repository and cite the source lines.", "chat"),
    Command("chat", "Start an interactive chat; /help lists commands."),
    Command("conversations", "List, show, search, archive, delete or export conversations."),
    Command("agent", "List, show, create, edit, check, import or export agents."),
    Command("context", "Show the context of a request: rules, references, tools and code."),
    Command("session", "Create, list, edit and replay sessions; show which items helped."),
    Command("index", "Build or update the index of a repository."),
    Command("status", "Show whether the index is up to date, and what it contains.", "repos"),
    Command("symbols", "Show where a name is defined, exported, imported and used."),
    Command("watch", "Keep an index up to date while files change; Ctrl-C ends it.", "index"),
    Command("mcp", "Serve coding agents over MCP on standard input and output."),
    Command("serve", "Serve MCP and the HTTP API for many clients."),
    Command("repos", "List the repositories that are known; add or remove one."),
    Command(
        "trust", "Let language servers, settings and agents of a repository start other programs."
    ),
    Command("untrust", "Take back the trust in a repository.", "trust"),
    Command("clean", "Remove unused indexes and leftovers; repositories stay."),
    Command("install", "Set up coding agents to use Asterism: shows the changes, then asks."),
    Command("uninstall", "Undo what install has set up: shows the changes, then asks.", "install"),
    Command("debug", "Show what is indexed of a file, and why the rest is not."),
    Command("doctor", "Check the installation; exit 1 on a problem."),
    Command("outline", "Show a file's symbols, imports and problems."),
    Command("chunks", "Show the chunks a file is searched by.", "outline"),
    Command("files", "Show which files would be indexed, and which not."),
    Command(
        "validate",
        "Check the ten rules of chunks over every file; exit 1 if one is broken.",
        "files",
    ),
    Command("eval", "Measure how good, fast and cheap a search is on labelled queries."),
)


class _Parser(argparse.ArgumentParser):
    """Complains in one line, as every other error does."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USAGE, f"{self.prog}: {display_path(message)}; see {self.prog} --help\n")


class CommandParser(_Parser):
    """The parser of one command, which gets its arguments when it is first used."""

    _is_declared = False
    _is_mixed = False

    def __init__(self, *, command: str, arguments: "Declare", **given: Any) -> None:
        """`arguments` adds those of the command called `command`; the rest is for argparse."""
        super().__init__(**given)
        self.command = command
        self._arguments = arguments

    def declare(self) -> None:
        """Add the arguments, unless they are there."""
        if not self._is_declared:
            self._is_declared = True
            self._arguments(self)

    # typeshed has overloads for other namespaces, which no command uses.
    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """The values, and the unknown arguments; options may be between the positional ones."""
        self.declare()
        found, rest = super().parse_known_args(args, namespace)
        if not rest or self._is_mixed:
            return found, rest
        # A PATH that may be left out is taken as left out when an option comes before it.
        self._is_mixed = True
        try:
            return self.parse_known_intermixed_args(args)
        finally:
            self._is_mixed = False


Declare: TypeAlias = Callable[[CommandParser], None]


def build_parser(
    commands: Iterable[Command] = COMMANDS, operations: "Iterable[Operation]" = ()
) -> argparse.ArgumentParser:
    """The whole command line, every command declared; `docs/cli.md` is generated from it."""
    parser = lazy_parser(commands, operations)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                command.declare()
    return parser


def lazy_parser(
    commands: Iterable[Command] = COMMANDS, operations: "Iterable[Operation]" = ()
) -> argparse.ArgumentParser:
    """The parser in which a command is declared when it is used.

    Commands that an operation declares find it among `operations`, then in the registry.
    """
    parser: argparse.ArgumentParser = _Parser(
        prog="asterism",
        description="Code search from the syntax tree: see any source file as symbols and chunks.",
    )
    parser.add_argument("--version", action="version", version=f"asterism {__version__}")
    added = parser.add_subparsers(
        dest="command", metavar="COMMAND", required=True, parser_class=CommandParser
    )
    for command in commands:
        declare = _declare_operation if command.operation else _declare
        added.add_parser(
            command.name,
            help=command.help,
            description=command.help,
            command=command.name,
            arguments=partial(declare, command, operations),
        )
    return parser


def _declare(command: Command, _operations: "Iterable[Operation]", parser: CommandParser) -> None:
    """The arguments of a command that has a module."""
    module = import_module(f"asterism.cli.commands.{command.module or command.name}")
    parser.set_defaults(run=module.run)
    module.declare(parser)


def _declare_operation(
    command: Command, operations: "Iterable[Operation]", parser: CommandParser
) -> None:
    """The arguments of a command that its operation declares alone."""
    from asterism.cli.commands import operation as module
    from asterism.operations.registry import OPERATIONS

    named = (one for one in (*operations, *OPERATIONS) if one.name == command.operation)
    operation = next(named)
    parser.set_defaults(run=partial(module.run, operation))
    module.declare(operation, parser)
