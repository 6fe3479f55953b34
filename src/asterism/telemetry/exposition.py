"""What was measured, as Prometheus reads it and as JSON."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from asterism.telemetry.meters import (
    CACHES,
    DROPPED,
    METERS,
    NEAR_LIMITS,
    OPERATIONS,
    PROVIDER_FAILURES,
    PROVIDER_RETRIES,
    PROVIDERS,
    REPLIES,
    SYNC_CHUNKS,
    SYNC_FILES,
    SYNC_VECTORS,
    TOOLS,
    TRUNCATIONS,
    UTILISATION,
    Histogram,
    Labels,
    Meter,
    MeterKind,
    MeterReading,
)

OK = "ok"
"""The outcome of success."""


def summary() -> dict[str, Any]:
    """Times by operation and mode, truncations, caches, syncs and providers."""
    return {
        "operations": _times(OPERATIONS),
        "tools": _times(TOOLS),
        "truncation": _truncation(),
        "caches": _caches(),
        "sync": {
            "files": _by_first(SYNC_FILES),
            "chunks_written": int(SYNC_CHUNKS.value()),
            "vectors": _by_first(SYNC_VECTORS),
        },
        "providers": _providers(),
    }


def quantile(bounds: Sequence[float], counts: Sequence[int], share: float) -> float | None:
    """The value below which a share of the observations lies, as near as the bounds tell.

    Between two bounds observations count as evenly spread; beyond the last one it is that bound.
    """
    wanted, below = share * sum(counts), 0
    if not sum(counts):
        return None
    lower = 0.0
    for bound, count in zip(bounds, counts, strict=False):
        if count and below + count >= wanted:
            return lower + (bound - lower) * (wanted - below) / count
        below, lower = below + count, bound
    return bounds[-1]


def _times(meter: Histogram) -> list[dict[str, Any]]:
    """For each operation and mode how often, how long, how often in vain."""
    grouped: dict[tuple[str, ...], list[MeterReading]] = {}
    for reading in meter.readings():
        grouped.setdefault(reading.labels[:-1], []).append(reading)
    found = []
    for labels, readings in grouped.items():
        counts = [sum(column) for column in zip(*(one.counts for one in readings), strict=True)]
        total = sum(counts)
        found.append(
            {
                **{name: label for name, label in zip(meter.labels, labels, strict=False) if label},
                "count": total,
                "failed": total - sum(one.observed for one in readings if one.labels[-1] == OK),
                "mean_ms": round(1000 * sum(one.value for one in readings) / total, 3),
                "p50_ms": _ms(quantile(meter.bounds, counts, 0.5)),
                "p90_ms": _ms(quantile(meter.bounds, counts, 0.9)),
                "p99_ms": _ms(quantile(meter.bounds, counts, 0.99)),
            }
        )
    return found


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(1000 * seconds, 3)


def _truncation() -> dict[str, Any]:
    found: dict[str, Any] = {}
    used = {reading.labels[0]: reading for reading in UTILISATION.readings()}
    for (surface,), replies, _ in REPLIES.readings():
        reasons = _of(TRUNCATIONS, surface)
        reading = used.get(surface)
        counts = reading.counts if reading is not None else ()
        found[surface] = {
            "replies": int(replies),
            "truncated": sum(reasons.values()),
            "rate": round(sum(reasons.values()) / replies, 4),
            "reasons": reasons,
            "near_limit": int(NEAR_LIMITS.value(surface)),
            "dropped": _of(DROPPED, surface),
            "utilisation": {
                "mean": round(reading.value / reading.observed, 4) if reading is not None else None,
                "p90": _rounded(quantile(UTILISATION.bounds, counts, 0.9)),
            },
        }
    return found


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _caches() -> dict[str, Any]:
    found: dict[str, dict[str, Any]] = {}
    for (cache, outcome), value, _ in CACHES.readings():
        found.setdefault(cache, {"hit": 0, "miss": 0})[outcome] = int(value)
    for counts in found.values():
        counts["rate"] = round(counts["hit"] / (counts["hit"] + counts["miss"]), 4)
    return found


def _providers() -> dict[str, Any]:
    found: dict[str, dict[str, Any]] = {}
    for reading in PROVIDERS.readings():
        kind, provider, _ = reading.labels
        entry = found.setdefault(f"{kind}/{provider}", {"calls": 0, "seconds": 0.0})
        entry["calls"] += reading.observed
        entry["seconds"] = round(entry["seconds"] + reading.value, 3)
    for name, entry in found.items():
        kind, _, provider = name.partition("/")
        entry["retries"] = int(PROVIDER_RETRIES.value(kind))
        entry["failures"] = {
            labels[2]: int(value)
            for labels, value, _ in PROVIDER_FAILURES.readings()
            if labels[:2] == (kind, provider)
        }
    return found


def _of(meter: Meter, first: str) -> dict[str, int]:
    return {
        reading.labels[1]: int(reading.value)
        for reading in meter.readings()
        if reading.labels[0] == first
    }


def _by_first(meter: Meter) -> dict[str, int]:
    return {reading.labels[0]: int(reading.value) for reading in meter.readings()}


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""What the HTTP header says of `prometheus_text`."""


def prometheus_text(meters: Iterable[Meter] = METERS) -> str:
    """Every meter in the text format of Prometheus; meters that nothing happened to are listed."""
    return "".join(f"{line}\n" for meter in meters for line in _lines(meter))


def snapshot(meters: Iterable[Meter] = METERS) -> dict[str, Any]:
    """The same for JSON: by name, with a list of series."""
    return {
        meter.name: {
            "type": meter.kind.value,
            "purpose": meter.purpose,
            "series": [_series(meter, reading) for reading in meter.readings()],
        }
        for meter in meters
    }


def _lines(meter: Meter) -> Iterator[str]:
    yield f"# HELP {meter.name} {_escaped(meter.purpose)}"
    yield f"# TYPE {meter.name} {meter.kind.value}"
    for reading in meter.readings():
        if meter.kind is MeterKind.histogram:
            yield from _histogram(meter, reading)
        else:
            yield f"{meter.name}{_labels(meter.labels, reading.labels)} {_number(reading.value)}"


def _histogram(meter: Meter, reading: MeterReading) -> Iterator[str]:
    names = (*meter.labels, "le")
    for bound, below in _cumulative(meter, reading):
        yield f"{meter.name}_bucket{_labels(names, (*reading.labels, bound))} {below}"
    labels = _labels(meter.labels, reading.labels)
    yield f"{meter.name}_sum{labels} {_number(reading.value)}"
    yield f"{meter.name}_count{labels} {reading.observed}"


def _cumulative(meter: Meter, reading: MeterReading) -> Iterator[tuple[str, int]]:
    """Each bound with how many lie below it; the last holds all."""
    below = 0
    for bound, count in zip((*meter.bounds, None), reading.counts, strict=True):
        below += count
        yield "+Inf" if bound is None else _number(bound), below


def _series(meter: Meter, reading: MeterReading) -> dict[str, Any]:
    labels = dict(zip(meter.labels, reading.labels, strict=True))
    if meter.kind is not MeterKind.histogram:
        return {"labels": labels, "value": reading.value}
    return {
        "labels": labels,
        "count": reading.observed,
        "sum": reading.value,
        "buckets": dict(_cumulative(meter, reading)),
    }


def _labels(names: Labels, values: Labels) -> str:
    pairs = (f'{name}="{_quoted(value)}"' for name, value in zip(names, values, strict=True))
    return f"{{{','.join(pairs)}}}" if names else ""


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', r"\"")


def _escaped(text: str) -> str:
    # A name that is no UTF-8 would make the whole page unreadable.
    plain = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return plain.replace("\\", r"\\").replace("\n", r"\n")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
