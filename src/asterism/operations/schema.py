"""JSON Schema of request and reply records, from the annotations of their fields.

A request is a frozen dataclass. Each field is annotated with its type and its schema, made by one
of the functions below, and where the rule is not enough with an `Option` for the command line:

    limit: Annotated[int, whole("Rows at most.", 1, 50), Option(metavar="N")] = 10

A field without a default is required. The JSON of a reply leaves out a field that has its default.
"""

import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import (
    Annotated,
    Any,
    NamedTuple,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from asterism.types.request_limits import FIELDS, Bound
from asterism.types.search import FILTER_KEYS

Json = dict[str, Any]

LEAST_TOKENS = 500
"""A list with its account has no place in less."""
MOST_TOKENS = 25_000
"""Of a reply; the ceiling in characters is four times that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """How the command line takes a field, where that does not follow from its name and schema."""

    flag: str = ""
    """`--limit` for a field `limit` unless told otherwise."""
    is_position: bool = False
    """It has no flag: its place says what it is."""
    metavar: str = ""
    help: str = ""
    """The field's description unless told otherwise."""
    shown: bool = True
    is_bounded: bool = True
    """The schema's bounds of a number hold for the command line too."""
    is_of_lists: bool = False
    """It belongs to a list of rows; a context is asked for without it."""


NOT_A_FLAG = Option(shown=False)
"""The command line has another way to say this, or none."""


class RequestField(NamedTuple):
    """One field of a request record, as every surface needs it."""

    name: str
    schema: Json
    """With its default; its limits follow from its name."""
    required: bool
    option: Option


def request_fields(request: type) -> tuple[RequestField, ...]:
    """The fields of a request record, in its order."""
    hints = get_type_hints(request, include_extras=True)
    found = []
    for each in fields(request):
        notes = hints[each.name].__metadata__
        required = each.default is MISSING and each.default_factory is MISSING
        schema = _limited(each.name, dict(notes[0]))
        if each.default is not MISSING and each.default is not None:
            schema["default"] = each.default
        option = notes[1] if len(notes) > 1 else Option()
        found.append(RequestField(each.name, schema, required, option))
    return tuple(found)


def _limited(name: str, schema: Json) -> Json:
    """A parameter's schema with its limits; each has to be in the table of limits."""
    if "anyOf" in schema:
        one, several = schema["anyOf"]
        if "enum" in one:
            return schema
        bound = FIELDS[name]
        one = {**one, "maxLength": bound.characters}
        several = {**several, "items": one, "maxItems": bound.entries}
        return {**schema, "anyOf": [one, several]}
    if schema["type"] == "string" and not {"enum", "maxLength"} & {*schema}:
        return {**schema, "maxLength": FIELDS[name].characters}
    if schema["type"] == "object":
        limited = {**schema, "maxProperties": FIELDS[name].entries}
        return {**limited, "additionalProperties": _VALUE} if name == "filters" else limited
    return schema


_TEXT: Json = {
    "type": "string",
    "maxLength": max(key.bound.characters or 0 for key in FILTER_KEYS.values()),
}
_TEXTS: Json = {
    "type": "array",
    "items": _TEXT,
    "maxItems": max(key.bound.entries or 0 for key in FILTER_KEYS.values()),
}
# The value of any filter; what each key allows of this is in the table of limits.
_VALUE: Json = {"anyOf": [_TEXT, _TEXTS, {"type": "boolean"}, {"type": "null"}]}


def text(description: str, bound: Bound | None = None) -> Json:
    """A text; how long it may be follows from the field's name unless a bound is given."""
    limit = {} if bound is None else {"maxLength": bound.characters}
    return {"type": "string", "description": description, **limit}


def texts(description: str) -> Json:
    """One text, or several."""
    one: Json = {"type": "string"}
    several: Json = {"type": "array", "items": one}
    return {"anyOf": [one, several], "description": description}


def choice(description: str, words: Sequence[str]) -> Json:
    """One of several words."""
    return {"type": "string", "enum": list(words), "description": description}


def choices(description: str, words: Sequence[str]) -> Json:
    """One or several of some words."""
    one: Json = {"type": "string", "enum": list(words)}
    several: Json = {"type": "array", "items": one, "maxItems": len(words)}
    return {"anyOf": [one, several], "description": description}


def switch(description: str) -> Json:
    """Yes or no."""
    return {"type": "boolean", "description": description}


def whole(description: str, least: int, most: int) -> Json:
    """A whole number within bounds."""
    return {"type": "integer", "minimum": least, "maximum": most, "description": description}


def share(description: str) -> Json:
    """A number from 0 to 1."""
    return {"type": "number", "minimum": 0, "maximum": 1, "description": description}


def mapping(description: str) -> Json:
    """Keys and values; the code that reads them checks them."""
    return {"type": "object", "description": description}


def input_schema(parameters: Mapping[str, Json], required: Sequence[str]) -> Json:
    """What a call may contain, as JSON Schema; anything else is refused."""
    schema: Json = {"type": "object", "properties": dict(parameters)}
    if required:
        schema["required"] = list(required)
    return {**schema, "additionalProperties": False}


RepositoryId: TypeAlias = Annotated[
    str | None, text("Id or name of a repository, from list_repositories."), NOT_A_FLAG
]
ProjectId: TypeAlias = Annotated[
    str | None, text("Id or name of a project; enough where it has one repository."), NOT_A_FLAG
]
MaxTokens: TypeAlias = Annotated[
    int | None,
    whole(
        "Keep the reply within so many tokens; nothing raises the ceiling of 100,000 characters.",
        LEAST_TOKENS,
        MOST_TOKENS,
    ),
]

LAST_LINE = 100_000_000
"""No file that is read has so many lines."""

FILTERS_TEXT = (
    "Only code that passes every one of these: "
    + ", ".join(f"{name} ({key.note})" if key.note else name for name, key in FILTER_KEYS.items())
    + '. Example: {"path_prefix": "src/", "type": ["function"], "path_not_contains": ["test"]}.'
)


_PLAIN_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}


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
        "properties": {each.name: _reply_type(hints[each.name]) for each in fields(record)},
        "required": [each.name for each in fields(record) if not is_optional(each)],
    }


def _reply_type(hint: Any) -> Json:
    if hint in _PLAIN_TYPES:
        return {"type": _PLAIN_TYPES[hint]}
    origin, arguments = get_origin(hint) or hint, get_args(hint)
    if origin in (types.UnionType, Union):
        # Written out in two: some clients read a single type only.
        return {
            "anyOf": [
                {"type": "null"} if one is type(None) else _reply_type(one) for one in arguments
            ]
        }
    if origin is tuple:
        return {"type": "array", "items": _reply_type(arguments[0])}
    if is_dataclass(origin) or (isinstance(origin, type) and issubclass(origin, Mapping | tuple)):
        return {"type": "object"}
    raise TypeError(f"A reply has no field of type {hint}.")
