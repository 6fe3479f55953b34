"""The tables of conversations and sessions, and their rows as records."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    Row,
    String,
    Table,
    Text,
    func,
    select,
)

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

METADATA = MetaData(
    # Constraints have names, so that a migration can change them on every database.
    naming_convention={
        "ix": "%(table_name)s_by_%(column_0_N_name)s",
        "uq": "%(table_name)s_unique_%(column_0_N_name)s",
        "fk": "%(table_name)s_to_%(referred_table_name)s",
        "pk": "%(table_name)s_key",
    }
)


SESSIONS = Table(
    "sessions",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("agent", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("created", Float(53), nullable=False),
    Column("updated", Float(53), nullable=False, index=True),
    # What the session inherited from its agent, and what it sets itself, as JSON.
    Column("settings", Text, nullable=False),
)

SESSION_ITEMS = Table(
    "session_items",
    METADATA,
    Column("session", String(64), ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("type", String(20), primary_key=True),
    Column("server", String(200), primary_key=True),
    Column("name", String(200), primary_key=True),
    Column("mode", String(20), nullable=False),
    # Of what the item says beside its name, by which a renamed item is known again.
    Column("content", String(64), nullable=False),
    Column("added", Float(53), nullable=False),
)

REQUESTS = Table(
    "requests",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("session", String(64), nullable=False, index=True),
    Column("agent", Text, nullable=False),
    Column("message", Text, nullable=False),
    # Items by name with scores and hashes, what was left out, and notes, as JSON.
    Column("context", Text, nullable=False),
    Column("at", Float(53), nullable=False),
)

ITEM_USES = Table(
    "item_uses",
    METADATA,
    Column("request", String(64), primary_key=True),
    Column("session", String(64), nullable=False, index=True),
    Column("agent", Text, nullable=False),
    Column("type", String(20), primary_key=True),
    Column("server", String(200), primary_key=True),
    Column("name", String(200), primary_key=True),
    Column("mode", String(20), nullable=False),
    Column("score", Float(53)),
    Column("tokens", Integer, nullable=False),
    Column("cited", Integer, nullable=False),
    Column("called", Integer, nullable=False),
    Column("at", Float(53), nullable=False),
)


CONVERSATIONS = Table(
    "conversations",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("title", Text, nullable=False),
    # The name of the repository that is asked about, and the agent's of the last turn.
    Column("repository", Text, nullable=False),
    Column("agent", Text, nullable=False),
    # What the agent includes here is a session's; nothing where no agent was asked.
    Column("session", String(64), nullable=False),
    Column("created", Float(53), nullable=False),
    Column("updated", Float(53), nullable=False, index=True),
    Column("archived", Float(53)),
)

TURNS = Table(
    "turns",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column(
        "conversation",
        String(64),
        ForeignKey("conversations.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    Column("number", Integer, nullable=False),
    Column("request_id", String(200), unique=True),
    Column("question", Text, nullable=False),
    Column("answer", Text, nullable=False),
    # Both without upper case, because databases differ in what they take for the same letter.
    Column("searched", Text, nullable=False),
    Column("status", String(20), nullable=False, index=True),
    Column("agent", Text, nullable=False),
    Column("provider", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("error_code", String(60), nullable=False),
    Column("error", Text, nullable=False),
    # Context, rounds, citations, searches, usage and notes, as JSON.
    Column("evidence", Text, nullable=False),
    Column("started", Float(53), nullable=False),
    Column("ended", Float(53)),
    # Which process answers it, its last heartbeat, and whether it was asked to stop.
    Column("owner", Text, nullable=False),
    Column("beat", Float(53), nullable=False),
    Column("stop", Integer, nullable=False),
)

EVENTS = Table(
    "turn_events",
    METADATA,
    Column("turn", String(64), ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(40), nullable=False),
    Column("at", Float(53), nullable=False),
    Column("data", Text, nullable=False),
)


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
    """JSON of records; characters that a database cannot hold are escaped."""
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
    """Process start time (pids are reused); "-" if unknown."""
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
