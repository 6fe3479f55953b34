"""Measured operations: time, outcome and a line in the log for each."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from asterism.telemetry.events import log_event, request
from asterism.telemetry.meters import (
    DROPPED,
    ERRORS,
    IN_FLIGHT,
    NEAR_LIMIT,
    NEAR_LIMITS,
    OPERATIONS,
    PROVIDER_RETRIES,
    REPLIES,
    REQUESTS,
    TOOLS,
    TRUNCATIONS,
    UTILISATION,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplySize:
    """The size of a reply and what was truncated."""

    surface: str
    """The tool, or `search` for the selection of the engine."""
    utilisation: float
    """The used share of the fullest limit, 0 to 1."""
    reason: str | None = None
    """The limit that took something away, in the words of `truncation_info`."""
    chars: int = 0
    limit_chars: int = 0
    original_count: int = 0
    returned_count: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Hits that were left out, by reason."""


def record_reply(reply: ReplySize) -> None:
    """Count a reply; a truncation is a warning in the log, a nearly full reply a line."""
    REPLIES.add(reply.surface)
    UTILISATION.observe(reply.surface, value=reply.utilisation)
    for reason, count in reply.dropped.items():
        DROPPED.add(reply.surface, reason, amount=count)
    if reply.reason is not None:
        TRUNCATIONS.add(reply.surface, reply.reason)
        _log("truncated", logging.WARNING, reply)
    elif reply.utilisation > NEAR_LIMIT:
        NEAR_LIMITS.add(reply.surface)
        _log("near_limit", logging.INFO, reply)


def _log(event: str, level: int, reply: ReplySize) -> None:
    log_event(
        event,
        level,
        surface=reply.surface,
        reason=reply.reason,
        utilisation=round(reply.utilisation, 3),
        chars=reply.chars,
        limit_chars=reply.limit_chars,
        original_count=reply.original_count,
        returned_count=reply.returned_count,
    )


OK = "ok"


class MeasuredOperation:
    """Measures what happens inside: `with Operation("search", "hybrid") as done: …`.

    It is a request of its own unless it is part of one.
    """

    __slots__ = ("_began", "_request", "fields", "level", "mode", "name", "outcome")

    def __init__(self, name: str, mode: str = "", level: int = logging.INFO) -> None:
        """`level` is that of its line in the log if it succeeds."""
        self.name = name
        self.mode = mode
        self.level = level
        self.outcome = OK
        self.fields: dict[str, object] = {}
        self._request = request()
        self._began = 0.0

    def note(self, **fields: object) -> None:
        """Add to its line in the log."""
        self.fields |= fields

    def __enter__(self) -> Self:
        """Begin."""
        self._request.__enter__()
        self._began = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End; an exception passes through."""
        seconds = time.perf_counter() - self._began
        if kind is not None and error is not None:
            self.outcome = "error"
            ERRORS.add(self.name, kind.__name__)
            self.note(error=kind.__name__, message=_own_words(error))
        self.measure(seconds)
        mode = {"mode": self.mode} if self.mode else {}
        level = self.level if kind is None else logging.WARNING
        self.log(level, **mode, outcome=self.outcome, seconds=seconds, **self.fields)
        self._request.__exit__(kind, error, trace)

    def measure(self, seconds: float) -> None:
        """Into the histogram of operations."""
        OPERATIONS.observe(self.name, self.mode, self.outcome, value=seconds)

    def log(self, level: int, **fields: object) -> None:
        """Its line."""
        log_event(self.name, level, **fields)


class MeasuredCall(MeasuredOperation):
    """A call of a tool, with its parameters in the log.

    A server that answers with an error instead of raising one sets `outcome` to the error's code.
    """

    __slots__ = ()

    def __init__(self, tool: str, parameters: dict[str, object], name: str | None = None) -> None:
        """`name` is the client's own id of the request, if it gave one."""
        super().__init__(tool)
        self._request = request(name)
        self.note(parameters={key: value for key, value in parameters.items() if value is not None})

    def __enter__(self) -> Self:
        """Begin."""
        IN_FLIGHT.add()
        return super().__enter__()

    def measure(self, seconds: float) -> None:
        """Into the histogram of tools."""
        IN_FLIGHT.add(amount=-1)
        TOOLS.observe(self.name, self.outcome, value=seconds)

    def log(self, level: int, **fields: object) -> None:
        """Its line; an error reply is a warning."""
        level = level if self.outcome == OK else logging.WARNING
        log_event("tool", level, tool=self.name, **fields)


def record_http(route: str, method: str, status: int, seconds: float) -> None:
    """Count a request; `route` is the declared one, for a path as typed could be anything."""
    REQUESTS.observe(route, method, str(status), value=seconds)
    level = logging.WARNING if status >= 500 else logging.DEBUG
    log_event("http", level, route=route, method=method, status=status, seconds=seconds)


def record_retry(kind: str, provider: str, reason: str) -> None:
    """Count a request to a model that is sent again."""
    PROVIDER_RETRIES.add(kind)
    log_event("retry", logging.WARNING, kind=kind, provider=provider, reason=reason)


def _own_words(error: BaseException) -> str | None:
    """The message of an Asterism error; messages of other errors may quote anything."""
    return str(error) if type(error).__module__.startswith("asterism.") else None
