"""Sessions of agents, the use of their items, and request contexts as JSON and back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from asterism.types.agent_settings import Layer
from asterism.types.context import (
    ItemDetail,
    ItemKey,
    ItemKind,
    LeftOut,
    LeftOutReason,
    ReferenceKey,
    RequestContext,
    RequestItem,
    RequestMode,
    RuleKey,
    SessionItem,
    ToolKey,
)
from asterism.types.errors import InputError


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


def key_json(key: ItemKey) -> dict[str, Any]:
    """`type`, `name`, and for tools `serverName`."""
    wire: dict[str, Any] = {"type": str(key.kind), "name": key.name}
    return wire | {"serverName": key.server} if isinstance(key, ToolKey) else wire


def key_from_json(wire: Mapping[str, Any]) -> ItemKey:
    """The key; a tool without a server is refused."""
    match wire:
        case {"type": ItemKind.rule.value, "name": str(name)}:
            return RuleKey(name)
        case {"type": ItemKind.reference.value, "name": str(name)}:
            return ReferenceKey(name)
        case {"type": ItemKind.tool.value, "name": str(name), "serverName": str(server)}:
            return ToolKey(server, name)
    raise InputError(
        "An item needs type (rule, reference or tool) and name, and a tool its serverName."
    )


def request_item_json(item: RequestItem) -> dict[str, Any]:
    """The key with mode, score and hash; what is as usual is left out."""
    wire = key_json(item.key) | {"includeMode": str(item.mode)}
    if item.score is not None:
        wire["similarityScore"] = round(item.score, 4)
    wire["contentHash"] = item.content_hash
    if item.detail is not ItemDetail.full:
        wire["detail"] = str(item.detail)
    if item.pieces:
        wire["pieces"] = list(item.pieces)
    return wire | {"why": item.why} if item.why else wire


def request_json(context: RequestContext) -> dict[str, Any]:
    """A request context as it is stored with the reply."""
    return {
        "agent": context.agent,
        "promptHash": context.prompt_hash,
        "items": [request_item_json(item) for item in context.items],
        "leftOut": [_left_out_json(entry) for entry in context.left_out],
        "notes": list(context.notes),
        "considered": context.considered,
    }


def request_from_json(wire: Mapping[str, Any]) -> RequestContext:
    """A stored request context."""
    try:
        return RequestContext(
            agent=str(wire["agent"]),
            prompt_hash=str(wire["promptHash"]),
            items=tuple(_request_item(item) for item in wire["items"]),
            left_out=tuple(_left_out(entry) for entry in wire.get("leftOut", ())),
            notes=tuple(str(note) for note in wire.get("notes", ())),
            considered=int(wire.get("considered", 0)),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"This is no stored request context ({error}); it may be of another version."
        ) from error


def _request_item(wire: Mapping[str, Any]) -> RequestItem:
    score = wire.get("similarityScore")
    return RequestItem(
        key=key_from_json(wire),
        mode=RequestMode(wire["includeMode"]),
        content_hash=str(wire["contentHash"]),
        score=None if score is None else float(score),
        detail=ItemDetail(wire.get("detail", ItemDetail.full)),
        pieces=tuple(int(piece) for piece in wire.get("pieces", ())),
        why=str(wire.get("why", "")),
    )


def _left_out_json(entry: LeftOut) -> dict[str, Any]:
    wire: dict[str, Any] = (
        {"place": entry.key} if isinstance(entry.key, str) else key_json(entry.key)
    )
    wire["reason"] = str(entry.reason)
    if entry.score is not None:
        wire["similarityScore"] = round(entry.score, 4)
    return wire | {"detail": entry.detail} if entry.detail else wire


def _left_out(wire: Mapping[str, Any]) -> LeftOut:
    score = wire.get("similarityScore")
    return LeftOut(
        str(wire["place"]) if "place" in wire else key_from_json(wire),
        LeftOutReason(wire["reason"]),
        None if score is None else float(score),
        str(wire.get("detail", "")),
    )
