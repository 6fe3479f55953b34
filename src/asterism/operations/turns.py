"""The operations on turns of a chat: ask, ask_on, go_on, stop_turn and show_turn.

Their fields are named as those of stored turns are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

from asterism.operations.calls import Call
from asterism.operations.chat_requests import Ask, AskOn, ModelName, ProviderName
from asterism.operations.limits import CallReply, reply_of
from asterism.operations.operation import Operation, Route
from asterism.operations.requests import engine_request
from asterism.operations.schema import Json, ProjectId, RepositoryId, mapping, text
from asterism.types.errors import TooBusy, UsageError

if TYPE_CHECKING:
    # They bring the engine, which a list of operations does not need.
    from asterism.engine.chat.requests import Hear, TurnHandle

MOST_TURNS = 256
"""Turns that run at a time; each waits for a model, and costs little until it speaks."""

EVENTS_TEXT = """\
With `Accept: text/event-stream` the reply is a stream of events: `start` (conversationId and \
turnId), `context`, `token` (text), `discarded` (text that was no part of the answer), \
`tool_start`, `tool_end`, `approval` (calls that wait for approval), `citations`, `note`, then one \
`done` with what would be the reply, or one `error`. A client that leaves stops the turn."""

_TurnId: TypeAlias = Annotated[str, text("The turn's id.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoOn:
    """A turn that waits for approval or was interrupted, and is to go on."""

    turnId: _TurnId
    approvals: Annotated[
        Json | None, mapping("For the id of each call true, to allow it, or false.")
    ] = None
    model: ModelName = None
    provider: ProviderName = None
    repository_id: RepositoryId = None
    project_id: ProjectId = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPlace:
    """A turn that is meant."""

    turnId: _TurnId


@dataclass(frozen=True, kw_only=True)
class TurnStopped:
    """Whether a turn was stopped."""

    turnId: str
    stopped: bool


def ask(call: Call, asked: Ask, hear: Hear) -> TurnHandle:
    """Begin to answer a question."""
    from asterism.engine.chat.requests import AskRequest

    registered = call.repository()
    asking = call.host.asking()
    if asking.open_turns >= MOST_TURNS:
        raise TooBusy("Too many questions are open; ask again.")
    return asking.ask(registered, engine_request(asked, AskRequest), hear)


def go_on(call: Call, asked: GoOn, hear: Hear) -> TurnHandle:
    """Go on with a turn."""
    from asterism.engine.chat.requests import GoOnRequest

    approvals = asked.approvals or {}
    if not all(isinstance(word, bool) for word in approvals.values()):
        raise UsageError("approvals has for the id of each call true or false.")
    request = GoOnRequest(
        turn=asked.turnId,
        approvals=approvals,
        model=asked.model or "",
        provider=asked.provider or "",
    )
    return call.host.asking().go_on(call.repository(), request, hear)


def stop_turn(call: Call, asked: TurnPlace) -> CallReply:
    """Stop a turn that is being answered."""
    stopped = call.host.asking().stop(asked.turnId)
    return reply_of(TurnStopped(turnId=asked.turnId, stopped=stopped))


def show_turn(call: Call, asked: TurnPlace) -> CallReply:
    """A turn with what happened in it."""
    from asterism.engine.chat.requests import event_json, turn_json

    turns = call.engine.records().turns()
    events = [event_json(one) for one in turns.events(asked.turnId)]
    return reply_of({**turn_json(turns.get(asked.turnId)), "events": events})


OPERATIONS = (
    Operation(
        name="ask",
        title="Ask a question",
        description=f"""\
Answer a question about a repository in words, and keep the turn with all it used. Without \
conversationId a new conversation begins.

{EVENTS_TEXT}""",
        request=Ask,
        begin=ask,
        uses_model=True,
        route=Route("POST", "/api/ask"),
    ),
    Operation(
        name="ask_on",
        title="Ask in a conversation",
        description=f"""\
Ask the next question of a conversation; one at a time is answered, the others wait.

{EVENTS_TEXT}""",
        request=AskOn,
        begin=ask,
        uses_model=True,
        route=Route("POST", "/api/conversations/{conversationId}/turns"),
    ),
    Operation(
        name="go_on",
        title="Approve calls, or resume a turn",
        description=f"""\
Go on with a turn that waits for approval of tool calls, or that was interrupted. \
Calls that are not named go on waiting.

{EVENTS_TEXT}""",
        request=GoOn,
        begin=go_on,
        read_only=False,
        idempotent=False,
        uses_model=True,
        route=Route("POST", "/api/turns/{turnId}/approvals"),
    ),
    Operation(
        name="stop_turn",
        title="Stop a turn",
        description="Stop a turn that is being answered; what was said until then is its answer.",
        request=TurnPlace,
        reply=TurnStopped,
        run=stop_turn,
        route=Route("POST", "/api/turns/{turnId}/stop"),
    ),
    Operation(
        name="show_turn",
        title="Show a turn",
        description="Show a turn with everything that was used for it, and what happened when.",
        request=TurnPlace,
        run=show_turn,
        route=Route("GET", "/api/turns/{turnId}"),
    ),
)
