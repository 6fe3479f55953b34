"""How much of the processor each client of the HTTP server may use: a share of a moving window."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, get_ident
from typing import TYPE_CHECKING

from asterism.operations.dispatch.clients import LOCAL, Spender, working_for
from asterism.servers.access import Identity, IdentityKind
from asterism.types.deadlines import HelperTime, helpers_counted
from asterism.types.errors import ShareExceeded

if TYPE_CHECKING:
    from starlette.requests import Request

MOST_CLIENTS = 10_000
"""Clients that are remembered; the least recent ones are forgotten."""
SESSIONS_OF_AN_ADDRESS = 4
"""All sessions of one address together may use as much as this many clients; otherwise a client
could open a session for every query."""
_HALVINGS = 40

Meter = Callable[[], float]
"""Processor seconds of one thread so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareOptions:
    """The processor time that a client may use."""

    seconds: float = 5.0
    """Of one core, in each window; 0 sets no limit."""
    window: float = 10.0


@dataclass(slots=True)
class _Spell:
    """One query of a client; its processor time counts as spread over it evenly."""

    begin: float
    meter: Meter
    start: float
    helpers: HelperTime
    end: float | None = None
    seconds: float = 0.0

    def within(self, first: float, last: float, now: float) -> float:
        """The processor time that falls between two moments."""
        end = now if self.end is None else self.end
        used = self._so_far() if self.end is None else self.seconds
        length = end - self.begin
        if length <= 0:
            return used if first <= end <= last else 0.0
        return used * max(0.0, min(last, end) - max(first, self.begin)) / length

    def finish(self, now: float) -> None:
        """The query is over."""
        self.seconds = self._so_far()
        self.end = now

    def _so_far(self) -> float:
        return max(0.0, self.meter() - self.start) + self.helpers.seconds


@dataclass(slots=True)
class Shares:
    """The recent processor time of each client; thread-safe."""

    options: ShareOptions = field(default_factory=ShareOptions)
    clock: Callable[[], float] = time.monotonic
    meter_of_thread: Callable[[], Meter] = field(default_factory=lambda: thread_meter)
    _spells: dict[str, deque[_Spell]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def check(self, client: Spender) -> None:
        """Raise `ShareExceeded`, with the time to wait, for a client that used its share."""
        if not self.options.seconds:
            return
        with self._lock:
            wait = self._wait(client.name, self.options.seconds)
            if client.address:
                together = SESSIONS_OF_AN_ADDRESS * self.options.seconds
                wait = max(wait, self._wait(client.address, together))
        if wait > 0:
            raise ShareExceeded(
                f"This client used more than {self.options.seconds:g} s of processor time in "
                f"{self.options.window:g} s; ask again in {wait:.1f} s, with fewer or narrower "
                "queries.",
                wait,
            )

    @contextmanager
    def counted(self, client: Spender) -> Iterator[None]:
        """Counts what the current thread does inside as work for the client, which it is."""
        meter = self.meter_of_thread()
        with helpers_counted() as helpers, working_for(client):
            spell = _Spell(self.clock(), meter, meter(), helpers)
            with self._lock:
                for name in filter(None, client):
                    self._of(name).append(spell)
            try:
                yield
            finally:
                with self._lock:
                    spell.finish(self.clock())

    def _of(self, name: str) -> deque[_Spell]:
        """A client's queries; moves the client to the end of the order of forgetting."""
        spells = self._spells.pop(name, None) or deque()
        self._spells[name] = spells
        while len(self._spells) > MOST_CLIENTS:
            del self._spells[next(iter(self._spells))]
        return spells

    def _wait(self, name: str, allowed: float) -> float:
        """Seconds until the client is within what it may; 0 where it is now."""
        spells = self._spells.get(name)
        if not spells:
            return 0.0
        now, window = self.clock(), self.options.window
        while spells and (end := spells[0].end) is not None and end <= now - window:
            spells.popleft()

        def used(later: float) -> float:
            first, last = now + later - window, now + later
            return sum(spell.within(first, last, now) for spell in spells)

        if used(0.0) < allowed:
            return 0.0
        # What the window holds only shrinks while the client waits.
        low, high = 0.0, window
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if used(middle) < allowed else (middle, high)
        return high


def thread_meter() -> Meter:
    """The processor time of the current thread, which another thread may ask for as well."""
    if hasattr(time, "pthread_getcpuclockid"):
        clock = time.pthread_getcpuclockid(get_ident())
        return lambda: time.clock_gettime(clock)
    # Elsewhere only the thread itself knows; to others its query counts when it is over.
    own, last = get_ident(), time.thread_time()

    def meter() -> float:
        return time.thread_time() if get_ident() == own else last

    return meter


def spender_of(request: Request | None, *, is_session: bool = False) -> Spender:
    """The client that sent a request, as the gate identified it.

    A session counts only where the protocol has checked it. A header that the gate did not check
    counts for nothing: a client could send another one with every request.
    """
    if request is None:
        return LOCAL
    identity: Identity | None = request.scope.get("state", {}).get("identity")
    host = request.client.host if request.client else ""
    address = f"{identity.kind} {identity.name}" if identity else f"{IdentityKind.anyone} {host}"
    session = request.headers.get("mcp-session-id", "") if is_session else ""
    return Spender(f"session {session[:200]}", address) if session else Spender(address)
