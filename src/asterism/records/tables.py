"""The tables of conversations, their turns, and what happened in each turn."""

from sqlalchemy import Column, Float, ForeignKey, Integer, String, Table, Text

from asterism.records.metadata import METADATA

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
    # Which process answers it, when it last said so, and whether somebody wants it to stop.
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
