"""A session's items: from its agent, by hand, by mention; and how often each was used."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, NamedTuple

from asterism.context.choice import key_named, mentions
from asterism.context.items import first_items
from asterism.types.agent_settings import SETTINGS, SettingValue
from asterism.types.context import (
    Agent,
    Item,
    ItemKey,
    RequestMode,
    SessionItem,
    SessionMode,
    Tool,
    ToolKey,
    text_hash,
)
from asterism.types.errors import UsageError
from asterism.types.sessions import ItemUse, Session, key_json


class Missing(NamedTuple):
    """An item that a session holds and its agent has no more, at least not by that name."""

    key: ItemKey
    renamed_to: ItemKey | None = None
    """The item that says what it said, if there is one."""

    @property
    def sentence(self) -> str:
        """For people."""
        if self.renamed_to is None:
            return (
                f"The session holds {self.key}, which the agent has no more; it is left out. "
                "Remove it from the session."
            )
        return (
            f"The session holds {self.key}, which is now called {self.renamed_to}; it is left "
            "out. Remove the old name from the session and add the new one."
        )


class Mentioned(NamedTuple):
    """A session after a message was looked at for mentions."""

    session: Session
    added: tuple[ItemKey, ...] = ()
    notes: tuple[str, ...] = ()
    """Mentions that no item has for a name, in sentences."""


def items_of(agent: Agent, tools: Sequence[Tool]) -> dict[ItemKey, Item]:
    """Everything the agent has, with the tools that its servers list, by key."""
    everything: tuple[Item, ...] = (*agent.rules, *agent.references, *tools)
    return {item.key: item for item in everything}


def new_session(agent: Agent, tools: Sequence[Tool], id_: str, now: float) -> Session:
    """A session with the items that always come."""
    items = first_items(agent, tools)
    known = items_of(agent, tools)
    return Session(
        id=id_,
        agent=agent.name,
        created=now,
        updated=now,
        items=items,
        inherited=dict(agent.settings),
        contents={item.key: content_of(known[item.key]) for item in items},
    )


def add(session: Session, items: Mapping[ItemKey, Item], written: str) -> Session:
    """The session with an item that a person names; one that is there stays as it is."""
    key = key_named(written, items)
    if key is None:
        raise UsageError(_unknown(written, items))
    return session if session.holds(key) else _with(session, items[key], RequestMode.manual)


def remove(session: Session, written: str) -> Session:
    """The session without an item; whether the agent still has it does not matter."""
    key = key_named(written, (item.key for item in session.items))
    if key is None:
        held = ", ".join(str(item.key) for item in session.items) or "nothing"
        raise UsageError(f"The session does not hold {written}; it holds {held}.")
    return replace(
        session,
        items=tuple(item for item in session.items if item.key != key),
        contents={other: said for other, said in session.contents.items() if other != key},
    )


def mentioned(session: Session, items: Mapping[ItemKey, Item], message: str) -> Mentioned:
    """The session with what a message mentions as `@rule:NAME` or `@ref:NAME`."""
    added: list[ItemKey] = []
    notes: list[str] = []
    for key, written in mentions(message, items):
        if key is None:
            notes.append(_unknown(written, items))
        elif not session.holds(key):
            session = _with(session, items[key], RequestMode.manual)
            added.append(key)
    return Mentioned(session, tuple(added), tuple(notes))


def with_settings(session: Session, changes: Mapping[str, object]) -> Session:
    """The session with settings of its own; None takes one back to what it inherited."""
    settings: dict[str, SettingValue] = dict(session.settings)
    for name, written in changes.items():
        known = SETTINGS.get(name)
        if known is None:
            close = get_close_matches(name, SETTINGS, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(SETTINGS)}."
            raise UsageError(f"No setting is called {name}; {hint}")
        if written is None:
            settings.pop(name, None)
            continue
        value = known.read(written)
        if value is None:
            raise UsageError(f"{name} cannot be {written!r}; give {known.allowed}.")
        settings[name] = value
    return replace(session, settings=settings)


def missing(
    session: Session, items: Mapping[ItemKey, Item], unreachable: Iterable[str] = ()
) -> tuple[Missing, ...]:
    """What the session holds and the agent has no more; tools of servers that are down aside."""
    down = set(unreachable)
    by_content = {content_of(item): key for key, item in items.items()}
    found: list[Missing] = []
    for held in session.items:
        key = held.key
        if key in items or (isinstance(key, ToolKey) and key.server in down):
            continue
        same = by_content.get(session.contents.get(key, ""))
        is_new = same is not None and same.kind == key.kind and not session.holds(same)
        found.append(Missing(key, same if is_new else None))
    return tuple(found)


def content_of(item: Item) -> str:
    """A hash of what an item says beside its name."""
    if isinstance(item, Tool):
        return text_hash(f"tool\n{item.server}\n{item.description}")
    return text_hash(f"{item.key.kind}\n{item.text}")


def _with(session: Session, item: Item, mode: SessionMode) -> Session:
    return replace(
        session,
        items=(*session.items, SessionItem(item.key, mode)),
        contents={**session.contents, item.key: content_of(item)},
    )


def _unknown(written: str, items: Mapping[ItemKey, Item]) -> str:
    spelled = {str(key).lower(): str(key) for key in items}
    plain = written.removeprefix("@").lower()
    close = get_close_matches(plain, spelled, 3, 0.6)
    if not close:
        names = {key.name.lower(): str(key) for key in items}
        close = [names[name].lower() for name in get_close_matches(plain, names, 3, 0.6)]
    hint = f" Did you mean {', '.join(spelled[name] for name in close)}?" if close else ""
    return f"The agent has no item {written}.{hint}"


ENOUGH_REQUESTS = 10
"""Requests after which an item that was never of use is worth a word: fewer say little."""

SHARED_WORDS = 6
"""Words in a row that an answer takes from an item; shorter runs are common phrases."""

_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemUsage:
    """What came of one item."""

    key: ItemKey
    sent: int = 0
    """Requests that it was given to."""
    chosen: int = 0
    """Those of them that it was chosen for, or came to by expansion."""
    cited: int = 0
    """Requests whose answers speak of it."""
    called: int = 0
    tokens: int = 0
    """All that it cost."""
    mean_score: float | None = None

    @property
    def is_used(self) -> bool:
        """Whether it was ever of use."""
        return bool(self.cited or self.called)


def usage_of(uses: Iterable[ItemUse]) -> tuple[ItemUsage, ...]:
    """The uses of each item together, the most expensive first."""
    by_key: dict[ItemKey, list[ItemUse]] = {}
    for use in uses:
        by_key.setdefault(use.key, []).append(use)
    found = [_usage(key, some) for key, some in by_key.items()]
    return tuple(sorted(found, key=lambda usage: (-usage.tokens, str(usage.key))))


def _usage(key: ItemKey, uses: Sequence[ItemUse]) -> ItemUsage:
    scores = [use.score for use in uses if use.score is not None]
    by_meaning = (RequestMode.agent, RequestMode.expansion)
    return ItemUsage(
        key=key,
        sent=len(uses),
        chosen=sum(use.mode in by_meaning for use in uses),
        cited=sum(use.cited for use in uses),
        called=sum(use.called for use in uses),
        tokens=sum(use.tokens for use in uses),
        mean_score=sum(scores) / len(scores) if scores else None,
    )


def advice(usage: Iterable[ItemUsage], items: Mapping[ItemKey, Item], requests: int) -> list[str]:
    """What might be changed, in sentences; nothing before there is enough to go by."""
    if requests < ENOUGH_REQUESTS:
        return []
    by_key = {entry.key: entry for entry in usage}
    sentences: list[str] = []
    for key, item in items.items():
        seen = by_key.get(key)
        if seen is None:
            if isinstance(item, Tool) or item.enabled:
                sentences.append(
                    f"{key} was in none of {requests} requests: describe it better, or remove it."
                )
        elif not seen.is_used and seen.sent >= ENOUGH_REQUESTS:
            verb = "called" if isinstance(item, Tool) else "spoken of"
            sentences.append(
                f"{key} was sent {seen.sent} times for {seen.tokens:,} tokens and never {verb}: "
                f"{_instead(seen)}."
            )
    return sentences


def _instead(usage: ItemUsage) -> str:
    if usage.chosen < usage.sent:
        return "set its include mode to agent, or remove it from the session"
    return "make its description more exact, so that it is chosen less often"


def cited(answer: str, items: Iterable[Item]) -> tuple[ItemKey, ...]:
    """The rules and references that an answer names, or takes several words in a row from."""
    said = [word.lower() for word in _WORDS.findall(answer)]
    whole = f" {' '.join(said)} "
    runs = set(_runs(said))
    found: list[ItemKey] = []
    for item in items:
        if isinstance(item, Tool):
            continue
        name = " ".join(word.lower() for word in _WORDS.findall(item.name))
        words = [word.lower() for word in _WORDS.findall(item.text)]
        if (name and f" {name} " in whole) or not runs.isdisjoint(_runs(words)):
            found.append(item.key)
    return tuple(found)


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for start in range(len(words) - SHARED_WORDS + 1):
        yield tuple(words[start : start + SHARED_WORDS])


def use_json(use: ItemUse) -> dict[str, Any]:
    """One line of an export; names and numbers, never a text of an item or a message."""
    return {
        "request": use.request,
        "session": use.session,
        "agent": use.agent,
        **key_json(use.key),
        "includeMode": str(use.mode),
        "similarityScore": use.score,
        "tokens": use.tokens,
        "cited": use.cited,
        "called": use.called,
        "at": use.at,
    }


def usage_json(usage: ItemUsage) -> dict[str, Any]:
    """An item's uses together, for programs."""
    return {
        **key_json(usage.key),
        "sent": usage.sent,
        "chosen": usage.chosen,
        "cited": usage.cited,
        "called": usage.called,
        "tokens": usage.tokens,
        "meanScore": usage.mean_score,
    }
