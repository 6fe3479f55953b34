"""The tables of conversations, their turns, and what happened in each turn."""

from sqlalchemy import Column, Float, ForeignKey, Integer, MetaData, String, Table, Text

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
