"""What the arguments of all commands share."""

import argparse
from typing import TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def command(commands: Commands, name: str, text: str) -> argparse.ArgumentParser:
    """A command with one sentence for the list and for its own help."""
    return commands.add_parser(name, help=text, description=text)


def json_option(parser: argparse.ArgumentParser) -> None:
    """`--json`, which every command that answers has."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of text for people")
