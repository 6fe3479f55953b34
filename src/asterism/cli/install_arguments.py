"""The arguments of the commands that set up coding agents."""

import argparse

from asterism.cli.parser import Commands, command, json_option
from asterism.install.clients import NAMES


def add(commands: Commands) -> None:
    """Add `install` and `uninstall`."""
    install = _setting_up(
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
    _setting_up(
        commands, "uninstall", "Take back what install has set up: shows what changes, then asks."
    )


def _setting_up(commands: Commands, name: str, text: str) -> argparse.ArgumentParser:
    parser = command(commands, name, text)
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
    json_option(parser)
    return parser
