"""Do threads that wait for a project get their turns fairly, in time, and only while needed?"""

import time
from collections.abc import Sequence
from threading import Event, Thread

import pytest

from asterism.operations.dispatch.clients import LOCAL, Spender, working_for
from asterism.operations.dispatch.project_turns import ProjectTurns
from asterism.types.deadlines import limited_to, work_begun
from asterism.types.errors import AsterismError, Cancelled, WaitedTooLong

A, B = Spender("a"), Spender("b")


@pytest.mark.parametrize(
    ("clients", "expected"),
    [
        ([LOCAL] * 20, [*range(20)]),
        # The turn that is held when they come is of client a.
        ([A, A, A, A, B, B], [4, 0, 5, 1, 2, 3]),
    ],
)
def test_clients_alternate_and_keep_their_order(
    clients: Sequence[Spender], expected: list[int]
) -> None:
    turns, order = ProjectTurns(), list[int]()
    threads = []
    with working_for(A), turns:
        for number, client in enumerate(clients):
            waiting = Thread(target=_take, args=(turns, order, number, client))
            waiting.start()
            threads.append(waiting)
            _until_waiting(turns, number + 1)
    for thread in threads:
        thread.join()
    assert order == expected


def test_a_failure_hands_it_on() -> None:
    turns, order = ProjectTurns(), list[int]()
    with pytest.raises(ZeroDivisionError), turns:
        raise ZeroDivisionError
    _take(turns, order, 1)
    assert order == [1]


@pytest.mark.parametrize(
    ("seconds", "leaves", "error"), [(0.1, False, WaitedTooLong), (600, True, Cancelled)]
)
def test_a_query_that_waits_in_vain_ends_and_does_not_begin(
    seconds: float, leaves: bool, error: type[AsterismError]
) -> None:
    turns, gone, failures = ProjectTurns(), Event(), list[AsterismError]()

    def ask() -> None:
        limit = limited_to(seconds, gone.is_set, arrived=time.monotonic())
        try:
            with limit, turns, work_begun():
                pytest.fail("it began")
        except AsterismError as raised:
            failures.append(raised)

    with turns:
        waiting = Thread(target=ask)
        waiting.start()
        if leaves:
            _until_waiting(turns, 1)
            gone.set()
        waiting.join()
    assert [type(failure) for failure in failures] == [error]
    # The turn is free again.
    _take(turns, [], 0)


def _until_waiting(turns: ProjectTurns, number: int) -> None:
    while len(turns._waiting) < number:
        Event().wait(0.001)


def _take(turns: ProjectTurns, order: list[int], number: int, client: Spender = LOCAL) -> None:
    with working_for(client), turns:
        order.append(number)
