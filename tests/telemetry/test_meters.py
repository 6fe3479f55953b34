"""Do meters count exactly, from any number of threads, and stay small?"""

import math
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.telemetry.meters import (
    OTHER,
    SERIES_AT_MOST,
    Computed,
    Counter,
    Gauge,
    Histogram,
    MeterKind,
    MeterReading,
)


def test_a_counter_counts_by_labels_and_never_falls() -> None:
    calls = Counter("calls_total", "Calls.", ("tool", "outcome"))
    calls.add("b", "ok")
    calls.add("a", "ok", amount=2.5)
    calls.add("a", "ok", amount=0)
    calls.add("a", "ok", amount=-7)
    assert calls.readings() == [MeterReading(("a", "ok"), 2.5), MeterReading(("b", "ok"), 1.0)]
    assert (calls.value("a", "ok"), calls.value("c", "ok")) == (2.5, 0.0)


def test_a_gauge_goes_both_ways() -> None:
    busy = Gauge("busy", "Busy.")
    busy.add()
    busy.add()
    busy.add(amount=-1)
    assert busy.value() == 1
    busy.set(value=7.5)
    assert busy.readings() == [MeterReading((), 7.5)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (-1.0, (1, 0, 0)),
        (0.5, (1, 0, 0)),
        (1.0, (1, 0, 0)),
        (1.01, (0, 1, 0)),
        (2.0, (0, 1, 0)),
        (99.0, (0, 0, 1)),
    ],
)
def test_an_observation_falls_below_the_bound_it_equals(
    value: float, expected: tuple[int, ...]
) -> None:
    sizes = Histogram("sizes", "Sizes.", (1.0, 2.0))
    sizes.observe(value=value)
    assert sizes.readings() == [MeterReading((), value, expected)]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_not_observed(value: float) -> None:
    sizes = Histogram("sizes", "Sizes.", (1.0,))
    sizes.observe(value=value)
    assert sizes.readings() == []


@given(st.lists(st.floats(-10, 10)))
def test_a_histogram_loses_nothing(values: list[float]) -> None:
    sizes = Histogram("sizes", "Sizes.", (-1.0, 0.0, 2.5))
    for value in values:
        sizes.observe(value=value)
    (reading,) = sizes.readings() or [MeterReading((), 0.0, (0, 0, 0, 0))]
    assert reading.observed == len(values)
    assert reading.counts[0] == sum(value <= -1 for value in values)
    assert reading.value == pytest.approx(sum(values))


def test_threads_do_not_lose_a_count() -> None:
    calls = Counter("calls_total", "Calls.", ("thread",))
    seconds = Histogram("seconds", "Seconds.", (1.0,))

    def work(name: str) -> None:
        for _ in range(5_000):
            calls.add(name)
            calls.add("all")
            seconds.observe(value=0.5)

    threads = [Thread(target=work, args=(str(number),)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert calls.value("all") == 30_000
    assert [calls.value(str(number)) for number in range(6)] == [5_000] * 6
    assert seconds.readings() == [MeterReading((), 15_000.0, (30_000, 0))]


def test_labels_without_end_are_counted_together() -> None:
    paths = Counter("paths_total", "Paths.", ("path", "method"))
    for number in range(SERIES_AT_MOST + 50):
        paths.add(f"/{number}", "GET")
    paths.add("/3", "GET")
    assert len(paths.readings()) == SERIES_AT_MOST + 1
    assert paths.value(OTHER, OTHER) == 50
    assert paths.value("/3", "GET") == 2


def test_a_label_too_few_is_a_mistake() -> None:
    with pytest.raises(ValueError, match=r"calls_total has the labels \('tool',\)"):
        Counter("calls_total", "Calls.", ("tool",)).add()


def test_what_is_computed_is_computed_when_it_is_read() -> None:
    state = [1.0]
    meter = Computed("level", "Level.", lambda: [MeterReading((), state[0])], MeterKind.gauge)
    state[0] = 2.0
    assert meter.readings() == [MeterReading((), 2.0)]
