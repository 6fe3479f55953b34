"""Rows of the database as records."""

import json
from typing import Any

from sqlalchemy import Connection, Row, func, select

from asterism.records.owners import is_alive
from asterism.records.tables import CONVERSATIONS, EVENTS, TURNS
from asterism.records.turn_text import evidence_of
from asterism.types.chat import Turn, TurnError, TurnStatus
from asterism.types.conversation import Conversation, RecordedEvent, RecordedTurn
from asterism.types.errors import ConversationMissing

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
