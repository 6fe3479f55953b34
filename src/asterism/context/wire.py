"""Items and what sessions hold of them as JSON, and back; the names are those clients know."""

from collections.abc import Mapping
from typing import Any

from asterism.types.context import (
    Include,
    Item,
    Reference,
    Rule,
    RuleKey,
    Tool,
    ToolKey,
)
from asterism.types.context_json import key_from_json, key_json


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
