"""Is the page of metrics what Prometheus reads, whatever the labels hold?"""

import json
import re
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.telemetry.exposition import prometheus_text, snapshot
from asterism.telemetry.meters import (
    METERS,
    REPLIES,
    TRUNCATIONS,
    Counter,
    Gauge,
    Histogram,
    Meter,
    MeterKind,
)

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
SAMPLE = re.compile(
    r"(?P<name>[a-zA-Z_:][\w:]*)"
    r'(?:\{(?P<labels>(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\n"])*",?)*)\})?'
    r" (?P<value>[+-]?(?:Inf|NaN|[0-9.]+(?:e[+-]?\d+)?))"
)
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\n"])*)"')
ESCAPES = {r"\\": "\\", r"\n": "\n", r"\"": '"'}

Sample = tuple[str, tuple[tuple[str, str], ...], float]


def parsed(text: str) -> list[Sample]:
    """Every sample, as a reader of the format finds it; what breaks its rules fails."""
    assert not text or text.endswith("\n")
    families: dict[str, str] = {}
    samples: list[Sample] = []
    for line in text.split("\n")[:-1]:
        if line.startswith("# HELP "):
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in families, "one TYPE for a family"
            families[name] = kind
            continue
        found = SAMPLE.fullmatch(line)
        assert found is not None, line
        family = re.sub(r"_(bucket|sum|count)$", "", found["name"])
        current = next(reversed(families))
        assert current in (found["name"], family), "samples follow their TYPE"
        labels = LABEL.findall(found["labels"] or "")
        samples.append(
            (
                found["name"],
                tuple((key, unescaped(value)) for key, value in labels),
                float(found["value"]),
            )
        )
    keys = [sample[:2] for sample in samples]
    assert len(keys) == len(set(keys)), "no series twice"
    return samples


def unescaped(text: str) -> str:
    return re.sub(r'\\[\\n"]', lambda found: ESCAPES[found.group()], text)


def meters() -> list[Meter]:
    calls = Counter("calls_total", "Calls\nof \\ tools.", ("tool",))
    calls.add('say "hi"\\\n')
    calls.add("a", amount=2)
    busy = Gauge("busy", "Busy.")
    busy.set(value=0.25)
    seconds = Histogram("seconds", "Seconds.", (0.5, 2.0), ("mode",))
    for value in (0.1, 0.5, 1.0, 9.0):
        seconds.observe("x", value=value)
    return [calls, busy, seconds, Counter("never_total", "Nothing.")]


EXPECTED = r"""# HELP calls_total Calls\nof \\ tools.
# TYPE calls_total counter
calls_total{tool="a"} 2
calls_total{tool="say \"hi\"\\\n"} 1
# HELP busy Busy.
# TYPE busy gauge
busy 0.25
# HELP seconds Seconds.
# TYPE seconds histogram
seconds_bucket{mode="x",le="0.5"} 2
seconds_bucket{mode="x",le="2"} 3
seconds_bucket{mode="x",le="+Inf"} 4
seconds_sum{mode="x"} 10.6
seconds_count{mode="x"} 4
# HELP never_total Nothing.
# TYPE never_total counter
"""


def test_the_text_is_as_the_format_wants_it() -> None:
    text = prometheus_text(meters())
    assert text == EXPECTED
    assert ("calls_total", (("tool", 'say "hi"\\\n'),), 1.0) in parsed(text)


def test_the_same_as_json() -> None:
    found = snapshot(meters())
    assert found["calls_total"]["series"][0] == {"labels": {"tool": "a"}, "value": 2.0}
    assert found["seconds"] == {
        "type": "histogram",
        "purpose": "Seconds.",
        "series": [
            {
                "labels": {"mode": "x"},
                "count": 4,
                "sum": 10.6,
                "buckets": {"0.5": 2, "2": 3, "+Inf": 4},
            }
        ],
    }
    assert json.loads(json.dumps(found)) == found


@given(st.text(), st.floats(allow_nan=False, allow_infinity=False, min_value=0, max_value=1e300))
def test_any_label_and_number_can_be_read_back(label: str, value: float) -> None:
    gauge = Gauge("level", "Level.", ("name",))
    gauge.set(label, value=value)
    assert parsed(prometheus_text([gauge])) == [("level", (("name", label),), value)]


def test_a_label_that_is_no_utf8_does_not_break_the_page() -> None:
    gauge = Gauge("level", "Level.", ("name",))
    gauge.set("caf\udce9", value=1)
    assert r"caf\\udce9" in prometheus_text([gauge]).encode("utf-8").decode("utf-8")


def test_our_own_page_keeps_the_rules() -> None:
    samples = parsed(prometheus_text())
    names = {name for name, _, _ in samples}
    assert {"process_cpu_seconds_total", "process_start_time_seconds"} <= names
    for bucket in (sample for sample in samples if sample[0].endswith("_bucket")):
        assert bucket[1][-1][0] == "le"


def test_our_own_names_keep_the_habits_of_prometheus() -> None:
    names = [meter.name for meter in METERS]
    assert len(names) == len(set(names))
    for meter in METERS:
        assert NAME.fullmatch(meter.name)
        assert meter.purpose.endswith(".")
        assert meter.name.endswith("_total") is (meter.kind is MeterKind.counter)
        assert [label for label in meter.labels if not LABEL_NAME.fullmatch(label)] == []
        assert "le" not in meter.labels
        assert list(meter.bounds) == sorted(set(meter.bounds))


def test_the_share_of_truncated_replies_is_a_metric() -> None:
    REPLIES.add("ratio-test", amount=8)
    TRUNCATIONS.add("ratio-test", "token_budget")
    TRUNCATIONS.add("ratio-test", "character_limit")
    assert value_of("asterism_truncation_ratio", [("surface", "ratio-test")]) == 0.25


def value_of(name: str, labels: Iterable[tuple[str, str]]) -> float:
    values = [value for *key, value in parsed(prometheus_text()) if key == [name, tuple(labels)]]
    assert len(values) == 1
    return values[0]


@pytest.mark.parametrize("line", ['x{a="b} 1', 'x{a="b"}1', "x y", "1x 2", 'x{a="\\q"} 1'])
def test_the_reader_of_these_tests_is_strict(line: str) -> None:
    with pytest.raises(AssertionError):
        parsed(f"# TYPE x gauge\n{line}\n")
