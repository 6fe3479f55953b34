"""Reply records as JSON Schema.

A field with a default is optional: its JSON leaves it out while it has that default.
"""

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from asterism.operations.schema import Json

_PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number"}


def is_optional(field: "Field[Any]") -> bool:
    """Whether JSON leaves a field out while it has its default."""
    return field.default is not MISSING


def reply_schema(record: Any) -> Json:
    """The object that a reply is. Rows are shown as objects; the pages describe their fields."""
    if get_origin(record) is types.UnionType:
        return {"type": "object", "anyOf": [reply_schema(one) for one in get_args(record)]}
    hints = get_type_hints(record)
    return {
        "type": "object",
        "properties": {each.name: _schema(hints[each.name]) for each in fields(record)},
        "required": [each.name for each in fields(record) if not is_optional(each)],
    }


def _schema(hint: Any) -> Json:
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin in (types.UnionType, Union):
        # Written out in two: some clients read a single type only.
        return {
            "anyOf": [{"type": "null"} if one is type(None) else _schema(one) for one in arguments]
        }
    if origin is tuple:
        return {"type": "array", "items": _schema(arguments[0])}
    if is_dataclass(origin) or (isinstance(origin, type) and issubclass(origin, Mapping | tuple)):
        return {"type": "object"}
    raise TypeError(f"A reply has no field of type {hint}.")
