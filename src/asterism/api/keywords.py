"""Keyword arguments of the Python API, read by what the requests of operations declare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar

from asterism.engine.chat.requests import AskRequest
from asterism.engine.sessions import ContextRequest
from asterism.operations.chat_requests import Ask, ContextOf
from asterism.operations.requests import engine_request
from asterism.operations.schema import Json, request_fields
from asterism.types.errors import UsageError
from asterism.types.request_limits import FIELDS, check_text
from asterism.types.search import Filters

RoleName: TypeAlias = Literal["definition", "export", "import", "usage"]
_Request = TypeVar("_Request")


class AskKeywords(TypedDict, total=False):
    """Of `Codebase.ask`."""

    conversation: str
    agent: str
    model: str
    request_id: str
    retries: int | None


class RequestKeywords(TypedDict, total=False):
    """Of `asterism.context_for`."""

    agent: str
    session: str | None
    max_tokens: int
    code_hits: int
    min_score: float | None
    connect: bool


def request_of(
    request: type[_Request], given: Mapping[str, object]
) -> tuple[_Request, dict[str, object]]:
    """The request record with these values, each of its field's type, and the filters beside them.

    None means that nothing was given. Bounds are checked by what answers the request.
    """
    declared = {field.name: field for field in request_fields(request)}
    read: dict[str, Any] = {}
    filters: dict[str, object] = {}
    for name, value in given.items():
        if name not in declared or name in Filters.__annotations__:
            filters[name] = value
        elif value is not None or declared[name].required:
            read[name] = _READERS[_kind(declared[name].schema)](name, value)
            check_choice(name, declared[name].schema, read[name])
    return request(**read), filters


def text(name: str, value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise UsageError(f"{name} is {value!r:.80}; give a text.")
    return check_text(name, value) if name in FIELDS else value


def texts(name: str, value: object) -> list[str]:
    """Texts, given as one or as several."""
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list | tuple | set | frozenset):
        raise UsageError(f"{name} is {value!r:.80}; give a text or a list of texts.")
    return [text(f"an entry of {name}", each) for each in given]


def whole(name: str, value: object) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{name} is {value!r:.80}; give a whole number.")
    return value


def number(name: str, value: object) -> float:
    """A number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{name} is {value!r:.80}; give a number.")
    return float(value)


def check_choice(name: str, schema: Json, value: object) -> None:
    """Refuse a word that is not among those of the field."""
    known = schema.get("anyOf", [schema])[0].get("enum")
    for word in value if isinstance(value, list) else [value]:
        if known is not None and word not in known:
            words = ", ".join(known)
            raise UsageError(f"There is no {name} {word!r:.80}; there are {words}.")


def _switch(_name: str, value: object) -> bool:
    return bool(value)


def _kind(schema: Json) -> str:
    return "array" if "anyOf" in schema else str(schema["type"])


_READERS = {
    "string": text,
    "array": texts,
    "integer": whole,
    "number": number,
    "boolean": _switch,
}


_DECLARED = {
    "conversation": "conversationId",
    "agent": "agentName",
    "request_id": "requestId",
}
"""Keywords that the operation `ask` calls otherwise."""


def ask_request(question: object, options: Mapping[str, object]) -> AskRequest:
    """A question with its options, each of the right type."""
    _check_known("ask", options, AskKeywords)
    given = {_DECLARED.get(name, name): value for name, value in options.items()}
    asked, _ = request_of(Ask, {**given, "question": question})
    return engine_request(asked, AskRequest)


def context_request(request: object, options: Mapping[str, object]) -> ContextRequest:
    """What is asked for, each option of the right type; None means that it is not given."""
    _check_known("context_for", options, RequestKeywords)
    asked, _ = request_of(ContextOf, {**options, "message": text("request", request)})
    return engine_request(asked, ContextRequest)


def _check_known(function: str, options: Mapping[str, object], declared: type) -> None:
    unknown = [*options.keys() - declared.__annotations__.keys()]
    if unknown:
        raise TypeError(f"{function}() got an unexpected keyword argument {unknown[0]!r}")
