"""Arguments of commands: what many share, and those that an operation's request declares."""

import argparse
from typing import Any, TypeVar

from asterism.operations.schema import RequestField, request_fields

_Request = TypeVar("_Request")
_TYPES = {"integer": int, "number": float}
_METAVARS = {"integer": "N", "number": "S"}


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add `--json`, which every command that answers has."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_action(parser: argparse.ArgumentParser, *actions: str) -> None:
    """Add what is to be done; the first of them unless told otherwise."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=actions,
        default=actions[0],
        help="what to do (default: %(default)s)",
    )


def add_path(parser: argparse.ArgumentParser, text: str) -> None:
    """Add a PATH that may be left out."""
    parser.add_argument("path", metavar="PATH", nargs="?", help=text)


def add_request(
    parser: argparse.ArgumentParser, request: type, *names: str, when: str = ""
) -> None:
    """Add the fields of a request record that the command line shows, or those that are named.

    `when` begins their help: the action that they belong to.
    """
    shown = {field.name: field for field in request_fields(request) if field.option.shown}
    for name in names or shown:
        _add(parser, shown[name], when)


def request_from(request: type[_Request], options: argparse.Namespace, **given: Any) -> _Request:
    """The request record that the options say; `given` are the values that the command adds.

    Numbers are checked against the bounds of their fields. Filters are not taken: the command line
    has them as words.
    """
    typed = values_of(request, options)
    for field in request_fields(request):
        bounded = field.option.is_bounded and "minimum" in field.schema
        if bounded and field.name in typed:
            _check_number(flag_of(field), field.schema, typed[field.name])
    values = {**typed, **given}
    return request(**{name: value for name, value in values.items() if value is not None})


def values_of(request: type, options: argparse.Namespace) -> dict[str, Any]:
    """The fields that the options give, without those that are objects."""
    named = {
        field.name: vars(options).get(field.name)
        for field in request_fields(request)
        if field.option.shown and field.schema.get("type") != "object"
    }
    return {name: value for name, value in named.items() if value is not None}


def _check_number(flag: str, schema: dict[str, Any], value: float) -> None:
    if not schema["minimum"] <= value <= schema["maximum"]:
        # Here, not above: a command with the right numbers needs nothing of it.
        from asterism.operations.arguments import check_number

        check_number(flag, schema, value)


def flag_of(field: RequestField) -> str:
    """How the command line spells a field."""
    return field.option.flag or f"--{field.name.replace('_', '-')}"


def _add(parser: argparse.ArgumentParser, field: RequestField, when: str) -> None:
    option, schema = field.option, field.schema
    described: dict[str, Any] = {"help": when + (option.help or _sentence(schema))}
    if option.is_position:
        described["metavar"] = option.metavar or field.name.upper()
        if not field.required:
            described["nargs"] = "?"
        parser.add_argument(field.name, **described)
        return
    kind = schema.get("type")
    if kind == "boolean":
        parser.add_argument(flag_of(field), dest=field.name, action="store_true", **described)
        return
    if "default" in schema:
        described["default"] = schema["default"]
        usual = schema["default"]
        described["help"] += f" (default: {f'{usual:,}' if isinstance(usual, int) else usual})"
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
    parser.add_argument(flag_of(field), dest=field.name, **described)


def _sentence(schema: dict[str, Any]) -> str:
    """A description as the command line writes it."""
    text: str = schema["description"].removesuffix(".")
    return text[:1].lower() + text[1:]
