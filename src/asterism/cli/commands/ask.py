"""`asterism ask`: one question, its answer, and the places it rests on."""

import argparse
import sys
from contextlib import closing

from asterism.cli.json import write_json
from asterism.cli.render.answers import Conversing, Display, complain
from asterism.cli.setup import directory_named, engine
from asterism.cli.terminal import printable
from asterism.engine.chat.requests import AskRequest, answer_json
from asterism.engine.chat.service import Asking
from asterism.types.chat import TurnStatus
from asterism.types.errors import PathMissing, UsageError
from asterism.types.files import display_path

INPUT_BYTES = 1_000_000
"""What a question on standard input may have."""

_CODES = {TurnStatus.done: 0, TurnStatus.stopped: 130, TurnStatus.failed: 2}


def run(options: argparse.Namespace) -> int:
    """Print the answer; the exit code says whether there is one."""
    question = _typed() if options.question == "-" else options.question
    place = directory_named(options.path)
    if not place.exists():
        raise PathMissing(f"{display_path(str(place))} does not exist; check the path.")
    with closing(engine()) as here, closing(Asking(here)) as asking:
        registered = here.locate(place)
        conversation = options.conversation
        if conversation:
            here_name = registered.repository.name
            conversation = here.records().conversations().find(conversation, here_name).id
        streams = sys.stdout.isatty() and not options.no_stream and not options.json
        display = Display(streams, tells=not options.json, yes=options.yes)
        conversing = Conversing(asking, registered, display)
        answered = conversing.ask(
            AskRequest(
                question=question,
                conversation=conversation,
                agent=options.agent,
                model=options.model,
                request_id=options.request_id,
                retries=options.retries,
            )
        )
        if options.json:
            write_json(answer_json(answered))
        else:
            answer = printable(answered.turn.answer.rstrip())
            if answer and (not streams or answered.is_repeat):
                sys.stdout.write(f"{answer}\n")
            conversing.show_sources(answered)
            sys.stdout.flush()
            complain(answered)
            if answered.turn.status is TurnStatus.done and sys.stderr.isatty():
                id_ = answered.conversation.id[:8]
                sys.stderr.write(f"\nGo on with: asterism ask --conversation {id_} …\n")
    return _CODES.get(answered.turn.status, 1)


def _typed() -> str:
    """The question on standard input."""
    if sys.stdin is None:
        raise UsageError("There is no standard input to read the question from; give it instead.")
    data = sys.stdin.buffer.read(INPUT_BYTES + 1)
    if len(data) > INPUT_BYTES:
        raise UsageError(f"The question is over {INPUT_BYTES:,} bytes; give the part that matters.")
    return data.decode("utf-8", "replace")
