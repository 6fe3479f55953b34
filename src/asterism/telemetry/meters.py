"""Counters, gauges and histograms: cheap to add to from any thread, read as a whole."""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from enum import StrEnum
from threading import Lock
from typing import NamedTuple, TypeAlias

Labels: TypeAlias = tuple[str, ...]

SERIES_AT_MOST = 200
"""Combinations of labels that one meter keeps; whatever comes after them is counted together."""

OTHER = "other"
"""The labels of what is counted together."""


class Kind(StrEnum):
    """What sort of number it is, in the words of Prometheus."""

    counter = "counter"
    gauge = "gauge"
    histogram = "histogram"


class Reading(NamedTuple):
    """One series as it stands."""

    labels: Labels
    value: float
    """Of a histogram the sum of what was observed."""
    counts: tuple[int, ...] = ()
    """Of a histogram: how many fell between one bound and the next, and beyond the last."""

    @property
    def observed(self) -> int:
        """How many were observed."""
        return sum(self.counts)


class Meter:
    """A number by labels; what it is called, what it means, and a lock for its series."""

    kind = Kind.counter

    def __init__(self, name: str, purpose: str, labels: Labels = ()) -> None:
        """`labels` are the names; each series has a value for every one of them."""
        self.name = name
        self.purpose = purpose
        self.labels = labels
        self.bounds: tuple[float, ...] = ()
        self._lock = Lock()
        self._values: dict[Labels, float] = {}

    def value(self, *labels: str) -> float:
        """How much it is now; 0 where nothing happened."""
        with self._lock:
            return self._values.get(labels, 0.0)

    def readings(self) -> list[Reading]:
        """Every series, in the order of its labels."""
        with self._lock:
            values = dict(self._values)
        return [Reading(labels, values[labels]) for labels in sorted(values)]

    def _series(self, labels: Labels) -> Labels:
        """The labels to count under; the caller holds the lock."""
        if labels in self._values:
            return labels
        if len(labels) != len(self.labels):
            raise ValueError(f"{self.name} has the labels {self.labels}, not {labels}")
        return labels if len(self._values) < SERIES_AT_MOST else (OTHER,) * len(labels)


class Counter(Meter):
    """Only ever grows."""

    def add(self, *labels: str, amount: float = 1) -> None:
        """Count something; less than nothing is not counted."""
        if amount > 0:
            with self._lock:
                series = self._series(labels)
                self._values[series] = self._values.get(series, 0.0) + amount


class Gauge(Meter):
    """Goes up and down."""

    kind = Kind.gauge

    def set(self, *labels: str, value: float) -> None:
        """Say what it is now."""
        with self._lock:
            self._values[self._series(labels)] = value

    def add(self, *labels: str, amount: float = 1) -> None:
        """Change it by so much."""
        with self._lock:
            series = self._series(labels)
            self._values[series] = self._values.get(series, 0.0) + amount


class Computed(Meter):
    """A number that is worked out when somebody reads it."""

    def __init__(
        self,
        name: str,
        purpose: str,
        read: Callable[[], Iterable[Reading]],
        kind: Kind,
        *label: str,
    ) -> None:
        """`read` gives the series."""
        super().__init__(name, purpose, label)
        self.kind = kind
        self._read = read

    def readings(self) -> list[Reading]:
        """Every series, worked out now."""
        return sorted(self._read())


class Histogram(Meter):
    """How many observations fell below each of some bounds, and their sum."""

    kind = Kind.histogram

    def __init__(
        self, name: str, purpose: str, bounds: tuple[float, ...], labels: Labels = ()
    ) -> None:
        """The bounds rise; an observation equal to one falls below it."""
        super().__init__(name, purpose, labels)
        self.bounds = bounds
        self._counts: dict[Labels, list[int]] = {}

    def observe(self, *labels: str, value: float) -> None:
        """Count an observation; what is no number is none."""
        if not math.isfinite(value):
            return
        place = bisect_left(self.bounds, value)
        with self._lock:
            series = self._series(labels)
            self._values[series] = self._values.get(series, 0.0) + value
            counts = self._counts.get(series)
            if counts is None:
                counts = self._counts[series] = [0] * (len(self.bounds) + 1)
            counts[place] += 1

    def readings(self) -> list[Reading]:
        """Every series, each of one moment."""
        with self._lock:
            return [
                Reading(labels, self._values[labels], tuple(self._counts[labels]))
                for labels in sorted(self._values)
            ]
