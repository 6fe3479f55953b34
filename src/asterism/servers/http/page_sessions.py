"""Sessions of pages in a browser: a code that opens one, once, then a cookie and a key together.

A cookie goes to every port of a host, so another user's server on this machine could be sent it.
A page therefore also shows a key, which it keeps in the storage of its own origin and port. Neither
is worth anything alone, and neither is ever in an address.
"""

import hashlib
import secrets
import time
from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

CODE_SECONDS = 60.0
"""Short, because the browser that uses the code opens at once."""
MOST_CODES = 16
IDLE_SECONDS = 12 * 3600.0
"""A session without a request for this long ends; longer than the breaks of a working day."""
MOST_SESSIONS = 64
"""Browsers and private windows of one user; the one that was idle longest is closed."""
_BYTES = 32


class Opened(NamedTuple):
    """The cookie and the key that a page gets for a code."""

    cookie: str
    key: str


class PageSessions:
    """The sessions of one server; they end with it. Only digests are kept."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        # Both by age: dictionaries keep the order in which they were filled.
        self._codes: dict[bytes, float] = {}
        self._sessions: dict[bytes, float] = {}

    def code(self) -> str:
        """A new code, for a client that may use the server already."""
        made = secrets.token_urlsafe(_BYTES)
        with self._lock:
            self._forget()
            if len(self._codes) >= MOST_CODES:
                del self._codes[next(iter(self._codes))]
            self._codes[_digest(made)] = self._clock() + CODE_SECONDS
        return made

    def open(self, code: str) -> Opened | None:
        """A session for an unused code; None for any other."""
        with self._lock:
            self._forget()
            if self._codes.pop(_digest(code), None) is None:
                return None
            if len(self._sessions) >= MOST_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            made = Opened(secrets.token_urlsafe(_BYTES), secrets.token_urlsafe(_BYTES))
            self._sessions[_digest(*made)] = self._clock() + IDLE_SECONDS
        return made

    def holds(self, cookie: str, key: str) -> bool:
        """Whether a page sends its cookie and key; each request extends its session."""
        found = _digest(cookie, key)
        with self._lock:
            self._forget()
            if self._sessions.pop(found, None) is None:
                return False
            self._sessions[found] = self._clock() + IDLE_SECONDS
        return True

    def end(self, cookie: str, key: str) -> None:
        """Close a session."""
        with self._lock:
            self._sessions.pop(_digest(cookie, key), None)

    def _forget(self) -> None:
        """Drop expired codes and sessions."""
        now = self._clock()
        for kept in (self._codes, self._sessions):
            for digest in [digest for digest, until in kept.items() if until <= now]:
                del kept[digest]


def _digest(*parts: str) -> bytes:
    """Secrets are looked up by digest, so that timing reveals nothing about them."""
    whole = "\0".join(parts).encode("utf-8", "surrogateescape")
    return hashlib.sha256(whole).digest()
