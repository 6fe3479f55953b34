"""Chat requests as callers make them, and conversations as JSON and Markdown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from asterism.engine.chat.sources import Checked, unnamed
from asterism.types.chat import (
    Citation,
    Conversation,
    ConversationMatch,
    RecordedEvent,
    RecordedTurn,
    Round,
    ToolCall,
    ToolResult,
    Turn,
    TurnEvent,
    TurnStatus,
)
from asterism.types.sessions import request_json

if TYPE_CHECKING:
    from asterism.records.turns import Begun


WAIT_SECONDS = 300.0
"""How long a question waits for the one before it; a model takes minutes at worst."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRequest:
    """A question, and who is to answer it."""

    question: str
    conversation: str = ""
    """Go on with this one; nothing begins a new one."""
    agent: str = ""
    """Nothing means the conversation's, or none."""
    model: str = ""
    """A name, `PROVIDER/NAME` or `extractive`; nothing means what the settings say."""
    provider: str = ""
    request_id: str = ""
    """Repeated, the request is not answered twice."""
    retries: int | None = None
    """How often the model may assess the hits and search again (default: the settings)."""
    wait_seconds: float = WAIT_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class GoOnRequest:
    """A turn that waits for approval, or was interrupted, is to go on."""

    turn: str
    approvals: Mapping[str, bool]
    """Whether each call is approved, by its id."""
    model: str = ""
    provider: str = ""
    wait_seconds: float = WAIT_SECONDS


class Answered(NamedTuple):
    """A turn that ended, or waits."""

    conversation: Conversation
    turn: Turn
    number: int
    citations: tuple[Checked, ...]
    """The places it rests on, each looked for just now."""
    is_repeat: bool = False
    """It was answered before, under the same request id."""


Hear: TypeAlias = Callable[[TurnEvent], None]
"""Called with each event of a turn, in the thread of its event loop: it must not wait."""


class TurnHandle:
    """Any thread may wait for it, or stop it."""

    def __init__(self) -> None:
        self.begun: Future[Begun] = Future()
        """The turn, once it is known, or the error that prevented it."""
        self.answer: Future[Answered] = Future()
        self.stop_requested = asyncio.Event()
        """Set when it is to end; only its own event loop looks at it."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = False

    def stop(self) -> None:
        """End it; what was said until then is the answer."""
        self._stopped = True
        if self._loop is not None:
            # A loop that has ended has nothing left to stop.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.stop_requested.set)

    def result(self, timeout: float | None = None) -> Answered:
        """Waits for the answer; raises the turn's error."""
        return self.answer.result(timeout)

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to be answered in this event loop."""
        self._loop = loop
        if self._stopped:
            self.stop_requested.set()

    async def stopped_within(self, seconds: float) -> bool:
        """Wait for some seconds; returns whether the turn was stopped."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.stop_requested.wait()
        return self.stop_requested.is_set()


Json = dict[str, Any]

EXPORT_VERSION = 1
"""Of the JSON that `export` writes."""


def conversation_json(conversation: Conversation) -> Json:
    """A conversation without its turns."""
    return {
        "conversationId": conversation.id,
        "title": conversation.title,
        "repository": conversation.repository,
        "agentName": conversation.agent or None,
        "sessionId": conversation.session or None,
        "createdAt": moment(conversation.created),
        "updatedAt": moment(conversation.updated),
        "archivedAt": moment(conversation.archived),
        "turnCount": conversation.turns,
    }


def match_json(match: ConversationMatch) -> Json:
    """A turn in which something was said."""
    return {
        **conversation_json(match.conversation),
        "turn": match.number,
        "where": match.where,
        "excerpt": match.excerpt,
    }


def turn_json(recorded: RecordedTurn) -> Json:
    """A turn with its evidence."""
    return {
        **plain_turn_json(recorded.turn),
        "number": recorded.number,
        "startedAt": moment(recorded.started),
        "endedAt": moment(recorded.ended),
    }


def plain_turn_json(turn: Turn) -> Json:
    """The same without its place in the conversation."""
    return {
        "turnId": turn.id,
        "conversationId": turn.conversation_id,
        "requestId": turn.request_id or None,
        "status": turn.status.value,
        "question": turn.question,
        "answer": turn.answer,
        "agentName": turn.agent_name or None,
        "provider": turn.provider,
        "modelId": turn.model_id,
        "citations": citations_json(turn.citations),
        "context": None if turn.context is None else request_json(turn.context),
        "found": [result_json(result) for result in turn.grounding],
        "rounds": [_round_json(entry) for entry in turn.rounds],
        "pending": [call_json(call) for call in waiting_calls(turn)],
        "searches": [entry._asdict() for entry in turn.searches],
        "usage": {"inputTokens": turn.usage.input_tokens, "outputTokens": turn.usage.output_tokens},
        "notes": list(turn.notes),
        "error": None if turn.error is None else turn.error._asdict(),
    }


def answer_json(answered: Answered) -> Json:
    """A turn that ended or waits, its citations checked just now."""
    found = plain_turn_json(answered.turn)
    citations = [
        {**entry, "exists": checked.exists}
        for entry, checked in zip(found["citations"], answered.citations, strict=True)
    ]
    return {
        **found,
        "citations": citations,
        "number": answered.number,
        "title": answered.conversation.title,
        "isRepeat": answered.is_repeat,
    }


def waiting_calls(turn: Turn) -> tuple[ToolCall, ...]:
    """The calls that wait for approval."""
    return turn.pending if turn.status is TurnStatus.awaiting_approval else ()


def citations_json(citations: Iterable[Citation]) -> list[Json]:
    """The places that an answer rests on."""
    return [
        {
            "repo": entry.repo,
            "path": entry.path,
            "firstLine": entry.first_line,
            "lastLine": entry.last_line,
            "name": entry.name or None,
            "chunkId": entry.chunk_id or None,
            "distance": entry.distance,
        }
        for entry in citations
    ]


def call_json(call: ToolCall) -> Json:
    """A call of a tool."""
    return {"callId": call.id, "name": call.name, "arguments": call.arguments}


def result_json(result: ToolResult) -> Json:
    """What came of a call."""
    return {
        "callId": result.call_id,
        "name": result.name,
        "text": result.text,
        "isError": result.is_error,
        "data": None if result.data is None else dict(result.data),
        "leftOut": result.left_out,
        "milliseconds": result.milliseconds,
    }


def event_json(event: RecordedEvent) -> Json:
    """Something that happened."""
    return {
        "number": event.number,
        "kind": event.kind,
        "at": moment(event.at),
        "data": dict(event.data),
    }


def export_json(conversation: Conversation, turns: Sequence[RecordedTurn]) -> Json:
    """All of a conversation."""
    return {
        "exportVersion": EXPORT_VERSION,
        **conversation_json(conversation),
        "turns": [turn_json(recorded) for recorded in turns],
    }


def export_markdown(conversation: Conversation, turns: Sequence[RecordedTurn]) -> str:
    """A conversation for reading: questions, answers and the places they rest on."""
    return "\n".join(_markdown(conversation, turns)).rstrip() + "\n"


def _markdown(conversation: Conversation, turns: Sequence[RecordedTurn]) -> Iterator[str]:
    yield f"# {conversation.title}"
    yield ""
    agent = f", agent {conversation.agent}" if conversation.agent else ""
    begun = moment(conversation.created)
    yield f"Conversation {conversation.id} about {conversation.repository}{agent}, {begun}."
    for recorded in turns:
        turn = recorded.turn
        yield ""
        yield f"## {recorded.number}. {' '.join(turn.question.split())[:200]}"
        yield ""
        if "\n" in turn.question.strip():
            yield from (f"> {line}".rstrip() for line in turn.question.strip().splitlines())
            yield ""
        yield turn.answer.strip() or f"*No answer: {_why_none(turn)}*"
        yield from _footnotes(turn)


def _footnotes(turn: Turn) -> Iterator[str]:
    sources = unnamed(turn)
    if sources:
        yield ""
        yield "Sources:"
        yield ""
        for entry in sources:
            name = f" ({entry.name})" if entry.name else ""
            yield f"- `{entry.place}`{name}"
    calls = [call.name for entry in turn.rounds for call in entry.calls]
    model = turn.model_id or turn.provider
    said = [f"answered by {model}"] if model else []
    if calls:
        said.append(f"tools: {', '.join(calls)}")
    if turn.status is not TurnStatus.done:
        said.append(turn.status.value.replace("_", " "))
    if said or turn.notes:
        yield ""
        yield f"*{'; '.join((*said, *turn.notes))}*"


def _why_none(turn: Turn) -> str:
    return turn.error.message if turn.error else turn.status.value.replace("_", " ")


def _round_json(entry: Round) -> Json:
    return {
        "text": entry.text,
        "calls": [call_json(call) for call in entry.calls],
        "results": [result_json(result) for result in entry.results],
    }


def moment(seconds: float | None) -> str | None:
    """A time as programs like it."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat("T", "seconds")
