"""Checks the arguments of a call against the fields of the request."""

import difflib
import math
import reprlib
from collections.abc import Mapping, Sequence

from asterism.operations.operation import Operation
from asterism.operations.schema import Json
from asterism.types.errors import UsageError
from asterism.types.files import display_path
from asterism.types.request_limits import Bound, check_depth, check_entries, check_text
from asterism.types.search import FILTER_KEYS

_ANY_LIST = Bound(entries=max(key.bound.entries or 0 for key in FILTER_KEYS.values()))
_ANY_NAME: Json = {"maxLength": max(key.bound.characters or 0 for key in FILTER_KEYS.values())}
"""Limits of names inside an object; the code that reads the object checks closer ones."""
_SHOWN = 60
"""Characters of a wrong value that are repeated."""


def checked(operation: Operation, given: Mapping[str, object] | None) -> Json:
    """The arguments with their defaults; null means that nothing was given."""
    known = operation.parameters
    check_depth("The request", given)
    arguments = {name: value for name, value in (given or {}).items() if value is not None}
    for name in arguments:
        if name not in known:
            raise UsageError(_unknown(name, operation))
    for name in operation.required:
        if name not in arguments:
            raise UsageError(f"{operation.name} needs {name}; give it.")
    found = {name: _value(name, known[name], value) for name, value in arguments.items()}
    defaults = {name: schema["default"] for name, schema in known.items() if "default" in schema}
    return {**defaults, **found}


def check_number(name: str, schema: Json, value: float) -> float:
    """A number within the bounds of its field."""
    return _within(name, schema, value)


def _unknown(name: object, operation: Operation) -> str:
    word = _shown(name)
    near = difflib.get_close_matches(word, [*operation.parameters], n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    names = ", ".join(operation.parameters) or "none"
    return f"{operation.name} has no parameter {word}.{meant} Its parameters are: {names}."


def _value(name: str, schema: Json, value: object) -> object:
    if "anyOf" in schema:
        one, several = schema["anyOf"]
        return [_text(name, one, value)] if isinstance(value, str) else _list(name, several, value)
    read = _READERS[schema["type"]]
    return read(name, schema, value)


def _text(name: str, schema: Json, value: object) -> str:
    if not isinstance(value, str):
        raise _wrong(name, value, "a string")
    most = schema.get("maxLength")
    check_text(name, value, Bound(characters=most))
    if "\0" in value:
        raise UsageError(f"{name} contains a NUL character; leave it out.")
    if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise UsageError(f"{name} is not valid Unicode; give text without lone surrogates.")
    if "enum" in schema and value not in schema["enum"]:
        raise UsageError(f"{name} is {_shown(value)}; give one of {', '.join(schema['enum'])}.")
    return value


def _list(name: str, schema: Json, value: object) -> list[str]:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise _wrong(name, value, "a string or a list of strings")
    check_entries(name, len(value), Bound(entries=schema["maxItems"]))
    return [_text(f"an entry of {name}", schema["items"], entry) for entry in value]


def _whole(name: str, schema: Json, value: object) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(name, value, "a whole number")
    return int(_within(name, schema, value))


def _number(name: str, schema: Json, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(name, value, "a number")
    # A whole number can be too large to be asked whether it is finite.
    if isinstance(value, float) and not math.isfinite(value):
        raise _wrong(name, value, "a number")
    return float(_within(name, schema, value))


def _within(name: str, schema: Json, value: float) -> float:
    least, most = schema["minimum"], schema["maximum"]
    if not least <= value <= most:
        raise UsageError(f"{name} is {_shown(value)}; give {least:,} to {most:,}.")
    return value


def _switch(name: str, _schema: Json, value: object) -> bool:
    if not isinstance(value, bool):
        raise _wrong(name, value, "true or false")
    return value


def _mapping(name: str, schema: Json, value: object) -> Json:
    if not isinstance(value, Mapping):
        raise _wrong(name, value, "an object of keys and values")
    check_entries(name, len(value), Bound(entries=schema["maxProperties"]))
    return {
        _text(f"a key of {name}", _ANY_NAME, key): _plain(name, entry)
        for key, entry in value.items()
    }


def _plain(name: str, value: object) -> object:
    """A value inside an object; the code that reads the object checks its type."""
    if isinstance(value, str):
        return _text(f"a value of {name}", _ANY_NAME, value)
    if isinstance(value, list | tuple):
        check_entries(f"a list in {name}", len(value), _ANY_LIST)
        return [_plain(name, entry) for entry in value]
    if isinstance(value, Mapping):
        check_entries(f"an object in {name}", len(value), _ANY_LIST)
        return {
            _text(f"a key of {name}", _ANY_NAME, key): _plain(name, entry)
            for key, entry in value.items()
        }
    return value


_READERS = {
    "string": _text,
    "integer": _whole,
    "number": _number,
    "boolean": _switch,
    "object": _mapping,
}


def _wrong(name: str, value: object, wanted: str) -> UsageError:
    return UsageError(f"{name} is {_shown(value)}; give {wanted}.")


def _shown(value: object) -> str:
    try:
        text = value if isinstance(value, str) else reprlib.repr(value)
    except ValueError:
        # Python refuses to write whole numbers of thousands of digits.
        text = "a number of thousands of digits"
    text = display_path(text[: _SHOWN + 1].encode("utf-8", "backslashreplace").decode())
    return f"{text[:_SHOWN]}…" if len(text) > _SHOWN else text
