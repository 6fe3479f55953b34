"""Conversations with their turns, and sessions with what they include."""

from alembic import op
from sqlalchemy import (
    Column,
    Float,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    String,
    Text,
    UniqueConstraint,
)

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    _conversations()
    _sessions()


def _conversations() -> None:
    op.create_table(
        "conversations",
        Column("id", String(64), nullable=False),
        Column("title", Text, nullable=False),
        Column("repository", Text, nullable=False),
        Column("agent", Text, nullable=False),
        Column("session", String(64), nullable=False),
        Column("created", Float(53), nullable=False),
        Column("updated", Float(53), nullable=False),
        Column("archived", Float(53)),
        PrimaryKeyConstraint("id", name="conversations_key"),
    )
    op.create_index("conversations_by_updated", "conversations", ["updated"])
    op.create_table(
        "turns",
        Column("id", String(64), nullable=False),
        Column("conversation", String(64), nullable=False),
        Column("number", Integer, nullable=False),
        Column("request_id", String(200)),
        Column("question", Text, nullable=False),
        Column("answer", Text, nullable=False),
        Column("searched", Text, nullable=False),
        Column("status", String(20), nullable=False),
        Column("agent", Text, nullable=False),
        Column("provider", Text, nullable=False),
        Column("model", Text, nullable=False),
        Column("error_code", String(60), nullable=False),
        Column("error", Text, nullable=False),
        Column("evidence", Text, nullable=False),
        Column("started", Float(53), nullable=False),
        Column("ended", Float(53)),
        Column("owner", Text, nullable=False),
        Column("beat", Float(53), nullable=False),
        Column("stop", Integer, nullable=False),
        PrimaryKeyConstraint("id", name="turns_key"),
        ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], "turns_to_conversations", ondelete="CASCADE"
        ),
        UniqueConstraint("request_id", name="turns_unique_request_id"),
    )
    op.create_index("turns_by_conversation", "turns", ["conversation"])
    op.create_index("turns_by_status", "turns", ["status"])
    op.create_table(
        "turn_events",
        Column("turn", String(64), nullable=False),
        Column("number", Integer, nullable=False),
        Column("kind", String(40), nullable=False),
        Column("at", Float(53), nullable=False),
        Column("data", Text, nullable=False),
        PrimaryKeyConstraint("turn", "number", name="turn_events_key"),
        ForeignKeyConstraint(["turn"], ["turns.id"], "turn_events_to_turns", ondelete="CASCADE"),
    )


def _sessions() -> None:
    op.create_table(
        "sessions",
        Column("id", String(64), nullable=False),
        Column("agent", Text, nullable=False),
        Column("title", Text, nullable=False),
        Column("created", Float(53), nullable=False),
        Column("updated", Float(53), nullable=False),
        # What the session inherited from its agent, and what it sets itself, as JSON.
        Column("settings", Text, nullable=False),
        PrimaryKeyConstraint("id", name="sessions_key"),
    )
    op.create_index("sessions_by_updated", "sessions", ["updated"])
    op.create_table(
        "session_items",
        Column("session", String(64), nullable=False),
        Column("type", String(20), nullable=False),
        Column("server", String(200), nullable=False),
        Column("name", String(200), nullable=False),
        Column("mode", String(20), nullable=False),
        # Of what the item says beside its name, by which a renamed item is known again.
        Column("content", String(64), nullable=False),
        Column("added", Float(53), nullable=False),
        PrimaryKeyConstraint("session", "type", "server", "name", name="session_items_key"),
        ForeignKeyConstraint(
            ["session"], ["sessions.id"], "session_items_to_sessions", ondelete="CASCADE"
        ),
    )
    # What each request was given, by name, so that it can be shown and rebuilt.
    op.create_table(
        "requests",
        Column("id", String(64), nullable=False),
        Column("session", String(64), nullable=False),
        Column("agent", Text, nullable=False),
        Column("message", Text, nullable=False),
        Column("context", Text, nullable=False),
        Column("at", Float(53), nullable=False),
        PrimaryKeyConstraint("id", name="requests_key"),
    )
    op.create_index("requests_by_session", "requests", ["session"])
    # One row for each item of each request: what was sent, and whether it was of use.
    op.create_table(
        "item_uses",
        Column("request", String(64), nullable=False),
        Column("session", String(64), nullable=False),
        Column("agent", Text, nullable=False),
        Column("type", String(20), nullable=False),
        Column("server", String(200), nullable=False),
        Column("name", String(200), nullable=False),
        Column("mode", String(20), nullable=False),
        Column("score", Float(53)),
        Column("tokens", Integer, nullable=False),
        Column("cited", Integer, nullable=False),
        Column("called", Integer, nullable=False),
        Column("at", Float(53), nullable=False),
        PrimaryKeyConstraint("request", "type", "server", "name", name="item_uses_key"),
    )
    op.create_index("item_uses_by_session", "item_uses", ["session"])
