"""Conversations as JSON and as Markdown: what was asked, answered, and used for it."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from asterism.engine.chat.requests import Answered
from asterism.engine.chat.sources import unnamed
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
    TurnStatus,
)
from asterism.types.sessions import request_json

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
        "usage": {
            "inputTokens": turn.usage.input_tokens,
            "outputTokens": turn.usage.output_tokens,
        },
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
    """The calls that somebody has to agree to."""
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
