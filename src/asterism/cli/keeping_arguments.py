"""The arguments of the commands that keep house: repositories, leftovers, looking inside."""

from asterism.cli.parser import Commands, command, json_option


def add_repos(commands: Commands) -> None:
    """Add `repos`."""
    parser = command(commands, "repos", "List the repositories that are known; add or remove one.")
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
    json_option(parser)


def add_clean(commands: Commands) -> None:
    """Add `clean`."""
    parser = command(
        commands, "clean", "Remove indexes and leftovers that nobody needs; repositories stay."
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")
    parser.add_argument("--cache", action="store_true", help="empty the cache of vectors as well")
    parser.add_argument(
        "--yes", action="store_true", help="remove indexes of vanished repositories without asking"
    )
    json_option(parser)


def add_trust(commands: Commands) -> None:
    """Add `trust` and `untrust`."""
    parser = command(
        commands,
        "trust",
        "Let language servers, settings and agents of a repository start other programs.",
    )
    parser.add_argument("path", metavar="PATH", nargs="?", help="the root of the repository")
    parser.add_argument("--list", action="store_true", help="show the repositories you trust")
    json_option(parser)
    parser = command(commands, "untrust", "Take back the trust in a repository.")
    parser.set_defaults(module="trust")
    parser.add_argument("path", metavar="PATH", help="the root of the repository")
    json_option(parser)


def add_debug(commands: Commands) -> None:
    """Add `debug`."""
    parser = command(commands, "debug", "Show what is indexed of a file, and why not the rest.")
    parser.add_argument("what", choices=("file",), help="what to look at")
    parser.add_argument("path", metavar="PATH", help="the file")
    parser.add_argument("--text", action="store_true", help="print the text a model reads as well")
    json_option(parser)


def add_doctor(commands: Commands) -> None:
    """Add `doctor`."""
    parser = command(
        commands, "doctor", "Check the installation and say what to do; exit 1 on a problem."
    )
    parser.add_argument("--online", action="store_true", help="ask the providers that are set, too")
    parser.add_argument(
        "--deep", action="store_true", help="read every byte of what is kept and check it"
    )
    json_option(parser)
