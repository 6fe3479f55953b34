"""`asterism mcp`: the tools for coding agents, over standard input and output."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from asterism.cli.parser import CommandParser
from asterism.servers.mcp.stdio import serve_stdio
from asterism.types.errors import PathMissing
from asterism.types.files import display_path

if TYPE_CHECKING:
    # It brings the engine, which is not needed before the first call.
    from asterism.operations.dispatch.toolbox import Toolbox


def declare(parser: CommandParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "path", metavar="PATH", nargs="?", help="the repository (default: the current directory)"
    )


def run(options: argparse.Namespace) -> int:
    """Serve until the client leaves."""
    directory = Path.cwd() if options.path is None else Path(options.path).absolute()
    if not directory.is_dir():
        raise PathMissing(f"{display_path(str(directory))} is no directory; check the path.")
    if sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write(
            "asterism: this speaks MCP with a program, which starts it by itself; Ctrl-D ends it.\n"
        )
    serve_stdio(lambda: _toolbox(directory, options.path is not None))
    return 0


def _toolbox(directory: Path, is_root: bool) -> Toolbox:
    from asterism.cli.setup import engine, settings_for
    from asterism.config.environment import home
    from asterism.config.load import start_logs
    from asterism.operations.calls import Standpoint
    from asterism.operations.dispatch.toolbox import Toolbox

    settings = settings_for(str(directory))
    start_logs(settings, serving=True, others=("mcp",))
    own = home()
    too_wide = {Path(directory.anchor), *([Path(own).resolve()] if own else [])}
    standpoint = Standpoint(directory.resolve(), is_root, frozenset(too_wide))
    return Toolbox(engine(), standpoint, query_seconds=settings.server.query_seconds)
