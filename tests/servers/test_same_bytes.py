"""Do equal queries give equal bytes, whatever time they took, and whatever a limit takes away?"""

import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from asterism.api.codebase import Codebase
from asterism.engine.engine import Engine
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.limits import written
from tests.servers.http_clients import client_of

SECONDS = (0.0, 0.004, 0.04, 0.3, 4.2, 42.5, 420.25, 999.9)
"""From one digit of milliseconds to six."""
_TIMES = re.compile(r'("(?:elapsed_ms|latency_ms)":) ?[0-9.]+')


class Clock:
    """Stands still, but for a step with each look."""

    def __init__(self, step: float) -> None:
        self._looks = count()
        self._step = step

    def monotonic(self) -> float:
        return next(self._looks) * self._step

    time_ns = staticmethod(time.time_ns)


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Let every query take so many seconds, by the clock that measures it."""

    def take(seconds: float) -> None:
        clock = Clock(seconds)
        for module in ("search", "context_reply", "snapshot"):
            monkeypatch.setattr(f"asterism.engine.{module}.time", clock)

    return take


def blanked(text: str) -> tuple[str, list[str]]:
    """The text without its times, and these."""
    return _TIMES.sub(r"\1_", text), _TIMES.findall(text)


CALLS = [
    ("search_code", {"query": "webhook signature", "limit": 5}),
    ("search_code", {"query": "retry", "mode": "exact", "exhaustive": True, "limit": 3}),
    ("search_code", {"query": "payment", "limit": 20, "max_tokens": 700}),
    ("codebase_search", {"query": "webhook signature", "max_tokens": 600}),
]


@pytest.mark.parametrize(("tool", "given"), CALLS)
def test_tools_and_http(
    toolbox: Toolbox, slowly: Callable[[float], None], tool: str, given: dict[str, object]
) -> None:
    path = {"search_code": "/api/search", "codebase_search": "/api/context"}[tool]
    toolbox.call(tool, given)
    by_tool, by_http, times = set(), set(), set()
    with client_of(toolbox) as client:
        for seconds in SECONDS:
            slowly(seconds)
            text = json.dumps(written(toolbox.call(tool, given)), ensure_ascii=False)
            by_tool.add(blanked(text)[0])
            answer = client.post(path, json=given).text
            by_http.add(blanked(answer)[0])
            times.add(re.search(r'"latency_ms":(\d+)', answer)[1])  # type: ignore[index]
    assert len(times) > 4, "the clock has no influence, so that this shows nothing"
    assert len(by_tool) == 1
    assert len(by_http) == 1


def test_at_the_border_of_the_budget(toolbox: Toolbox, slowly: Callable[[float], None]) -> None:
    """For every budget around the one that just holds a further row."""
    for tokens in range(640, 720, 4):
        found = set()
        for seconds in (0.0, 999.9):
            slowly(seconds)
            given = {"query": "payment", "limit": 20, "max_tokens": tokens}
            found.add(blanked(json.dumps(written(toolbox.call("search_code", given))))[0])
        assert len(found) == 1, tokens


def test_programs(engine: Engine, harbor: object, slowly: Callable[[float], None]) -> None:
    (registered,) = engine.registry.repositories()
    codebase = Codebase(engine, registered, None)
    replies = []
    for seconds in SECONDS:
        slowly(seconds)
        replies.append(codebase.search("webhook signature", limit=5))
    assert len({reply.seconds for reply in replies}) > 4
    assert len({repr(replace(reply, seconds=0.0)) for reply in replies}) == 1
