"""The tables of sessions, what they include, what requests were given, and what was of use."""

from sqlalchemy import Column, Float, ForeignKey, Integer, String, Table, Text

from asterism.records.metadata import METADATA

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
