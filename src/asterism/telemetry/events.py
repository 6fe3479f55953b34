"""Lines for the log: what happened, with fields, under the request it belongs to."""

import json
import logging
import re

from asterism.telemetry.redaction import loggable
from asterism.telemetry.requests import current_request

_ENDS_A_WORD = re.compile(r'[\s"=]')

FIELD_AT_MOST = 4_000
"""Characters of one field with all that is in it."""

LOGGER = logging.getLogger("asterism")
"""Programs that use Asterism as a library can listen here; by itself it says nothing."""
LOGGER.addHandler(logging.NullHandler())


class Event:
    """One thing that happened; as a text only when somebody reads it."""

    __slots__ = ("fields", "name", "request")

    def __init__(self, name: str, fields: dict[str, object], request: str) -> None:
        """The fields as they came; what may not be shown is left out on reading."""
        self.name = name
        self.fields = fields
        self.request = request

    def shown(self) -> dict[str, object]:
        """The fields as a log may show them; those without a value are left out."""
        return {
            name: _bounded(loggable(name, value))
            for name, value in self.fields.items()
            if value is not None
        }

    def __str__(self) -> str:
        """On one line: `search mode=hybrid seconds=0.012`."""
        shown = {**({"request": self.request} if self.request else {}), **self.shown()}
        return " ".join([self.name, *(f"{name}={_word(value)}" for name, value in shown.items())])


def log_event(name: str, level: int = logging.INFO, **fields: object) -> None:
    """Log what happened; where nobody listens, nothing is made of it."""
    if LOGGER.isEnabledFor(level):
        LOGGER.log(level, "%s", Event(name, fields, current_request()))


def log_failure(name: str, error: BaseException, **fields: object) -> None:
    """Log an error that nobody foresaw, with the place in the program where it happened."""
    event = Event(name, {"error": type(error).__name__, **fields}, current_request())
    LOGGER.error("%s", event, exc_info=error)


def _bounded(value: object) -> object:
    """Short as each part may be, many of them make a long line."""
    if isinstance(value, dict | list):
        size = len(json.dumps(value))
        return value if size <= FIELD_AT_MOST else f"<{size} characters>"
    return value


def one_line(value: object) -> str:
    """As JSON without anything that a reader could take for the end of a line."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value).replace("\x7f", "\\u007f")


def _word(value: object) -> str:
    if isinstance(value, str) and value.isprintable() and not _ENDS_A_WORD.search(value):
        return value or '""'
    return one_line(value)
