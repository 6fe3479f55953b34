"""Does a query end when its time is over or its client is gone, and at the sooner of two?"""

from threading import Thread

import pytest

from asterism.types.deadlines import (
    check_deadline,
    current_deadline,
    limited_to,
    without_deadline,
    work_begun,
)
from asterism.types.errors import AsterismError, Cancelled, DeadlineExceeded, WaitedTooLong


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_outside_of_a_query_nothing_ends() -> None:
    assert current_deadline() is None
    check_deadline()


def test_it_ends_when_its_time_is_over() -> None:
    clock = Clock()
    with limited_to(5, clock=clock) as deadline:
        clock.now = 4.9
        check_deadline()
        assert (deadline.is_over(), round(deadline.left(), 3)) == (False, 0.1)
        clock.now = 5.0
        assert (deadline.is_over(), deadline.left()) == (True, 0.0)
        with pytest.raises(DeadlineExceeded, match="longer than the 5 s"):
            check_deadline()
    check_deadline()


@pytest.mark.parametrize(
    ("waited", "error", "words"),
    [
        (6.0, WaitedTooLong, "waited 6.0 s for other queries, of the 10 s"),
        # What worked longer than it waited is too expensive all the same.
        (4.0, DeadlineExceeded, "longer than the 10 s"),
    ],
)
def test_waiting_counts_and_is_told(waited: float, error: type[AsterismError], words: str) -> None:
    clock = Clock()
    with limited_to(10, clock=clock, arrived=0.0):
        clock.now = waited
        with work_begun(), limited_to(30, clock=clock) as deadline:
            assert deadline.left() == 10 - waited
            clock.now = 10.0
            with pytest.raises(error, match=words):
                check_deadline()


@pytest.mark.parametrize("now", [10.0, 25.0])
def test_work_does_not_begin_after_its_deadline(now: float) -> None:
    clock = Clock()
    with limited_to(10, clock=clock, arrived=0.0):
        clock.now = now
        with pytest.raises(WaitedTooLong), work_begun():
            pytest.fail("it began")
    with pytest.raises(WaitedTooLong), limited_to(10, clock=clock, arrived=0.0):
        pytest.fail("it began")


def test_it_ends_when_its_client_is_gone() -> None:
    left: list[bool] = []
    with limited_to(5, lambda: bool(left)):
        check_deadline()
        left.append(True)
        with pytest.raises(Cancelled):
            check_deadline()


@pytest.mark.parametrize(("outer", "inner"), [(5, 9), (9, 5)])
def test_the_sooner_of_two_counts(outer: float, inner: float) -> None:
    clock = Clock()
    left: list[bool] = []
    with limited_to(outer, lambda: bool(left), clock), limited_to(inner, clock=clock) as deadline:
        assert deadline.left() == 5
        left.append(True)
        # The client of the outer one is the client of both.
        with pytest.raises(Cancelled):
            check_deadline()


def test_what_begins_too_late_does_not_begin() -> None:
    clock = Clock()
    with limited_to(5, clock=clock):
        clock.now = 6
        with pytest.raises(DeadlineExceeded), limited_to(9, clock=clock):
            pytest.fail("it began")


def test_what_has_to_be_finished_is_finished() -> None:
    with limited_to(5, lambda: current_deadline() is None), without_deadline():
        check_deadline()


def test_another_thread_has_none() -> None:
    seen: list[object] = [0]

    def look() -> None:
        seen[0] = current_deadline()

    with limited_to(5):
        thread = Thread(target=look)
        thread.start()
        thread.join()
    assert seen == [None]
