"""The items of an agent and its servers, in the order in which they are shown."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from asterism.search.query.text import MAX_SENTENCE, sentences_of
from asterism.types.agent_settings import Layer, Permission, settings_of, stated_permission
from asterism.types.context import (
    Agent,
    Include,
    Item,
    ItemKey,
    ItemKind,
    Reference,
    RequestContext,
    RequestItem,
    RequestMode,
    Rule,
    RuleKey,
    Server,
    SessionItem,
    Tool,
    ToolChoice,
    ToolKey,
)
from asterism.types.sessions import key_from_json, key_json

MAX_PIECE = 500
"""Characters of a piece; a model gives one vector for all it reads, and longer texts blur in it."""

MAX_PIECES = 2_000
"""Pieces of one item: a million characters, which is about what a session can do anything with."""

MAX_SENTENCES = 64
"""Sentences of a message that are compared; more is a pasted log, of which the ends say most."""

_PARAGRAPHS = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])")
_LINE_END = re.compile(r"\n")
_BLANK = re.compile(r"\s+")


def index_text(item: Item) -> str:
    """What an item is found by: its name and description, then its text."""
    head = f"{item.name}: {item.description}" if item.description.strip() else item.name
    return head if isinstance(item, Tool) else f"{head}\n\n{item.text}"


def pieces_of(text: str) -> tuple[str, ...]:
    """Each paragraph, and one that is too long as sentences joined up to the limit."""
    text = _whole(text).strip()
    if text and len(text) <= MAX_PIECE and "\n" not in text:
        # Nearly every tool is so.
        return (text,)
    paragraphs = (part.strip() for part in _PARAGRAPHS.split(text))
    pieces = [piece for part in paragraphs if part for piece in _paragraph_pieces(part)]
    return tuple(pieces[:MAX_PIECES])


def query_sentences(message: str) -> tuple[str, ...]:
    """The sentences of a message, each within the limit; of very many the first and the last."""
    sentences = [part[:MAX_SENTENCE] for part in sentences_of(_whole(message)) if part.strip()]
    if len(sentences) > MAX_SENTENCES:
        half = MAX_SENTENCES // 2
        sentences = sentences[:half] + sentences[-half:]
    return tuple(dict.fromkeys(sentences))


def _whole(text: str) -> str:
    """The text without halves of characters, which JSON can bring and models cannot read."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _paragraph_pieces(paragraph: str) -> Iterator[str]:
    if len(paragraph) <= MAX_PIECE:
        yield paragraph
        return
    joined = ""
    for part in _parts(paragraph, (_SENTENCE_END, _LINE_END, _BLANK)):
        if joined and len(joined) + 1 + len(part) > MAX_PIECE:
            yield joined
            joined = part
        else:
            joined = f"{joined} {part}" if joined else part
    if joined:
        yield joined


def _parts(text: str, ends: tuple[re.Pattern[str], ...]) -> Iterator[str]:
    """The text in parts within the limit, cut at the first sort of end that serves."""
    if len(text) <= MAX_PIECE:
        if text.strip():
            yield text.strip()
    elif not ends:
        yield from (text[at : at + MAX_PIECE] for at in range(0, len(text), MAX_PIECE))
    else:
        start = 0
        for end in ends[0].finditer(text):
            yield from _parts(text[start : end.end()], ends[1:])
            start = end.end()
        yield from _parts(text[start:], ends[1:])


def item_json(item: Item) -> dict[str, Any]:
    """An item with all that it says; vectors are no part of it."""
    wire = key_json(item.key) | {"description": item.description}
    if isinstance(item, Tool):
        return wire | {"schema": dict(item.schema)} | ({"effects": True} if item.effects else {})
    return wire | {
        "text": item.text,
        "priority": item.priority,
        "include": str(item.include),
        "enabled": item.enabled,
    }


def item_from_json(wire: Mapping[str, Any]) -> Item:
    """An item that was written by `item_json`."""
    key = key_from_json(wire)
    if isinstance(key, ToolKey):
        return Tool(
            server=key.server,
            name=key.name,
            description=str(wire.get("description", "")),
            schema=dict(wire.get("schema", {})),
            effects=bool(wire.get("effects", False)),
        )
    kind = Rule if isinstance(key, RuleKey) else Reference
    return kind(
        name=key.name,
        text=str(wire["text"]),
        description=str(wire.get("description", "")),
        priority=int(wire["priority"]),
        include=Include(wire["include"]),
        enabled=bool(wire["enabled"]),
    )


_KINDS = tuple(ItemKind)


def offered_items(agent: Agent, tools: Sequence[Tool]) -> dict[ItemKey, Item]:
    """Every item that is switched on, in the order of display.

    `tools` are what the agent's servers list; those of a server that the agent does not have, or
    has switched off, are left aside.
    """
    on = {server.name for server in agent.servers if server.enabled}
    items: list[Item] = [item for item in agent.texts if item.enabled]
    items += [tool for tool in tools if tool.server in on]
    return {item.key: item for item in in_order(items)}


def in_order(items: Iterable[Item]) -> list[Item]:
    """Rules and references by priority, the highest first, then name; tools by server and name."""
    return sorted(items, key=_place)


def _place(item: Item) -> tuple[int, int, str, str]:
    kind = _KINDS.index(item.key.kind)
    if isinstance(item, Tool):
        return kind, 0, item.server, item.name
    return kind, -item.priority, "", item.name


def first_items(agent: Agent, tools: Sequence[Tool]) -> tuple[SessionItem, ...]:
    """What a new session holds: every item that is to be there always."""
    standing = ToolSettings(agent, {})
    return tuple(
        SessionItem(key, RequestMode.always)
        for key, item in offered_items(agent, tools).items()
        if standing.include_of(item) is Include.always
    )


class ToolSettings:
    """What an agent's file says of each tool, looked up quickly; servers can have thousands."""

    def __init__(self, agent: Agent, session: Layer) -> None:
        """`session` is what the session itself sets."""
        self._session = session
        self._base = settings_of(agent.settings).tool_permission
        self._servers = {server.name: server for server in agent.servers}
        self._choices = {
            (server.name, choice.name): choice
            for server in agent.servers
            for choice in server.tools
        }

    def include_of(self, item: Item) -> Include:
        """The item's mode; a tool's own, else its server's, else `always`."""
        if not isinstance(item, Tool):
            return item.include
        choice, server = self._said_of(item)
        own = choice.include if choice is not None else None
        return own or (server.include if server is not None else None) or Include.always

    def may_use(self, item: Item) -> bool:
        """Whether the session may be given an item: any text, and a tool that is not forbidden."""
        if not isinstance(item, Tool):
            return True
        choice, server = self._said_of(item)
        stated = (
            choice.permission if choice is not None else None,
            server.permission if server is not None else None,
            self._base,
        )
        return stated_permission(stated, self._session) is not Permission.never

    def _said_of(self, tool: Tool) -> tuple[ToolChoice | None, Server | None]:
        return self._choices.get((tool.server, tool.name)), self._servers.get(tool.server)


_GONE_PRIORITY = "---"


class Shown(NamedTuple):
    """One line of a column."""

    prefix: str
    """The priority in three digits, or the server with a dot."""
    name: str
    badge: str
    """How it came in, with the score in two decimals where it has one."""
    description: str

    @property
    def line(self) -> str:
        """As one text: `002 • Error handling [Agent - 0.87]`."""
        return f"{self.prefix} • {self.name} [{self.badge}]"


def columns(
    context: RequestContext, items: Mapping[ItemKey, Item]
) -> dict[ItemKind, tuple[Shown, ...]]:
    """Rules and references by priority, the highest first, then name; tools by server and name."""
    known = [items[entry.key] for entry in context.items if entry.key in items]
    place = {item.key: at for at, item in enumerate(in_order(known))}
    ordered = sorted(
        context.items, key=lambda entry: (place.get(entry.key, len(place)), str(entry.key))
    )
    return {
        kind: tuple(_shown(entry, items.get(entry.key)) for entry in ordered if _is(entry, kind))
        for kind in ItemKind
    }


def _is(entry: RequestItem, kind: ItemKind) -> bool:
    return entry.key.kind is kind


def _shown(entry: RequestItem, item: Item | None) -> Shown:
    badge = entry.mode.value.capitalize()
    if entry.score is not None:
        badge = f"{badge} - {entry.score:.2f}"
    if isinstance(entry.key, ToolKey):
        prefix = f"{entry.key.server}."
    elif item is None or isinstance(item, Tool):
        prefix = _GONE_PRIORITY
    else:
        prefix = f"{item.priority:03}"
    return Shown(prefix, entry.key.name, badge, "" if item is None else item.description)
