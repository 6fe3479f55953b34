"""Requests whose bodies are incomplete, with a limit in all and for each client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from asterism.servers.access import Identity

if TYPE_CHECKING:
    import anyio


class Bodies:
    """Slow requests; a new one ends an old one where there are too many.

    So a client that sends slowly costs the others nothing, and a request that is only in two pieces
    still comes through: it is not the oldest for long.
    """

    def __init__(self, at_once: int, of_one: int) -> None:
        self._at_once = at_once
        self._of_one = of_one
        # Dictionaries keep the order in which they were filled.
        self._waiting: dict[Identity, dict[anyio.CancelScope, None]] = {}
        self._count = 0

    @contextmanager
    def awaited(self, client: Identity) -> Iterator[anyio.CancelScope]:
        """A scope to wait in, which is cancelled when another request needs the place."""
        import anyio

        mine = self._waiting.setdefault(client, {})
        if len(mine) >= self._of_one:
            self._end_oldest(client)
        elif self._count >= self._at_once:
            self._end_oldest(max(self._waiting, key=lambda one: len(self._waiting[one])))
        # The oldest may have been the only one of this client.
        mine = self._waiting.setdefault(client, {})
        with anyio.CancelScope() as scope:
            mine[scope] = None
            self._count += 1
            try:
                yield scope
            finally:
                self._leave(client, scope)

    def _end_oldest(self, client: Identity) -> None:
        scope = next(iter(self._waiting[client]))
        self._leave(client, scope)
        scope.cancel()

    def _leave(self, client: Identity, scope: anyio.CancelScope) -> None:
        """Stop counting a body; one that was ended is not counted any more."""
        mine = self._waiting.get(client, {})
        if scope in mine:
            del mine[scope]
            self._count -= 1
        if not mine:
            self._waiting.pop(client, None)
