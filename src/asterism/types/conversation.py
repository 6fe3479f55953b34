"""Conversations as they are kept: turns in their order, and what happened in each."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from asterism.types.chat import Turn


class Conversation(NamedTuple):
    """Questions that belong together."""

    id: str
    title: str
    repository: str
    """The name of the repository that is asked about."""
    agent: str
    """The agent that is asked; nothing where none was named."""
    session: str
    """What the agent includes here; nothing where no agent was asked."""
    created: float
    updated: float
    archived: float | None = None
    turns: int = 0


class RecordedEvent(NamedTuple):
    """Something that happened in a turn."""

    number: int
    kind: str
    at: float
    data: Mapping[str, object]


class RecordedTurn(NamedTuple):
    """A turn at its place in its conversation."""

    number: int
    """From 1 on."""
    turn: Turn
    started: float
    ended: float | None = None


class Shelf(StrEnum):
    """Which conversations are meant."""

    open = "open"
    archived = "archived"
    all = "all"


class ConversationPage(NamedTuple):
    """Some conversations of a longer list, the one used last first."""

    conversations: tuple[Conversation, ...]
    total: int
    cursor: str | None = None
    """Leads to the next page; nothing at the end."""


class ConversationMatch(NamedTuple):
    """A turn in which something was said."""

    conversation: Conversation
    number: int
    where: str
    """`question` or `answer`."""
    excerpt: str


class MatchPage(NamedTuple):
    """Some of the turns in which something was said, the latest first."""

    matches: tuple[ConversationMatch, ...]
    total: int
    cursor: str | None = None
