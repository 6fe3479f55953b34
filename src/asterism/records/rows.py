"""Rows of the database as records."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, func, select

from asterism.records.tables import CONVERSATIONS, EVENTS, TURNS
from asterism.types.chat import (
    Citation,
    Conversation,
    RecordedEvent,
    RecordedTurn,
    Round,
    ToolCall,
    ToolResult,
    TriedSearch,
    Turn,
    TurnError,
    TurnStatus,
    Usage,
)
from asterism.types.errors import ConversationMissing
from asterism.types.processes import process_exists
from asterism.types.sessions import request_from_json, request_json

Json = dict[str, Any]


def storable(text: str) -> str:
    """A text without what some database refuses: zeros, and halves of characters."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def folded(*texts: str) -> str:
    """Texts as they are searched: without upper case, in any script."""
    return storable("\n".join(texts).casefold())


def evidence_text(turn: Turn) -> str:
    """Everything of a turn that has no column of its own."""
    return json_text(
        {
            "context": None if turn.context is None else request_json(turn.context),
            "grounding": turn.grounding,
            "rounds": turn.rounds,
            "citations": turn.citations,
            "searches": turn.searches,
            "usage": turn.usage,
            "notes": turn.notes,
        }
    )


def json_text(value: object) -> str:
    """JSON of records; escapes stand for what a database could not hold."""
    return json.dumps(plain(value), separators=(",", ":"))


def plain(value: object) -> object:
    """Records as mappings, all the way down."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(part) for part in value]
    return value if isinstance(value, str | int | float | None) else str(value)


def evidence_of(text: str) -> Json:
    """The same as parts of a turn."""
    found: Json = json.loads(text)
    return {
        "context": None if found["context"] is None else request_from_json(found["context"]),
        "grounding": tuple(ToolResult(**entry) for entry in found["grounding"]),
        "rounds": tuple(map(_round, found["rounds"])),
        "citations": tuple(Citation(**entry) for entry in found["citations"]),
        "searches": tuple(TriedSearch(**entry) for entry in found["searches"]),
        "usage": Usage(**found["usage"]),
        "notes": tuple(found["notes"]),
    }


def _round(found: Json) -> Round:
    calls = tuple(ToolCall(**entry) for entry in found["calls"])
    results = tuple(ToolResult(**entry) for entry in found["results"])
    return Round(**{**found, "calls": calls, "results": results})


LEASE_SECONDS = 60.0
"""How old an owner's last word may be: it speaks every few seconds while it works."""


def this_process() -> str:
    """This process, so that no other is mistaken for it, on this machine or another."""
    pid = os.getpid()
    return f"{_machine()} {pid} {_started(pid)}"


def is_alive(owner: str, beat: float, now: float) -> bool:
    """Whether an owner still works on its turn."""
    if abs(now - beat) > LEASE_SECONDS:
        return False
    machine, pid, started = owner.rsplit(" ", 2)
    if machine != _machine():
        return True
    return process_exists(int(pid)) and _started(int(pid)) == started


@cache
def _machine() -> str:
    """The system that process numbers belong to: containers on one machine have their own."""
    parts = [platform.node() or "here"]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with suppress(OSError):
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return "/".join(parts).replace(" ", "_")


def _started(pid: int) -> str:
    """When a process began, because numbers are given out again; `-` where nobody says."""
    try:
        facts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "-"
    # One that ended, and whose parent has not asked how, does nothing any more.
    return "ended" if facts[0] == "Z" else facts[19]


_ALL_TURNS = TURNS.alias("all_turns")
COUNTED = (
    select(func.count())
    .where(_ALL_TURNS.c.conversation == CONVERSATIONS.c.id)
    .correlate(CONVERSATIONS)
    .scalar_subquery()
    .label("turns")
)
"""How many turns a conversation has."""


def conversation_of(row: Row[Any]) -> Conversation:
    """A conversation with its number of turns."""
    return Conversation(
        row.id,
        row.title,
        row.repository,
        row.agent,
        row.session,
        row.created,
        row.updated,
        row.archived,
        row.turns,
    )


def turn_of(row: Row[Any], now: float) -> RecordedTurn:
    """A turn; one whose process is gone is interrupted, whatever it last said of itself."""
    status = TurnStatus(row.status)
    if status is TurnStatus.running and not is_alive(row.owner, row.beat, now):
        status = TurnStatus.interrupted
    turn = Turn(
        id=row.id,
        question=row.question,
        conversation_id=row.conversation,
        request_id=row.request_id or "",
        agent_name=row.agent,
        status=status,
        answer=row.answer,
        provider=row.provider,
        model_id=row.model,
        error=TurnError(row.error_code, row.error) if row.error_code else None,
        **evidence_of(row.evidence),
    )
    return RecordedTurn(row.number, turn, row.started, row.ended)


def event_of(row: Row[Any]) -> RecordedEvent:
    """Something that happened."""
    return RecordedEvent(row.number, row.kind, row.at, json.loads(row.data))


def conversation_row(connection: Connection, id_: str, update: bool = False) -> Row[Any]:
    """The row of a conversation, locked if it is to be changed."""
    query = select(CONVERSATIONS).where(CONVERSATIONS.c.id == id_)
    found = connection.execute(query.with_for_update() if update else query).one_or_none()
    if found is None:
        raise ConversationMissing(
            f"There is no conversation {id_[:80]!r}; `asterism conversations` lists them."
        )
    return found


def counted_conversation(connection: Connection, id_: str) -> Conversation:
    """A conversation of that id."""
    conversation_row(connection, id_)
    query = select(CONVERSATIONS, COUNTED).where(CONVERSATIONS.c.id == id_)
    return conversation_of(connection.execute(query).one())


def events_of(connection: Connection, turn: str) -> list[RecordedEvent]:
    """What happened in a turn, in its order."""
    query = select(EVENTS).where(EVENTS.c.turn == turn).order_by(EVENTS.c.number)
    return [event_of(row) for row in connection.execute(query)]
