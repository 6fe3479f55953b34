"""Which request a thread or task is working for, so that its lines in the log belong together."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# What a client may call its request: anything else would let it write into the log.
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")

_current: ContextVar[str] = ContextVar("asterism_request", default="")


def current_request() -> str:
    """The id of the request that is being answered; nothing outside of one."""
    return _current.get()


@contextmanager
def request(name: str | None = None) -> Iterator[str]:
    """Everything inside belongs to one request; inside another one it goes on with that.

    `name` is the id that a client gave it; one that is none gets a new one.
    """
    around = _current.get()
    if around:
        yield around
        return
    chosen = name if name and _NAME.fullmatch(name) else os.urandom(6).hex()
    token = _current.set(chosen)
    try:
        yield chosen
    finally:
        _current.reset(token)
