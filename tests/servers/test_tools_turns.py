"""Do those who wait for a project get their turns in the order of their coming?"""

from threading import Event, Thread

import pytest

from asterism.servers.tools_turns import Turns


def test_whoever_waits_longest_is_next() -> None:
    turns, order = Turns(), list[int]()
    threads = []
    with turns:
        for number in range(20):
            waiting = Thread(target=_take, args=(turns, order, number))
            waiting.start()
            threads.append(waiting)
            # Not before the one before stands in line.
            while len(turns._waiting) <= number:
                Event().wait(0.001)
    for thread in threads:
        thread.join()
    assert order == [*range(20)]


def test_a_failure_hands_it_on() -> None:
    turns, order = Turns(), list[int]()
    with pytest.raises(ZeroDivisionError), turns:
        raise ZeroDivisionError
    _take(turns, order, 1)
    assert order == [1]


def _take(turns: Turns, order: list[int], number: int) -> None:
    with turns:
        order.append(number)
