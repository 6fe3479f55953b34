"""What a session includes: begun from its agent, changed by hand and by mentions, checked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import NamedTuple

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
from asterism.types.sessions import Session


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
