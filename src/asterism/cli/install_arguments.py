"""The arguments of the commands that set up coding agents."""

import argparse
from typing import TypeAlias

from asterism.installing.clients import NAMES

_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add(commands: _Commands) -> None:
    """Add `install` and `uninstall`."""
    install = _command(
        commands, "install", "Set up coding agents to use Asterism: shows what changes, then asks."
    )
    install.add_argument(
        "--program",
        metavar="PATH",
        help="what agents are to start (default: this program, by its absolute path)",
    )
    install.add_argument(
        "--list", action="store_true", help="show which agents there are, and which are set up"
    )
    _command(
        commands, "uninstall", "Take back what install has set up: shows what changes, then asks."
    )


def _command(commands: _Commands, name: str, text: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text)
    parser.set_defaults(module="install", program=None, list=False)
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="?",
        help="with --scope project: the project (default: the repository around you)",
    )
    default = "those found on this machine" if name == "install" else "all"
    parser.add_argument(
        "--client",
        action="append",
        choices=NAMES,
        metavar="NAME",
        help=f"only this agent, may be repeated: {', '.join(NAMES)} (default: {default})",
    )
    parser.add_argument(
        "--scope",
        choices=("user", "project"),
        default="user",
        help="for all you do, or for one project (default: %(default)s)",
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would change, do nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text for people")
    return parser
