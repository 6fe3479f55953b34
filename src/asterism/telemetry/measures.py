"""Everything that is measured in this process, by name."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from asterism.telemetry.meters import Computed, Counter, Gauge, Histogram, Kind, Meter, Reading

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
    "asterism_dropped_hits_total", "Hits that were found and not given out.", ("surface", "reason")
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


def _ratios() -> Iterator[Reading]:
    truncated: dict[str, float] = {}
    for (surface, _), value, _ in TRUNCATIONS.readings():
        truncated[surface] = truncated.get(surface, 0.0) + value
    for labels, replies, _ in REPLIES.readings():
        yield Reading(labels, truncated.get(labels[0], 0.0) / replies)


def _memory() -> Iterator[Reading]:
    # Only Linux tells what a process takes now; elsewhere there is no series.
    with suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        yield Reading((), float(pages * os.sysconf("SC_PAGE_SIZE")))


def _descriptors() -> Iterator[Reading]:
    with suppress(OSError):
        yield Reading((), float(sum(1 for _ in Path("/proc/self/fd").iterdir())))


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
        Kind.gauge,
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
        lambda: [Reading((), _STARTED)],
        Kind.gauge,
    ),
    Computed(
        "process_cpu_seconds_total",
        "Processor time that the process has used.",
        lambda: [Reading((), time.process_time())],
        Kind.counter,
    ),
    Computed(
        "process_resident_memory_bytes", "Memory that the process takes.", _memory, Kind.gauge
    ),
    Computed("process_open_fds", "Files that the process has open.", _descriptors, Kind.gauge),
)
"""In the order in which they are shown."""
