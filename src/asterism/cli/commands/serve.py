"""`asterism serve`: MCP and the HTTP API over one port, for many clients and repositories."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from asterism.cli.parser import CommandParser
from asterism.cli.setup import engine, settings_for
from asterism.config.environment import (
    cache_directory,
    data_directory,
    home,
    server_token,
    user_file,
)
from asterism.config.load import start_logs
from asterism.config.server_token import TokenFile
from asterism.config.settings import Settings
from asterism.telemetry.events import hide
from asterism.types.errors import PathMissing, SettingError
from asterism.types.files import display_path

if TYPE_CHECKING:
    # It brings what other commands do not need.
    from asterism.operations.addable import Addable
    from asterism.servers.access import Access


HIGHEST_PORT = 65_535


def declare(parser: CommandParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="?",
        help="the repository that is meant where a request names none (default: the current "
        "directory)",
    )
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        help="listen here (default: 127.0.0.1, this machine alone; any other needs a token)",
    )
    parser.add_argument(
        "--port", metavar="N", type=_port, help="listen on this port (default: 8420; 0: any)"
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help="a file with a token of your own that requests have to bring (or set "
        "ASTERISM_SERVER_TOKEN); the server makes one by itself otherwise",
    )
    parser.add_argument(
        "--no-token",
        action="store_true",
        help="answer every user of this machine (never other machines)",
    )
    parser.add_argument(
        "--read-only",
        action="store_true",
        help="answer queries; repositories cannot be added, indexed or removed over HTTP",
    )


def run(options: argparse.Namespace) -> int:
    """Serve until a signal ends it."""
    # They bring the engine, which other commands do not need.
    from asterism.operations.calls import Standpoint
    from asterism.operations.dispatch.hidden_paths import hidden_places
    from asterism.operations.dispatch.toolbox import Toolbox
    from asterism.servers.http.gate import GateLimits
    from asterism.servers.http.process import address_of, listen, serve
    from asterism.servers.http.shares import ShareOptions, Shares
    from asterism.servers.http.state import ServerState

    directory = Path.cwd() if options.path is None else Path(options.path).absolute()
    if not directory.is_dir():
        raise PathMissing(f"{display_path(str(directory))} is no directory; check the path.")
    settings = settings_for(str(directory), _given(options))
    chosen = settings.server
    access, note = _access(settings)
    start_logs(settings, serving=True, others=("uvicorn", "mcp"))
    user = home()
    too_wide = frozenset({Path(directory.anchor), *([Path(user).resolve()] if user else [])})
    own = (data_directory(), cache_directory())
    known = engine()
    start = directory.resolve() if options.path is not None else known.root_for(directory)
    addable = _addable(settings, own, start)
    standpoint = Standpoint(directory.resolve(), options.path is not None, too_wide, addable)
    with listen(chosen.host, chosen.port) as listening:
        toolbox = Toolbox(
            known, standpoint, hidden_places((*own, *_settings_places())), chosen.query_seconds
        )
        state = ServerState(
            toolbox=toolbox,
            access=access,
            limits=GateLimits(body_bytes=chosen.max_body_bytes),
            read_only=chosen.read_only,
            shares=Shares(ShareOptions(seconds=chosen.cpu_seconds, window=chosen.cpu_window)),
        )
        try:
            serve(state, listening, lambda: _greet(address_of(listening), note))
        finally:
            toolbox.close()
    _say("Ended.")
    return 0


def _given(options: argparse.Namespace) -> dict[str, object]:
    """The options that were given, as settings."""
    named = {
        "server.host": options.host,
        "server.port": options.port,
        "server.token_file": options.token_file and str(Path(options.token_file).absolute()),
        "server.read_only": options.read_only or None,
        "server.access": "open" if options.no_token else None,
    }
    return {key: value for key, value in named.items() if value is not None}


def _access(settings: Settings) -> tuple[Access, str]:
    """Whom the server answers, and what its user is told about that."""
    from asterism.servers.access import access_for, is_this_machine
    from asterism.servers.http.peers import tells_users

    chosen, token = settings.server, _token(settings)
    hide([token])
    is_open = chosen.access == "open"
    if is_open and (token or not is_this_machine(chosen.host)):
        raise SettingError(
            "server.access = open (--no-token) is for this machine alone and without a token; "
            "listen on 127.0.0.1 and take the token out of your settings, or leave this out."
        )
    access = access_for(chosen.host, token, chosen.allowed_hosts, chosen.allowed_origins)
    if token:
        return access, " Requests need the token."
    if is_open:
        return access, " Every user of this machine may ask."
    kept = TokenFile(data_directory(), lambda made: hide([made]))
    # Names beside this machine's own are those of a proxy, which sends requests of other clients.
    is_told = chosen.access == "user" and not chosen.allowed_hosts and tells_users()
    own_uid = os.geteuid() if is_told else None
    try:
        kept.ensure()
    except SettingError as error:
        if own_uid is None:
            raise
        _warn(f"{error} Until then only your own programs on this machine are answered.")
        return replace(access, own_uid=own_uid), ""
    place = display_path(str(kept.path))
    others = "Browsers and proxies" if is_told else "Requests"
    return (
        replace(access, renewed=kept.current, own_uid=own_uid),
        f" {others} need the token in {place}.",
    )


def _addable(settings: Settings, own: tuple[Path, ...], start: Path) -> Addable:
    """What may be added: below the roots of the settings, else below the home if that is near."""
    from asterism.operations.addable import Addable
    from asterism.servers.access import is_this_machine

    user = home()
    at_home = None if user is None else Path(user).resolve()
    named = tuple(
        Path(f"{user}{root[1:]}" if user and root.startswith("~/") else root)
        for root in settings.server.roots
    )
    if not named and at_home is not None and is_this_machine(settings.server.host):
        named = (at_home,)
    # A server that was started in a home, or around it, was not started for all of that.
    is_narrow = at_home is None or not at_home.is_relative_to(start)
    return Addable(roots=(*named, *([start] if is_narrow else [])), own=own, home=at_home)


def _settings_places() -> tuple[Path, ...]:
    file = user_file()
    return () if file is None else (file.parent,)


def _token(settings: Settings) -> str:
    """The token from the environment, else from the user's file; never from a repository's."""
    written = settings.server.token_file
    if (own := server_token()) or not written:
        return own.strip()
    user = home()
    path = Path(f"{user}{written[1:]}" if user and written.startswith("~/") else written)
    if not path.is_absolute():
        raise SettingError(
            f"server.token_file = {written!r} is not allowed; give an absolute path."
        )
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(
            f"The token cannot be read from {display_path(str(path))}; check server.token_file."
        ) from error
    if not token:
        raise SettingError(f"{display_path(str(path))} is empty; write the token into it.")
    return token


def _greet(address: str, note: str) -> None:
    _say(f"Serving on {address}: MCP at {address}/mcp, the API at {address}/api.{note}")
    _say("Ctrl-C ends it.")


def _warn(sentence: str) -> None:
    sys.stderr.write(f"asterism: warning: {sentence}\n")


def _say(sentence: str) -> None:
    # Flushed at once: the process that started the server waits for this line.
    sys.stdout.write(f"{sentence}\n")
    sys.stdout.flush()


def _port(text: str) -> int:
    if text.isdecimal() and text.isascii() and int(text[:6]) <= HIGHEST_PORT:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no port; give 0 to {HIGHEST_PORT:,}")
