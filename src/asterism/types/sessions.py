"""What a session holds, what its requests were given, and what was of use."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from asterism.types.context import ItemKey, RequestMode, SessionItem
from asterism.types.context_settings import Layer


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The items that are included from one request to the next, and what is set otherwise."""

    id: str
    agent: str
    """The agent's name."""
    title: str = ""
    created: float = 0.0
    """Seconds since 1970, as all times here."""
    updated: float = 0.0
    items: tuple[SessionItem, ...] = ()
    inherited: Layer = field(default_factory=lambda: MappingProxyType({}))
    """The agent's settings as they were when the session began; later edits do not reach it."""
    settings: Layer = field(default_factory=lambda: MappingProxyType({}))
    """What the session sets over those."""
    contents: Mapping[ItemKey, str] = field(default_factory=lambda: MappingProxyType({}))
    """For each item a hash of what it says beside its name: a renamed item is known by it."""

    def holds(self, key: ItemKey) -> bool:
        """Whether an item is in the session."""
        return any(item.key == key for item in self.items)


class SessionSummary(NamedTuple):
    """A session in a list."""

    id: str
    agent: str
    title: str
    created: float
    updated: float
    items: int


class StoredRequest(NamedTuple):
    """A request as it is kept: its message, and what it was given, as JSON."""

    id: str
    session: str
    """Empty for a request outside any session."""
    agent: str
    message: str
    context: str
    at: float


class ItemUse(NamedTuple):
    """One item of one request: what it cost, and whether it was of use."""

    request: str
    session: str
    agent: str
    key: ItemKey
    mode: RequestMode
    score: float | None
    tokens: int
    cited: bool = False
    """Whether the answer speaks of it."""
    called: int = 0
    """How often the model called it, if it is a tool."""
    at: float = 0.0
