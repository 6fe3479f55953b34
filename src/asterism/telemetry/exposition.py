"""What was measured, as Prometheus reads it and as JSON."""

from collections.abc import Iterable, Iterator
from typing import Any

from asterism.telemetry.measures import METERS
from asterism.telemetry.meters import Kind, Labels, Meter, Reading

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
        if meter.kind is Kind.histogram:
            yield from _histogram(meter, reading)
        else:
            yield f"{meter.name}{_labels(meter.labels, reading.labels)} {_number(reading.value)}"


def _histogram(meter: Meter, reading: Reading) -> Iterator[str]:
    names = (*meter.labels, "le")
    for bound, below in _cumulative(meter, reading):
        yield f"{meter.name}_bucket{_labels(names, (*reading.labels, bound))} {below}"
    labels = _labels(meter.labels, reading.labels)
    yield f"{meter.name}_sum{labels} {_number(reading.value)}"
    yield f"{meter.name}_count{labels} {reading.observed}"


def _cumulative(meter: Meter, reading: Reading) -> Iterator[tuple[str, int]]:
    """Each bound with how many lie below it; the last holds all."""
    below = 0
    for bound, count in zip((*meter.bounds, None), reading.counts, strict=True):
        below += count
        yield "+Inf" if bound is None else _number(bound), below


def _series(meter: Meter, reading: Reading) -> dict[str, Any]:
    labels = dict(zip(meter.labels, reading.labels, strict=True))
    if meter.kind is not Kind.histogram:
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
