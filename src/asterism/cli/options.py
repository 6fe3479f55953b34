"""Options of commands that come from the declaration of an operation."""

import argparse
from collections.abc import Iterable
from typing import Any, TypeVar

from asterism.operations.schema import RequestField, request_fields

_Request = TypeVar("_Request")
_TYPES = {"integer": int, "number": float}
_METAVARS = {"integer": "N", "number": "S"}


def add_request(
    parser: argparse.ArgumentParser, request: type, leave_out: Iterable[str] = ()
) -> None:
    """Add the fields of a request record that the command line shows."""
    for field in request_fields(request):
        if field.option.shown and field.name not in leave_out:
            _add(parser, field)


def request_from(request: type[_Request], options: argparse.Namespace, **given: Any) -> _Request:
    """The request record that the options say; `given` are the values that the command adds.

    Filters are not among them: the command line has them as words.
    """
    typed = {
        field.name: getattr(options, field.name, None)
        for field in request_fields(request)
        if field.option.shown and field.schema.get("type") != "object"
    }
    values = {**typed, **given}
    return request(**{name: value for name, value in values.items() if value is not None})


def _add(parser: argparse.ArgumentParser, field: RequestField) -> None:
    option, schema = field.option, field.schema
    described: dict[str, Any] = {"help": option.help or _sentence(schema)}
    if option.is_position:
        described["metavar"] = option.metavar or field.name.upper()
        if not field.required:
            described["nargs"] = "?"
        parser.add_argument(field.name, **described)
        return
    flag = option.flag or f"--{field.name.replace('_', '-')}"
    kind = schema.get("type")
    if kind == "boolean":
        parser.add_argument(flag, dest=field.name, action="store_true", **described)
        return
    if "default" in schema:
        described["default"] = schema["default"]
        described["help"] += " (default: %(default)s)"
    one = schema["anyOf"][0] if "anyOf" in schema else schema
    if one is not schema or kind == "object":
        described["action"] = "append"
        described["help"] += "; may be repeated"
    if "enum" in one:
        described["choices"] = tuple(one["enum"])
    else:
        described["metavar"] = option.metavar or _METAVARS.get(one["type"], field.name.upper())
    if one["type"] in _TYPES:
        described["type"] = _TYPES[one["type"]]
    parser.add_argument(flag, dest=field.name, **described)


def _sentence(schema: dict[str, Any]) -> str:
    """A description as the command line writes it."""
    text: str = schema["description"].removesuffix(".")
    return text[:1].lower() + text[1:]
