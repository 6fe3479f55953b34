"""Context as a command prints it: the connection graph and the code; notes go to stderr."""

import argparse
import sys

from asterism.backends.store.registry import Registered
from asterism.cli.console import printable
from asterism.cli.search_wire import reply_json
from asterism.cli.wire import Json, write_json
from asterism.domain.errors import UsageError
from asterism.domain.files import display_path
from asterism.domain.selection import Detail
from asterism.engine.contexts import ContextReply, Placed
from asterism.operations.json import account_json, placed_json, times_json

# Options of a list that say nothing about context, by what they are called.
_OF_LISTS = ("exhaustive", "cursor", "explain", "context_lines")


def check_context(options: argparse.Namespace) -> None:
    """Refuse options that only a list of hits has."""
    for name in _OF_LISTS:
        if getattr(options, name):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{option} belongs to a list of hits; leave it out, or leave out --format context."
            )


def answer_context(reply: ContextReply, registered: Registered, as_json: bool) -> int:
    """Print a reply, and say by the exit code whether anything was found."""
    if as_json:
        write_json(context_json(reply, registered))
    else:
        _print(reply)
    return 0 if reply.shown else 1


def context_json(reply: ContextReply, registered: Registered) -> Json:
    """The parts for a reader, and the same account as of a list."""
    assembly = reply.assembly
    return {
        "parts": [
            {"text": part.text, "priority": round(part.priority, 4), "audience": ["assistant"]}
            for part in assembly.parts
        ],
        "used_tokens": assembly.used_tokens,
        "budget": assembly.budget,
        **reply_json(reply.search, registered, explain=False),
        "results": [
            _place(place, detail)
            for place, detail in zip(reply.results, assembly.details, strict=True)
            if detail is not None
        ],
        **account_json(reply.account),
        "notes": list(reply.notes),
        **times_json(reply.seconds),
    }


def _place(place: Placed, detail: Detail) -> Json:
    chunk = place.chunk
    return {
        **placed_json(place, detail),
        "absolute_path": display_path(chunk.file_path),
        "signature": chunk.signature,
    }


def _print(reply: ContextReply) -> None:
    texts = [printable(part.text).rstrip("\n") for part in reply.assembly.parts]
    if reply.search.did_you_mean:
        texts.append(f"Did you mean {', '.join(map(printable, reply.search.did_you_mean))}?")
    sys.stdout.write("\n\n".join(texts) + "\n")
    # What was said so far comes first wherever both streams go to one place.
    sys.stdout.flush()
    state = reply.search.state.message
    for note in (*reply.notes, *([state] if state else [])):
        sys.stderr.write(f"asterism: {note}\n")
