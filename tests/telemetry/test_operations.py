"""Is every operation timed, counted and told once, however it ends?"""

import logging
import re

import pytest

from asterism.telemetry.events import current_request
from asterism.telemetry.exposition import quantile, summary
from asterism.telemetry.meters import ERRORS, IN_FLIGHT, OPERATIONS, REQUESTS, TOOLS, Histogram
from asterism.telemetry.operations import MeasuredCall, MeasuredOperation, record_http
from asterism.types.errors import IndexMissing


def observed(meter: Histogram, *labels: str) -> int:
    return sum(one.observed for one in meter.readings() if one.labels == labels)


def messages(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Each line without its times and the ids that were made up for it."""
    return [
        (one.levelname, re.sub(r"(seconds|request)=\S+", r"\1=…", one.getMessage()))
        for one in caplog.records
    ]


@pytest.fixture(autouse=True)
def everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "asterism")


def test_one_that_goes_well(caplog: pytest.LogCaptureFixture) -> None:
    with MeasuredOperation("dig", "deep") as done:
        assert current_request()
        done.note(found=3, missing=None)
    assert observed(OPERATIONS, "dig", "deep", "ok") == 1
    assert messages(caplog) == [("INFO", "dig request=… mode=deep outcome=ok seconds=… found=3")]


def test_one_that_fails_with_an_asterism_error(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(IndexMissing), MeasuredOperation("dig", "wide"):
        raise IndexMissing("There is no index; make one.")
    assert observed(OPERATIONS, "dig", "wide", "error") == 1
    assert ERRORS.value("dig", "IndexMissing") == 1
    ((level, text),) = messages(caplog)
    assert level == "WARNING"
    assert 'error=IndexMissing message="There is no index; make one."' in text
    assert current_request() == ""


def test_the_words_of_a_foreign_error_are_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ValueError, match="class Secret"), MeasuredOperation("dig"):
        raise ValueError("class Secret: pass")
    ((_, text),) = messages(caplog)
    assert "error=ValueError" in text
    assert "Secret" not in text


def test_what_is_inside_has_the_same_request(caplog: pytest.LogCaptureFixture) -> None:
    with MeasuredOperation("outer"), MeasuredOperation("inner", level=logging.DEBUG):
        pass
    ids = {re.findall(r"request=(\S+)", one.getMessage())[0] for one in caplog.records}
    assert len(ids) == 1
    assert [one.levelname for one in caplog.records] == ["DEBUG", "INFO"]


def test_a_tool_call(caplog: pytest.LogCaptureFixture) -> None:
    before = IN_FLIGHT.value()
    given: dict[str, object] = {"query": "where", "limit": 5, "cursor": None, "token": "abc"}
    with MeasuredCall("try_out", given, "client-7") as done:
        assert IN_FLIGHT.value() == before + 1
        assert current_request() == "client-7"
        done.note(returned=2)
    with MeasuredCall("try_out", {}) as done:
        done.outcome = "invalid_argument"
    assert IN_FLIGHT.value() == before
    assert observed(TOOLS, "try_out", "ok") == 1
    assert observed(TOOLS, "try_out", "invalid_argument") == 1
    first, second = messages(caplog)
    assert first == (
        "INFO",
        "tool request=… tool=try_out outcome=ok seconds=… "
        'parameters={"query": "where", "limit": 5, "token": "…"} returned=2',
    )
    assert second[0] == "WARNING"
    (told,) = [one for one in summary()["tools"] if one["tool"] == "try_out"]
    assert (told["count"], told["failed"]) == (2, 1)


def test_an_http_request(caplog: pytest.LogCaptureFixture) -> None:
    record_http("/api/dig", "POST", 200, 0.01)
    record_http("/api/dig", "POST", 500, 0.02)
    assert observed(REQUESTS, "/api/dig", "POST", "500") == 1
    assert [level for level, _ in messages(caplog)] == ["DEBUG", "WARNING"]


@pytest.mark.parametrize(
    ("counts", "share", "expected"),
    [
        ((0, 0, 0), 0.5, None),
        ((4, 0, 0), 0.5, 0.5),
        ((2, 2, 0), 0.5, 1.0),
        ((2, 2, 0), 0.75, 1.5),
        ((0, 4, 0), 1.0, 2.0),
        ((0, 0, 9), 0.5, 2.0),
    ],
)
def test_a_quantile_by_bounds(
    counts: tuple[int, ...], share: float, expected: float | None
) -> None:
    assert quantile((1.0, 2.0), counts, share) == expected
