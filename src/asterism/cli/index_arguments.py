"""The arguments of the commands that keep an index and look at it."""

from asterism.cli.parser import Commands, command, json_option


def add_index(commands: Commands) -> None:
    """Add `index`."""
    parser = command(commands, "index", "Make or refresh the index of a repository.")
    parser.add_argument(
        "path", metavar="PATH", nargs="?", help="the directory (default: the repository around you)"
    )
    parser.add_argument("--force", action="store_true", help="read and write every file anew")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")
    parser.add_argument("--cancel", action="store_true", help="stop the process that is indexing")
    parser.add_argument(
        "--upgrade",
        action="store_true",
        help="then make the second vectors that the setting embedding.upgrade asks for, which "
        "takes minutes; Ctrl-C keeps what is made",
    )
    parser.add_argument("--name", help="what to call the repository (default: its directory)")
    parser.add_argument("--project", help="the project it belongs to (default: its own)")
    json_option(parser)


def add_status(commands: Commands) -> None:
    """Add `status`."""
    parser = command(commands, "status", "Show whether the index is fresh, and what it holds.")
    parser.add_argument(
        "path", metavar="PATH", nargs="?", help="a directory in it (default: the current one)"
    )
    json_option(parser)


def add_watch(commands: Commands) -> None:
    """Add `watch`."""
    parser = command(commands, "watch", "Keep an index fresh while files change; Ctrl-C ends it.")
    parser.add_argument(
        "path", metavar="PATH", nargs="?", help="the directory (default: the repository around you)"
    )
    parser.add_argument("--quiet", action="store_true", help="say only what goes wrong")
