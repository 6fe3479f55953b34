"""A stored request, rebuilt: the messages it had, and what has changed since."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from asterism.context.kept import Keeper
from asterism.context.messages import Contents, build_messages, request_tools
from asterism.types.chat import Message, ToolSpec
from asterism.types.context import Item, ItemKey, RequestContext, content_hash, text_hash


class Change(StrEnum):
    """What became of an item since the request."""

    changed = "changed"
    """It says something else now."""
    vanished = "vanished"
    """The agent has it no more."""


class ItemChange(NamedTuple):
    """An item, or the system prompt, that is not what it was."""

    key: ItemKey | None
    """None for the system prompt."""
    change: Change
    rebuilt: bool
    """Whether what it said then is known, so that the messages have it as it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """The messages and tools of a stored request."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    changes: tuple[ItemChange, ...]
    note: str = ""
    """What else there is to say, in a sentence."""

    @property
    def is_exact(self) -> bool:
        """Whether these are the very messages that were sent."""
        return all(change.rebuilt for change in self.changes)


def replay(
    context: RequestContext,
    now: Contents,
    kept: Keeper,
    history: Sequence[Message],
    message: str,
) -> Replayed:
    """Rebuild a request from what was kept of it, and from what is there now where that is gone.

    An item that changed is given as it was then if that is known, else as it is now; one that
    vanished and is not known is left out. Either is said.
    """
    changes: list[ItemChange] = []
    items: dict[ItemKey, Item] = {}
    for entry in context.items:
        present = now.items.get(entry.key)
        if present is not None and content_hash(present) == entry.content_hash:
            items[entry.key] = present
            continue
        then = kept.item(entry.content_hash)
        is_known = then is not None and then.key == entry.key
        change = Change.vanished if present is None else Change.changed
        changes.append(ItemChange(entry.key, change, is_known))
        given = then if is_known else present
        if given is not None:
            items[entry.key] = given
    prompt = now.prompt
    if text_hash(prompt) != context.prompt_hash:
        before = kept.prompt(context.prompt_hash)
        changes.append(ItemChange(None, Change.changed, before is not None))
        prompt = prompt if before is None else before
    contents = Contents(prompt=prompt, items=items)
    return Replayed(
        messages=build_messages(context, contents, history, message),
        tools=tuple(spec for _key, spec in request_tools(context, contents).values()),
        changes=tuple(changes),
    )
