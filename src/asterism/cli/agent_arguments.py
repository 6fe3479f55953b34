"""The arguments of the commands around agents: their files, their sessions, a request's context."""

from asterism.cli.parser import Commands, command, json_option

INCLUDE_MODES = ("always", "manual", "agent")


def add(commands: Commands) -> None:
    """Add `agent`, `context` and `session`."""
    _agent(commands)
    _context(commands)
    _session(commands)


def _agent(commands: Commands) -> None:
    parser = command(
        commands, "agent", "List, show, make, edit, check, import or export agents' files."
    )
    parser.add_argument(
        "action",
        nargs="?",
        choices=("list", "show", "new", "edit", "check", "import", "export"),
        default="list",
        help="what to do (default: %(default)s)",
    )
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="the agent, with show and check also a file; with import, the file or - for input",
    )
    parser.add_argument(
        "--name", dest="rename", metavar="NAME", help="with import: what to call it"
    )
    parser.add_argument("--replace", action="store_true", help="with import: replace one that is")
    parser.add_argument("--description", metavar="TEXT", help="with new, or of the item to add")
    parser.add_argument("--prompt", metavar="TEXT", help="with new: the system prompt")
    parser.add_argument(
        "--set",
        action="append",
        metavar="KEY=VALUE",
        help="with edit: set a key, such as settings.contextTopN=3 or rules.NAME.include=agent; "
        "without a value it is taken away",
    )
    parser.add_argument("--enable", action="store_true", help="with edit: switch the agent on")
    parser.add_argument("--disable", action="store_true", help="with edit: switch the agent off")
    parser.add_argument(
        "--add", metavar="ITEM", help="with edit: add an item, rule:NAME or ref:NAME, with --text"
    )
    parser.add_argument("--text", metavar="TEXT", help="of the item to add; - reads the input")
    parser.add_argument(
        "--priority", type=int, metavar="N", help="of the item to add: 0 to 999, the highest first"
    )
    parser.add_argument("--include", choices=INCLUDE_MODES, help="of the item to add")
    parser.add_argument("--remove", metavar="ITEM", help="with edit: remove rule:NAME or ref:NAME")
    parser.add_argument(
        "--tools", action="store_true", help="with show and check: ask the servers for their tools"
    )
    json_option(parser)


def _context(commands: Commands) -> None:
    parser = command(
        commands,
        "context",
        "Show what a request would be given: rules, references, tools and code.",
    )
    parser.add_argument("message", metavar="MESSAGE", help="what is asked")
    parser.add_argument("path", metavar="PATH", nargs="?", help="the repository (default: around)")
    parser.add_argument(
        "--agent", metavar="NAME", default="reader", help="whose items (default: %(default)s)"
    )
    parser.add_argument("--session", metavar="ID", help="go on with a session instead")
    parser.add_argument(
        "--tokens", type=int, default=8000, metavar="N", help="of everything (default: 8,000)"
    )
    parser.add_argument(
        "--code", type=int, default=10, metavar="N", help="hits at most; 0 for none (default: 10)"
    )
    parser.add_argument(
        "--min-score",
        type=float,
        metavar="SCORE",
        help="of code that is given (default: 0.5, more likely right than not)",
    )
    parser.add_argument("--no-tools", action="store_true", help="do not start the agent's servers")
    parser.add_argument("--explain", action="store_true", help="say why each item is here or not")
    parser.add_argument("--text", action="store_true", help="print the texts and the code as well")
    json_option(parser)


def _session(commands: Commands) -> None:
    parser = command(
        commands, "session", "Begin, list, change and replay sessions, and see what was of use."
    )
    parser.add_argument(
        "action",
        nargs="?",
        choices=(
            *("list", "new", "show", "add", "remove", "set", "delete", "replay", "usage", "export"),
        ),
        default="list",
        help="what to do (default: %(default)s)",
    )
    parser.add_argument(
        "target",
        metavar="TARGET",
        nargs="?",
        help="the session; with new, list, usage and export the agent; with replay the request",
    )
    parser.add_argument(
        "values",
        metavar="VALUE",
        nargs="*",
        help="with add and remove items, rule:NAME; with set NAME=VALUE, or NAME= to take it back",
    )
    parser.add_argument("--title", default="", metavar="TEXT", help="with new: what to call it")
    parser.add_argument("--path", metavar="PATH", help="the repository (default: around)")
    parser.add_argument("--no-tools", action="store_true", help="do not start the agent's servers")
    json_option(parser)
