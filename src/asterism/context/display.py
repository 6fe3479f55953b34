"""A request's context as people read it: three columns, each in its order."""

from collections.abc import Mapping
from typing import NamedTuple

from asterism.context.items import in_order
from asterism.types.context import (
    Item,
    ItemKey,
    ItemKind,
    RequestContext,
    RequestItem,
    Tool,
    ToolKey,
)

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
        context.items,
        key=lambda entry: (place.get(entry.key, len(place)), str(entry.key)),
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
