"""Counters, gauges and histograms: cheap to add to from any thread, read as a whole."""

import math
import os
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeAlias

Labels: TypeAlias = tuple[str, ...]

SERIES_AT_MOST = 200
"""Combinations of labels that one meter keeps; whatever comes after them is counted together."""

OTHER = "other"
"""Label values of one series."""


class MeterKind(StrEnum):
    """The type of a metric, in the words of Prometheus."""

    counter = "counter"
    gauge = "gauge"
    histogram = "histogram"


class MeterReading(NamedTuple):
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

    kind = MeterKind.counter

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

    def readings(self) -> list[MeterReading]:
        """Every series, in the order of its labels."""
        with self._lock:
            values = dict(self._values)
        return [MeterReading(labels, values[labels]) for labels in sorted(values)]

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
    """A value that goes up and down."""

    kind = MeterKind.gauge

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
    """A number that is computed when it is read."""

    def __init__(
        self,
        name: str,
        purpose: str,
        read: Callable[[], Iterable[MeterReading]],
        kind: MeterKind,
        *label: str,
    ) -> None:
        """`read` gives the series."""
        super().__init__(name, purpose, label)
        self.kind = kind
        self._read = read

    def readings(self) -> list[MeterReading]:
        """Every series, worked out now."""
        return sorted(self._read())


class Histogram(Meter):
    """How many observations fell below each of some bounds, and their sum."""

    kind = MeterKind.histogram

    def __init__(
        self, name: str, purpose: str, bounds: tuple[float, ...], labels: Labels = ()
    ) -> None:
        """The bounds rise; an observation equal to one falls below it."""
        super().__init__(name, purpose, labels)
        self.bounds = bounds
        self._counts: dict[Labels, list[int]] = {}

    def observe(self, *labels: str, value: float) -> None:
        """Count an observation; NaN and the infinities are ignored."""
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

    def readings(self) -> list[MeterReading]:
        """Every series, each read at one moment."""
        with self._lock:
            return [
                MeterReading(labels, self._values[labels], tuple(self._counts[labels]))
                for labels in sorted(self._values)
            ]


# From a look-up in memory to a first index; each step is some two and a half times the last.
SECONDS = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
    120.0,
)

NEAR_LIMIT = 0.7
"""The used share of a limit from which a reply is worth a line in the log."""
SHARES = (0.1, 0.25, 0.5, NEAR_LIMIT, 0.8, 0.9, 0.95, 1.0)

OPERATIONS = Histogram(
    "asterism_operation_seconds",
    "Time of what was asked of the engine, by operation, mode and outcome.",
    SECONDS,
    ("operation", "mode", "outcome"),
)
ERRORS = Counter(
    "asterism_errors_total", "Operations that failed, by kind of error.", ("operation", "error")
)
TOOLS = Histogram("asterism_tool_seconds", "Time of tool calls.", SECONDS, ("tool", "outcome"))
REQUESTS = Histogram(
    "asterism_http_request_seconds",
    "Time of HTTP requests, by route as it is declared, method and status.",
    SECONDS,
    ("route", "method", "status"),
)
IN_FLIGHT = Gauge("asterism_requests_in_flight", "Requests that are being answered now.")

REPLIES = Counter(
    "asterism_replies_total", "Replies whose size was measured against a limit.", ("surface",)
)
TRUNCATIONS = Counter(
    "asterism_truncations_total",
    "Replies in which a size limit took something away, by the limit.",
    ("surface", "reason"),
)
NEAR_LIMITS = Counter(
    "asterism_near_limit_total",
    "Replies over 70 % of a size limit that lost nothing.",
    ("surface",),
)
UTILISATION = Histogram(
    "asterism_reply_utilisation_ratio",
    "The used share of the fullest size limit of a reply.",
    SHARES,
    ("surface",),
)
DROPPED = Counter(
    "asterism_dropped_hits_total", "Hits that were found and not returned.", ("surface", "reason")
)

SYNC_FILES = Counter("asterism_sync_files_total", "What syncs did with files.", ("what",))
SYNC_CHUNKS = Counter("asterism_sync_chunks_written_total", "Chunks that syncs wrote.")
SYNC_VECTORS = Counter(
    "asterism_sync_vectors_total",
    "Where the vectors of written chunks came from: model, cache, or the index itself.",
    ("source",),
)
CACHES = Counter("asterism_cache_requests_total", "Look-ups in caches.", ("cache", "outcome"))
WATCH_EVENTS = Counter("asterism_watch_events_total", "File events that may change an index.")
WATCH_SYNCS = Counter("asterism_watch_syncs_total", "Syncs of watchers, by outcome.", ("outcome",))

PROVIDERS = Histogram(
    "asterism_provider_seconds",
    "Time of calls to models, retries included.",
    SECONDS,
    ("kind", "provider", "outcome"),
)
PROVIDER_TEXTS = Counter(
    "asterism_provider_texts_total", "Texts given to models.", ("kind", "provider")
)
PROVIDER_RETRIES = Counter(
    "asterism_provider_retries_total", "Requests that were sent again.", ("kind",)
)
PROVIDER_FAILURES = Counter(
    "asterism_provider_failures_total",
    "Calls to models that failed for good, by kind of error.",
    ("kind", "provider", "error"),
)
MASKED_TOKENS = Counter(
    "asterism_masked_tokens_total",
    "Tokens and keys that were masked in what was sent to models, by receiver and kind.",
    ("receiver", "kind"),
)
LOG_FAILURES = Counter("asterism_log_failures_total", "Lines that could not be logged.")

BUILD = Gauge("asterism_build_info", "Which program this is; always 1.", ("version", "python"))

_STARTED = time.time()


def _ratios() -> Iterator[MeterReading]:
    truncated: dict[str, float] = {}
    for (surface, _), value, _ in TRUNCATIONS.readings():
        truncated[surface] = truncated.get(surface, 0.0) + value
    for labels, replies, _ in REPLIES.readings():
        yield MeterReading(labels, truncated.get(labels[0], 0.0) / replies)


def _memory() -> Iterator[MeterReading]:
    # Only Linux tells what a process takes now; elsewhere there is no series.
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        yield MeterReading((), float(pages * os.sysconf("SC_PAGE_SIZE")))


def _descriptors() -> Iterator[MeterReading]:
    with suppress(OSError):
        yield MeterReading((), float(sum(1 for _ in Path("/proc/self/fd").iterdir())))


METERS: tuple[Meter, ...] = (
    OPERATIONS,
    ERRORS,
    TOOLS,
    REQUESTS,
    IN_FLIGHT,
    REPLIES,
    TRUNCATIONS,
    Computed(
        "asterism_truncation_ratio",
        "The share of replies in which a size limit took something away.",
        _ratios,
        MeterKind.gauge,
        "surface",
    ),
    NEAR_LIMITS,
    UTILISATION,
    DROPPED,
    SYNC_FILES,
    SYNC_CHUNKS,
    SYNC_VECTORS,
    CACHES,
    WATCH_EVENTS,
    WATCH_SYNCS,
    PROVIDERS,
    PROVIDER_TEXTS,
    PROVIDER_RETRIES,
    PROVIDER_FAILURES,
    MASKED_TOKENS,
    LOG_FAILURES,
    BUILD,
    Computed(
        "process_start_time_seconds",
        "When the process began to measure, in seconds since 1970.",
        lambda: [MeterReading((), _STARTED)],
        MeterKind.gauge,
    ),
    Computed(
        "process_cpu_seconds_total",
        "Processor time that the process has used.",
        lambda: [MeterReading((), time.process_time())],
        MeterKind.counter,
    ),
    Computed(
        "process_resident_memory_bytes", "Memory that the process takes.", _memory, MeterKind.gauge
    ),
    Computed("process_open_fds", "Files that the process has open.", _descriptors, MeterKind.gauge),
)
"""In the order in which they are shown."""
