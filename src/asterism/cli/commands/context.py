"""`asterism context`: what a request would be given, in columns, with scores and reasons."""

import argparse
import sys
from contextlib import closing

from asterism.cli.options import add_json, add_path, add_request, request_from
from asterism.cli.parser import CommandParser
from asterism.cli.setup import engine, repository_around
from asterism.cli.terminal import console, printable, show, write_json
from asterism.context.items import columns
from asterism.context.messages import item_text
from asterism.engine.sessions import ContextFor, ContextRequest, context_for
from asterism.operations.chat_requests import ContextOf
from asterism.operations.context_json import context_for_json
from asterism.operations.requests import engine_request
from asterism.types.context import ItemDetail, ItemKind, LeftOut, Reference, RequestItem, Rule

_TITLES = {
    ItemKind.rule: "Rules",
    ItemKind.reference: "References",
    ItemKind.tool: "Tools",
}
_REASONS = {
    "not_relevant": "not relevant enough",
    "over_count": "others are more relevant",
    "not_allowed": "may not be called",
    "disabled": "switched off",
    "missing": "not there any more",
    "budget": "over the token budget",
}


def declare(parser: CommandParser) -> None:
    """Add the arguments."""
    add_request(parser, ContextOf, "message")
    add_path(parser, "the repository (default: the current one)")
    add_request(parser, ContextOf, "agent", "session", "max_tokens", "code_hits", "min_score")
    parser.add_argument("--no-tools", action="store_true", help="do not start the agent's servers")
    parser.add_argument("--explain", action="store_true", help="say why each item is here or not")
    parser.add_argument("--text", action="store_true", help="print the texts and the code as well")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Choose context for a message and show it."""
    with closing(engine()) as here:
        registered = repository_around(here, options.path)
        asked = request_from(ContextOf, options, connect=not options.no_tools)
        request = engine_request(asked, ContextRequest)
        found = context_for(here, registered, request)
    if options.json:
        write_json(context_for_json(found))
    else:
        _print(found, options.explain, options.text)
    return 0


def _print(found: ContextFor, explain: bool, texts: bool) -> None:
    out = console()
    for key in found.added:
        show(out, (f"{key} was added, because the message mentions it.", "dim"))
    by_kind = columns(found.context, found.items)
    for kind, title in _TITLES.items():
        show(out, (title, "bold"))
        # Both are in the order of display.
        entries = [entry for entry in found.context.items if entry.key.kind is kind]
        for shown, entry in zip(by_kind[kind], entries, strict=True):
            show(
                out,
                (f"  {shown.prefix} • {shown.name} ", ""),
                (f"[{shown.badge}]", "cyan"),
                ("" if entry.detail is ItemDetail.full else f"  {entry.detail}", "dim"),
                (f"  {shown.description.splitlines()[0] if shown.description else ''}", "dim"),
            )
            _print_more(found, entry, explain, texts)
        if not entries:
            show(out, ("  none", "dim"))
    _print_code(found, texts)
    if explain and found.context.left_out:
        show(out, ("Left out", "bold"))
        for left in found.context.left_out:
            show(out, (f"  {left.key}  ", ""), (_why(left), "dim"))
    words = f"{found.used_tokens:,} of {found.budget:,} tokens"
    if found.request_id:
        words += f"; request {found.request_id}"
    show(out, (words, "dim"))
    sys.stdout.flush()
    for note in found.notes:
        sys.stderr.write(f"asterism: {printable(note)}\n")


def _print_more(found: ContextFor, entry: RequestItem, explain: bool, texts: bool) -> None:
    out = console()
    if explain and entry.why:
        show(out, (f"        {entry.why}", "dim"))
    item = found.items.get(entry.key)
    if texts and isinstance(item, Rule | Reference):
        for line in item_text(item, entry).splitlines():
            show(out, (f"        {line}", ""))


def _print_code(found: ContextFor, texts: bool) -> None:
    out = console()
    if not found.code:
        return
    show(out, ("Code", "bold"))
    for code in found.code:
        show(
            out,
            (f"  {code.place} ", ""),
            (f"[{code.score:.2f}]", "cyan"),
            (f"  {code.form.detail}", "dim"),
        )
        if texts:
            for line in code.form.text.splitlines():
                show(out, (f"        {line}", ""))


def _why(left: LeftOut) -> str:
    score = "" if left.score is None else f" ({left.score:.2f})"
    detail = f": {left.detail}" if left.detail else ""
    return f"{_REASONS[left.reason]}{score}{detail}"
