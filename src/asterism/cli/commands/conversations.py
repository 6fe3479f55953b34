"""`asterism conversations`: what was asked and answered; put away, brought back, exported."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from asterism.cli.options import add_action, add_json, add_request
from asterism.cli.parser import CommandParser
from asterism.cli.setup import engine
from asterism.cli.terminal import confirmed, console, printable, show, write_json
from asterism.engine.chat.requests import (
    conversation_json,
    export_json,
    export_markdown,
    match_json,
    moment,
)
from asterism.engine.chat.sources import unnamed
from asterism.engine.stores import Records
from asterism.operations.chat_requests import ListConversations
from asterism.types.chat import Conversation, RecordedTurn, Shelf, Turn, TurnStatus
from asterism.types.errors import PathUnreadable, UsageError
from asterism.types.files import display_path

if TYPE_CHECKING:
    from rich.console import Console

SHOWN_ID = 8
"""Letters of an id that people see; they are enough to name it."""


def declare(parser: CommandParser) -> None:
    """Add the arguments."""
    add_action(parser, "list", "show", "search", "archive", "restore", "delete", "export")
    parser.add_argument(
        "target",
        metavar="TARGET",
        nargs="?",
        help="the id, the start of it, or last; with search: what was said",
    )
    add_request(parser, ListConversations, "repository")
    shelf = parser.add_mutually_exclusive_group()
    shelf.add_argument("--archived", action="store_true", help="only those that are archived")
    shelf.add_argument("--all", action="store_true", help="archived ones too")
    add_request(parser, ListConversations, "limit", "cursor")
    parser.add_argument(
        "--format",
        choices=("markdown", "json"),
        default="markdown",
        help="with export: what is written (default: %(default)s)",
    )
    parser.add_argument("-o", "--out", metavar="FILE", help="with export: the file to write")
    parser.add_argument("--yes", action="store_true", help="with delete: do not ask")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Do what the action says."""
    _check(options)
    with closing(engine()) as here:
        records = here.records()
        if options.action == "list":
            return _list(records, options)
        if options.action == "search":
            return _search(records, options)
        conversation = records.conversations().find(options.target)
        if options.action == "show":
            return _show(records, conversation, options.json)
        if options.action == "export":
            return _export(records, conversation, options)
        if options.action == "delete":
            return _delete(records, conversation, options)
        return _shelve(records, conversation, options)


def _check(options: argparse.Namespace) -> None:
    """Refuse what argparse cannot know to be wrong."""
    action = options.action
    if action == "list" and options.target is not None:
        raise UsageError("`asterism conversations list` takes no argument; did you mean show?")
    if action != "list" and options.target is None:
        wanted = "words to look for" if action == "search" else "an id; the list shows them"
        raise UsageError(f"`asterism conversations {action}` needs {wanted}.")
    if action != "export" and (options.out or options.format != "markdown"):
        raise UsageError("--out and --format belong to `asterism conversations export`.")
    if action != "delete" and options.yes:
        raise UsageError("--yes belongs to `asterism conversations delete`.")


def _shelf(options: argparse.Namespace, usual: Shelf) -> Shelf:
    if options.archived:
        return Shelf.archived
    return Shelf.all if options.all else usual


def _list(records: Records, options: argparse.Namespace) -> int:
    shelf = _shelf(options, Shelf.open)
    page = records.conversations().page(shelf, options.repository, options.limit, options.cursor)
    if options.json:
        listed = [conversation_json(entry) for entry in page.conversations]
        write_json({"conversations": listed, "total": page.total, "cursor": page.cursor})
        return 0
    out = console()
    if not page.conversations:
        show(out, ("No conversations.", "yellow"), (" `asterism ask` begins one.", ""))
    for entry in page.conversations:
        _show_line(out, entry)
    if page.cursor:
        show(out, (f"{len(page.conversations)} of {page.total}; go on with ", "dim"))
        sys.stdout.write(f"--cursor {page.cursor}\n")
    return 0


def _show_line(out: Console | None, entry: Conversation) -> None:
    turns = "1 turn" if entry.turns == 1 else f"{entry.turns} turns"
    agent = f", {entry.agent}" if entry.agent else ""
    away = ", archived" if entry.archived is not None else ""
    show(
        out,
        (f"{entry.id[:SHOWN_ID]}  ", "cyan"),
        (entry.title, "bold"),
        (f"  {entry.repository}{agent}, {turns}, {moment(entry.updated)}{away}", "dim"),
    )


def _search(records: Records, options: argparse.Namespace) -> int:
    shelf = _shelf(options, Shelf.all)
    where = records.conversations()
    page = where.search(options.target, shelf, options.repository, options.limit, options.cursor)
    if options.json:
        found = [match_json(match) for match in page.matches]
        write_json({"matches": found, "total": page.total, "cursor": page.cursor})
        return 0 if page.matches else 1
    out = console()
    if not page.matches:
        show(out, ("No conversation matches.", "yellow"))
    for match in page.matches:
        show(
            out,
            (f"{match.conversation.id[:SHOWN_ID]}  ", "cyan"),
            (match.conversation.title, "bold"),
            (f"  turn {match.number}, {match.where}", "dim"),
        )
        show(out, (f"   {match.excerpt}", ""))
    if page.cursor:
        show(out, (f"{len(page.matches)} of {page.total}; go on with ", "dim"))
        sys.stdout.write(f"--cursor {page.cursor}\n")
    return 0 if page.matches else 1


def _show(records: Records, conversation: Conversation, as_json: bool) -> int:
    turns = records.turns().of(conversation.id)
    if as_json:
        write_json(export_json(conversation, turns))
        return 0
    out = console()
    _show_line(out, conversation)
    for recorded in turns:
        _show_turn(out, recorded)
    return 0


def _show_turn(out: Console | None, recorded: RecordedTurn) -> None:
    turn = recorded.turn
    sys.stdout.write("\n")
    show(out, (f"{recorded.number}. ", "bold"), (" ".join(turn.question.split()), "bold"))
    sys.stdout.write(f"\n{printable(turn.answer.strip() or _state(turn))}\n")
    sources = unnamed(turn)
    if sources:
        sys.stdout.write("\n")
    for entry in sources:
        show(out, (f"   {entry.place}", "cyan"))
    if turn.answer.strip() and turn.status is not TurnStatus.done:
        show(out, (f"   {_state(turn)}", "yellow"))


def _state(turn: Turn) -> str:
    said = f"({turn.status.value.replace('_', ' ')})"
    return f"{said} {turn.error.message}" if turn.error else said


def _export(records: Records, conversation: Conversation, options: argparse.Namespace) -> int:
    turns = records.turns().of(conversation.id)
    as_json = options.json or options.format == "json"
    if options.out is None:
        if as_json:
            write_json(export_json(conversation, turns))
        else:
            sys.stdout.write(export_markdown(conversation, turns))
        return 0
    text = export_markdown(conversation, turns)
    if as_json:
        import json

        text = json.dumps(export_json(conversation, turns), ensure_ascii=False, indent=2) + "\n"
    try:
        Path(options.out).write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise PathUnreadable(
            f"{display_path(options.out)} cannot be written ({error.strerror}); give another file."
        ) from error
    sys.stdout.write(f"Wrote {display_path(options.out)}.\n")
    return 0


def _delete(records: Records, conversation: Conversation, options: argparse.Namespace) -> int:
    question = f"Delete {conversation.title!r} with its {conversation.turns} turns for good?"
    if not confirmed(question, options.yes):
        sys.stdout.write("Nothing was deleted.\n")
        return 1
    records.conversations().delete(conversation.id)
    if options.json:
        write_json({**conversation_json(conversation), "deleted": True})
    else:
        sys.stdout.write(f"Deleted {conversation.id[:SHOWN_ID]}.\n")
    return 0


def _shelve(records: Records, conversation: Conversation, options: argparse.Namespace) -> int:
    conversations = records.conversations()
    archiving = options.action == "archive"
    change = conversations.archive if archiving else conversations.restore
    changed = change(conversation.id)
    if options.json:
        write_json(conversation_json(changed))
    else:
        done = "archived; restore it to go on" if archiving else "open again"
        sys.stdout.write(f"{changed.id[:SHOWN_ID]} is {done}.\n")
    return 0
