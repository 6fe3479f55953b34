"""Whether a frame is a message of JSON-RPC, and the error to answer where it is not.

A client that is not answered waits for ever, so every frame that is not a message gets an error; it
bears the request's id where that can be read. Nothing here loads the SDK.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from asterism.operations.schema import Json

PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602

FRAME_BYTES = 4_194_304
"""Of a message over a pipe: as much as a request has over HTTP by default."""
DEEPEST = 64
"""Lists and objects inside each other: no tool has arguments half as deep, and the SDK's parser
ends at two hundred."""
LARGEST_ID = 2**63
LONGEST_ID = 1_000
"""Characters of an id that is a text; it comes back in every reply."""

_BOM = b"\xef\xbb\xbf"
_BRACKETS = re.compile(r"[\[\]{}]")

Id: TypeAlias = int | str | None


class Broken(NamedTuple):
    """The error that answers a broken frame."""

    code: int
    message: str
    id: Id = None

    def reply(self) -> str:
        """The answer, on one line."""
        error = {"code": self.code, "message": self.message}
        reply = {"jsonrpc": "2.0", "id": self.id, "error": error}
        return json.dumps(reply, separators=(",", ":"))


def message_in(frame: bytes, most: int = FRAME_BYTES) -> str | Broken | None:
    """The text of a message, the error to answer, or None if the frame needs no answer.

    Blank frames are ignored. A notification with wrong parameters gets no answer, as for every
    notification.
    """
    plain = frame.removeprefix(_BOM).strip(b" \t\r\n")
    if not plain:
        return None
    if len(plain) > most:
        return Broken(PARSE_ERROR, f"A message may have {most:,} bytes; send less.")
    try:
        text, flaw = plain.decode("utf-8"), ""
    except UnicodeDecodeError:
        # The rest is still read, for the id that the client waits for.
        text, flaw = plain.decode("utf-8", "replace"), "The message is not UTF-8."
    if _depth(text) > DEEPEST:
        return Broken(PARSE_ERROR, f"Lists and objects may be {DEEPEST} deep; send a flatter one.")
    numbers = _Numbers()
    try:
        value = json.loads(text, parse_constant=numbers.constant, parse_float=numbers.floating)
    except (ValueError, RecursionError):
        flaw = flaw or "The message is not JSON; send one object on one line."
        return Broken(PARSE_ERROR, flaw)
    if numbers.odd:
        flaw = flaw or f"{numbers.odd[0][:40]} is no number of JSON that can be kept."
    if not flaw and any(map(_is_halved, _texts(value))):
        flaw = "A text has half of a pair of surrogates; send whole characters."
    if flaw:
        return Broken(PARSE_ERROR, flaw, _id_of(value))
    return _checked(value, text)


def _checked(value: object, text: str) -> str | Broken | None:
    """The message, or the error for JSON that is not a message."""
    if isinstance(value, list):
        said = "Messages come one by one; send each on a line of its own."
        return Broken(INVALID_REQUEST, said)
    if not isinstance(value, dict):
        return Broken(INVALID_REQUEST, "A message is an object; send one.")
    id_ = _id_of(value)
    if value.get("jsonrpc") != "2.0":
        return Broken(INVALID_REQUEST, 'A message has "jsonrpc": "2.0".', id_)
    if "id" in value and id_ is None and "error" not in value:
        return Broken(INVALID_REQUEST, "An id is a whole number or a text.")
    if "method" not in value:
        return _answer(value, text)
    if not isinstance(value["method"], str):
        return Broken(INVALID_REQUEST, "A method is a text.", id_)
    if not isinstance(value.get("params", {}), dict | None):
        said = "The parameters of a method are an object."
        return Broken(INVALID_PARAMS, said, id_) if "id" in value else None
    return text


def _answer(value: Json, text: str) -> str | Broken:
    """A client's reply; an error about it has no id, since the id is of a server's request."""
    is_result = "id" in value and isinstance(value.get("result"), dict)
    error = value.get("error")
    is_error = (
        isinstance(error, dict)
        and type(error.get("code")) is int
        and isinstance(error.get("message"), str)
        and "id" in value
    )
    if is_result != is_error:
        return text
    if "result" in value or "error" in value:
        return Broken(INVALID_REQUEST, "An answer has an id, and either a result or an error.")
    return Broken(INVALID_REQUEST, "A message has a method, a result or an error.", _id_of(value))


def _id_of(value: object) -> Id:
    """The id of a message, if it has one of the right kind."""
    found = value.get("id") if isinstance(value, dict) else None
    if type(found) is int:
        return found if abs(found) < LARGEST_ID else None
    if isinstance(found, str):
        return found if len(found) <= LONGEST_ID and not _is_halved(found) else None
    return None


class _Numbers:
    """Reads numbers and records those that JSON does not have or that are too large."""

    def __init__(self) -> None:
        self.odd: list[str] = []

    def constant(self, word: str) -> float:
        """`NaN` and the infinities, which some programs write."""
        self.odd.append(word)
        return 0.0

    def floating(self, word: str) -> float:
        """A number with a point or an exponent."""
        number = float(word)
        return number if math.isfinite(number) else self.constant(word)


def _texts(value: object) -> Iterator[str]:
    """Every text and every name in a value."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list):
            pending.extend(one)
        elif isinstance(one, dict):
            yield from one
            pending.extend(one.values())


def _is_halved(text: str) -> bool:
    """Whether a text cannot be written as UTF-8; JSON can escape half of a surrogate pair."""
    return not text.isascii() and any("\ud800" <= one <= "\udfff" for one in text)


def _depth(text: str) -> int:
    """How deep lists and objects are nested; brackets inside strings do not count."""
    deepest = depth = 0
    for part in _outside(text):
        for bracket in _BRACKETS.findall(part):
            depth += 1 if bracket in "[{" else -1
            deepest = max(deepest, depth)
    return deepest


def _outside(text: str) -> Iterator[str]:
    """The parts of a text of JSON that are in no quotes."""
    at = 0
    while (quote := text.find('"', at)) >= 0:
        yield text[at:quote]
        end = quote + 1
        while (end := text.find('"', end)) >= 0:
            before = end
            while text[before - 1] == "\\":
                before -= 1
            end += 1
            if (end - 1 - before) % 2 == 0:
                break
        if end < 0:
            return
        at = end
    yield text[at:]
