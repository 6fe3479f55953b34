"""Context as a command prints it: the connection graph and the code; notes go to stderr."""

import argparse
import sys

from asterism.cli.json import write_json
from asterism.cli.terminal import printable
from asterism.engine.context_reply import ContextReply
from asterism.operations.limits import result_json
from asterism.operations.search import context_reply
from asterism.store.registry import Registered
from asterism.types.errors import UsageError

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
        write_json(result_json(context_reply(reply, registered, is_local=True)))
    else:
        _print(reply)
    return 0 if reply.shown else 1


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
