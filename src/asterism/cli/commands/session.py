"""`asterism session`: sessions begun, listed, changed and replayed, and what was of use in them."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import datetime

from asterism.cli.commands.agent import value_of
from asterism.cli.options import add_action, add_json
from asterism.cli.parser import CommandParser
from asterism.cli.setup import engine, repository_around
from asterism.cli.terminal import console, show, write_json
from asterism.context.replay import ItemChange, ReplayedRequest
from asterism.context.sessions import usage_json, use_json
from asterism.engine.sessions import DEFAULT_AGENT, Sessions
from asterism.operations.context_json import session_json
from asterism.operations.schema import Json
from asterism.types.errors import InputError, UsageError
from asterism.types.sessions import Session


def declare(parser: CommandParser) -> None:
    """Add the arguments."""
    add_action(
        parser, "list", "new", "show", "add", "remove", "set", "delete", "replay", "usage", "export"
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
    parser.add_argument("--path", metavar="PATH", help="the repository (default: the current one)")
    parser.add_argument("--no-tools", action="store_true", help="do not start the agent's servers")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Do one thing with sessions."""
    with closing(engine()) as here:
        registered = repository_around(here, options.path)
        sessions = Sessions(here.agents(), registered, connect=not options.no_tools)
        actions: Mapping[str, Callable[[Sessions, argparse.Namespace], int]] = {
            "list": _list,
            "new": _new,
            "show": _show,
            "add": _add,
            "remove": _remove,
            "set": _set,
            "delete": _delete,
            "replay": _replay,
            "usage": _usage,
            "export": _export,
        }
        return actions[options.action](sessions, options)


def _list(sessions: Sessions, options: argparse.Namespace) -> int:
    found = sessions.list(options.target)
    if options.json:
        write_json({"sessions": [entry._asdict() for entry in found]})
        return 0
    out = console()
    for entry in found:
        show(
            out,
            (f"{entry.id}  ", "bold"),
            (f"{_when(entry.updated)}  {entry.agent:<16} {entry.items:>3} items  ", "dim"),
            (entry.title, ""),
        )
    if not found:
        show(out, ("There are no sessions; begin one with `asterism session new AGENT`.", ""))
    return 0


def _new(sessions: Sessions, options: argparse.Namespace) -> int:
    session = sessions.new(options.target or DEFAULT_AGENT, options.title)
    # What a server lists comes with the session alone, so one that was not there is missed later.
    absent = sessions.ready(session.agent).absent
    _shown(session, options)
    sys.stdout.flush()
    for name, why in absent.items():
        sys.stderr.write(f"asterism: The session has no tools of {name}. {why}\n")
    return 0


def _show(sessions: Sessions, options: argparse.Namespace) -> int:
    session = sessions.get(_target(options))
    try:
        ready = sessions.ready(session.agent)
        missing = [entry.sentence for entry in sessions.missing(session, ready)]
    except InputError as error:
        # The session is there, whatever became of its agent.
        missing = [str(error)]
    requests = sessions.requests(session.id)
    if options.json:
        listed = [{"id": one.id, "message": one.message, "at": one.at} for one in requests]
        write_json({**session_json(session), "missing": missing, "requests": listed})
        return 0
    _print(session)
    out = console()
    if requests:
        show(out, ("Requests", "bold"))
    for one in requests:
        show(out, (f"  {one.id}  ", ""), (f"{_when(one.at)}  ", "dim"), (_line(one.message), ""))
    sys.stdout.flush()
    for sentence in missing:
        sys.stderr.write(f"asterism: {sentence}\n")
    return 0


def _add(sessions: Sessions, options: argparse.Namespace) -> int:
    return _shown(sessions.add(_target(options), _values(options)), options)


def _remove(sessions: Sessions, options: argparse.Namespace) -> int:
    return _shown(sessions.remove(_target(options), _values(options)), options)


def _set(sessions: Sessions, options: argparse.Namespace) -> int:
    changes: dict[str, object] = {}
    for written in _values(options):
        name, separator, value = written.partition("=")
        if not separator:
            raise UsageError(f"{written!r} sets nothing; write NAME=VALUE.")
        changes[name] = value_of(value)
    return _shown(sessions.set(_target(options), changes), options)


def _delete(sessions: Sessions, options: argparse.Namespace) -> int:
    id_ = sessions.delete(_target(options))
    if options.json:
        write_json({"deleted": id_})
    else:
        show(console(), (f"{id_} was deleted.", ""))
    return 0


def _replay(sessions: Sessions, options: argparse.Namespace) -> int:
    """Exit 1 if the messages are not the very ones that were sent."""
    again = sessions.replay(_target(options))
    if options.json:
        write_json(_replay_json(again))
    else:
        out = console()
        for message in again.messages:
            show(out, (message.role, "bold"))
            for line in message.text.splitlines():
                show(out, (f"  {line}", ""))
        sys.stdout.flush()
        for sentence in (*map(_change, again.changes), *([again.note] if again.note else [])):
            sys.stderr.write(f"asterism: {sentence}\n")
    return 0 if again.is_exact else 1


def _change(change: ItemChange) -> str:
    what = "The system prompt" if change.key is None else str(change.key)
    how = "is shown as it was" if change.rebuilt else "cannot be shown as it was"
    return f"{what} has {change.change} since; it {how}."


def _replay_json(again: ReplayedRequest) -> Json:
    return {
        "messages": [{"role": str(one.role), "text": one.text} for one in again.messages],
        "tools": [{"name": tool.name, "description": tool.description} for tool in again.tools],
        "changes": [
            {
                "item": None if one.key is None else str(one.key),
                "change": str(one.change),
                "rebuilt": one.rebuilt,
            }
            for one in again.changes
        ],
        "exact": again.is_exact,
        "note": again.note,
    }


def _usage(sessions: Sessions, options: argparse.Namespace) -> int:
    usage, advice = sessions.usage(options.target or DEFAULT_AGENT)
    if options.json:
        write_json({"items": [usage_json(entry) for entry in usage], "advice": list(advice)})
        return 0
    out = console()
    for entry in usage:
        counts = f"sent {entry.sent}, cited {entry.cited}, called {entry.called}"
        show(out, (f"{entry.key}  ", ""), (f"{counts}, {entry.tokens:,} tokens", "dim"))
    for sentence in advice:
        show(out, (sentence, ""))
    if not usage:
        show(out, ("Nothing was asked yet.", ""))
    return 0


def _export(sessions: Sessions, options: argparse.Namespace) -> int:
    """One JSON object a line; names and numbers, no texts."""
    for use in sessions.uses(options.target):
        sys.stdout.write(json.dumps(use_json(use), ensure_ascii=False) + "\n")
    return 0


def _shown(session: Session, options: argparse.Namespace) -> int:
    if options.json:
        write_json(session_json(session))
    else:
        _print(session)
    return 0


def _print(session: Session) -> None:
    out = console()
    show(out, (session.id, "bold"), (f"  {session.agent}  ", "dim"), (session.title, ""))
    for held in session.items:
        show(out, (f"  {held.key} ", ""), (f"[{held.mode.capitalize()}]", "cyan"))
    for name, value in session.settings.items():
        show(out, (f"  {name} = {value}", ""))


def _target(options: argparse.Namespace) -> str:
    if options.target is None:
        raise UsageError(
            f"`asterism session {options.action}` needs an id; `asterism session list` shows them."
        )
    return str(options.target)


def _values(options: argparse.Namespace) -> list[str]:
    if not options.values:
        raise UsageError(f"`asterism session {options.action}` needs what to {options.action}.")
    return list(options.values)


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def _line(text: str) -> str:
    return " ".join(text.split())
