"""Fairness between clients: a queue in which they alternate, and limits for each of them.

A client can open a session for each request. Sessions of one address therefore alternate among
themselves, and have together as many turns as any other address.
"""

from collections import Counter
from collections.abc import Callable
from typing import Generic, TypeVar

from asterism.operations.dispatch.clients import Spender

REMEMBERED = 1_000
"""Clients and addresses whose last turn is remembered; one that is forgotten counts as new."""
MOST_OF_CLIENT = (1, 2)
"""The part of a limit that one client may use; the rest is left to others."""
MOST_OF_ADDRESS = (3, 4)
"""The part that all sessions of one address may use together."""

_Item = TypeVar("_Item")


def _any(_item: object) -> bool:
    return True


class FairQueue(Generic[_Item]):
    """What waits: next is the address, and of it the client, whose last turn is longest ago.

    Items of one client keep their order. Not thread-safe.
    """

    def __init__(self) -> None:
        self._waiting: dict[_Item, Spender] = {}
        self._turns = 0
        # The number of the last turn of each address (a text) and of each client.
        self._last: dict[str | Spender, int] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, item: _Item) -> bool:
        return item in self._waiting

    def add(self, item: _Item, client: Spender) -> None:
        """Let an item wait."""
        self._waiting[item] = client

    def remove(self, item: _Item) -> None:
        """An item waits no longer."""
        del self._waiting[item]

    def pop(self, may: Callable[[_Item], bool] = _any) -> _Item | None:
        """Remove the next of the items that may have a turn; None if there is no such item."""
        # The smallest is the first of its equals, so items of one client keep their order.
        found = min(filter(may, self._waiting), key=self._last_turns, default=None)
        if found is not None:
            self.note_turn(self._waiting.pop(found))
        return found

    def note_turn(self, client: Spender) -> None:
        """A client has a turn; called for those too that need not wait."""
        self._turns += 1
        for key in (client.group, client):
            self._last.pop(key, None)
            self._last[key] = self._turns
        while len(self._last) > REMEMBERED:
            del self._last[next(iter(self._last))]

    def _last_turns(self, item: _Item) -> tuple[int, int]:
        client = self._waiting[item]
        return self._last.get(client.group, 0), self._last.get(client, 0)


class Room:
    """So many at a time, of which one client or one address uses only a part. Not thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._used = 0
        self._of: Counter[str | Spender] = Counter()

    def is_full(self) -> bool:
        """Whether the limit is reached for every client."""
        return self._used >= self._most

    def has_room(self, client: Spender) -> bool:
        """Whether one more of this client may begin."""
        return (
            not self.is_full()
            and self._of[client] < _part(self._most, MOST_OF_CLIENT)
            and self._of[client.group] < _part(self._most, MOST_OF_ADDRESS)
        )

    def take(self, client: Spender) -> None:
        """One more begins."""
        self._used += 1
        self._of.update((client, client.group))

    def free(self, client: Spender) -> None:
        """One has ended."""
        self._used -= 1
        self._of.subtract((client, client.group))
        # A counter keeps those that are zero.
        for key in (client, client.group):
            if not self._of[key]:
                del self._of[key]


def _part(most: int, part: tuple[int, int]) -> int:
    """At least one of any limit that is not zero."""
    over, under = part
    return -(-most * over // under)
