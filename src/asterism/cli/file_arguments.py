"""The arguments of the commands that read files without an index."""

from asterism.cli.parser import Commands, command, json_option


def add_outline(commands: Commands) -> None:
    """Add `outline`."""
    parser = command(commands, "outline", "Show a file's symbols, imports and problems.")
    parser.add_argument("file", metavar="FILE", help="the source file")
    json_option(parser)


def add_chunks(commands: Commands) -> None:
    """Add `chunks`."""
    parser = command(commands, "chunks", "Show the chunks a file is searched by.")
    parser.add_argument("file", metavar="FILE", help="the source file")
    parser.add_argument(
        "--show",
        choices=("source", "embedding"),
        help="print each chunk's source, or the text a model reads",
    )
    json_option(parser)


def add_files(commands: Commands) -> None:
    """Add `files`."""
    parser = command(commands, "files", "Show which files would be indexed, and which not.")
    parser.add_argument("path", metavar="PATH", help="the repository or a directory in it")
    parser.add_argument("--skipped", action="store_true", help="list skipped files with reasons")
    parser.add_argument(
        "--tokens",
        action="store_true",
        help="list tokens and keys in these files, which are masked in what is sent to models",
    )
    parser.add_argument(
        "--max-bytes", type=int, metavar="N", help="skip larger files (default: the settings')"
    )
    json_option(parser)


def add_validate(commands: Commands) -> None:
    """Add `validate`."""
    parser = command(
        commands,
        "validate",
        "Check the ten rules of chunks over every file; exit 1 if one is broken.",
    )
    parser.add_argument("paths", metavar="PATH", nargs="+", help="files or repositories")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: the settings')")
    json_option(parser)
