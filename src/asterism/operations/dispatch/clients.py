"""The client that a request is counted for, and the one that the current thread works for."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple


class Spender(NamedTuple):
    """A client that has a share of its own, and the address that it belongs to."""

    name: str
    """An MCP session, else the user or the address that the gate identified."""
    address: str = ""
    """Set for a session only: the user or address, whose sessions have a limit together."""

    @property
    def group(self) -> str:
        """The address, also of a client that is no session."""
        return self.address or self.name


LOCAL = Spender("local")
"""The client where there is only one: `asterism mcp` and programs."""

_current: ContextVar[Spender] = ContextVar("asterism_client", default=LOCAL)


def current_client() -> Spender:
    """The client that the current thread works for."""
    return _current.get()


@contextmanager
def working_for(client: Spender) -> Iterator[None]:
    """What the current thread does inside is work for the client."""
    token = _current.set(client)
    try:
        yield
    finally:
        _current.reset(token)
