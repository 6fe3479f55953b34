"""Reads the arguments of a request from its JSON body, its query and its path."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from asterism.operations.operation import Operation
from asterism.operations.schema import Json
from asterism.servers.http.replies import HttpProblem, Refused

if TYPE_CHECKING:
    from starlette.requests import Request

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?")
_TRUTHS = {"true": True, "false": False}


MOST_SIGNS = 400_000
"""Brackets and commas of a body: each may be a value, and the event loop stands still while JSON of
millions of values is read. Code of 100,000 characters has some thousands of them."""


def crowded_body(body: bytes) -> HttpProblem | None:
    """The error for a body with too many values, found before it is parsed."""
    signs = sum(map(body.count, (b"[", b"{", b",")))
    if signs <= MOST_SIGNS:
        return None
    return HttpProblem(
        "too_large", f"The body has {signs:,} brackets and commas; give {MOST_SIGNS:,} at most."
    )


async def arguments_of(request: Request, operation: Operation) -> Json:
    """The arguments, not checked yet."""
    if request.method == "POST":
        return {**await json_body(request), **request.path_params}
    given: Json = {}
    for name in request.query_params:
        values = [
            _read(operation.parameters.get(name, {}), value)
            for value in request.query_params.getlist(name)
        ]
        given[name] = values[0] if len(values) == 1 else values
    return {**given, **request.path_params}


async def json_body(request: Request) -> Json:
    """The JSON object of a body; empty without a body."""
    data = await request.body()
    if not data.strip():
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(
            HttpProblem("not_json", "Send JSON arguments, with Content-Type: application/json.")
        )
    try:
        found = json.loads(data.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Refused(
            HttpProblem("malformed", "The body is not JSON in UTF-8; send an object of arguments.")
        ) from None
    if not isinstance(found, dict):
        raise Refused(HttpProblem("malformed", "The body is not an object; send one of arguments."))
    return found


def _no_number(word: str) -> Any:
    raise ValueError(word)


def _read(schema: Json, text: str) -> object:
    """A value of the query; one of the wrong type stays a text, which the check refuses."""
    kind = schema.get("type")
    if kind == "boolean":
        return _TRUTHS.get(text, text)
    if kind == "integer" and _WHOLE.fullmatch(text):
        return int(text)
    if kind == "number" and _NUMBER.fullmatch(text):
        return float(text)
    return text
