"""Do clients that wait alternate, and does one client leave a part to others?"""

import pytest

from asterism.operations.dispatch.clients import Spender
from asterism.operations.dispatch.fair_queue import REMEMBERED, FairQueue, Room

A, B, C = Spender("a"), Spender("b"), Spender("c")
SESSIONS = [Spender(f"session {number}", "address") for number in range(3)]


@pytest.mark.parametrize(
    ("waiting", "order"),
    [
        # Items of one client keep their order.
        ([A, A, A], [0, 1, 2]),
        ([A, A, A, B, B, C], [0, 3, 5, 1, 4, 2]),
        # Sessions of one address have together the turns of one client.
        ([*SESSIONS, A, A], [0, 3, 1, 4, 2]),
        ([SESSIONS[0], SESSIONS[0], SESSIONS[1], A], [0, 3, 2, 1]),
    ],
)
def test_clients_alternate(waiting: list[Spender], order: list[int]) -> None:
    queue: FairQueue[str] = FairQueue()
    for number, client in enumerate(waiting):
        queue.add(str(number), client)
    assert [queue.pop() for _ in waiting] == [*map(str, order)]
    assert (queue.pop(), len(queue)) == (None, 0)


def test_a_client_that_has_a_turn_comes_after_one_that_comes_later() -> None:
    queue: FairQueue[str] = FairQueue()
    queue.note_turn(A)
    queue.add("of a", A)
    queue.add("of b", B)
    assert queue.pop() == "of b"


def test_an_item_that_may_not_begin_is_passed_over_or_removed() -> None:
    queue: FairQueue[str] = FairQueue()
    for item, client in (("first", A), ("second", A), ("third", B)):
        queue.add(item, client)
    assert queue.pop(lambda item: item != "first") == "second"
    queue.remove("third")
    assert queue.pop(lambda item: item != "first") is None
    assert queue.pop() == "first"


def test_only_so_many_clients_are_remembered() -> None:
    queue: FairQueue[str] = FairQueue()
    for number in range(2 * REMEMBERED):
        queue.note_turn(Spender(str(number)))
    assert len(queue._last) == REMEMBERED


@pytest.mark.parametrize(
    ("most", "clients", "taken"),
    [
        # Half for one client, three quarters for the sessions of one address.
        (8, [A] * 8, 4),
        (8, SESSIONS * 3, 6),
        (8, [A] * 8 + [B] * 8, 8),
        (8, [*SESSIONS * 3, A, A, A], 8),
        (1, [A, B], 1),
        (0, [A], 0),
    ],
)
def test_one_client_leaves_a_part(most: int, clients: list[Spender], taken: int) -> None:
    room, inside = Room(most), []
    for client in clients:
        if room.has_room(client):
            room.take(client)
            inside.append(client)
    assert (len(inside), room.is_full()) == (taken, taken == most)
    for client in inside:
        room.free(client)
    assert (room._used, dict(room._of)) == (0, {})
