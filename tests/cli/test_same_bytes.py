"""Do equal queries print equal bytes, whatever time they took?"""

import re
import time
from itertools import count
from pathlib import Path

import pytest

from tests.cli.conftest import Run


class Clock:
    """Stands still, but for a step with each look."""

    def __init__(self, step: float) -> None:
        self._looks = count()
        self._step = step

    def monotonic(self) -> float:
        return next(self._looks) * self._step

    time_ns = staticmethod(time.time_ns)


@pytest.mark.parametrize(
    "command",
    [
        ["search", "validate token"],
        ["search", "validate token", "--tokens", "120"],
        ["show", "validate token"],
    ],
)
def test_json_does_not_depend_on_the_time(
    run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    assert run("index").code == 0
    found, times = set(), set()
    for seconds in (0.0, 0.004, 0.04, 0.3, 4.2, 42.5, 420.25, 999.9):
        clock = Clock(seconds)
        for module in ("search", "context_reply", "snapshot"):
            monkeypatch.setattr(f"asterism.engine.{module}.time", clock)
        out = run(*command, "--json").out
        found.add(re.sub(r'("(?:elapsed_ms|latency_ms)":) ?[0-9.]+', r"\1", out))
        times.update(re.findall(r'"latency_ms": ?(\d+)', out))
    assert len(times) > 4, "the clock has no influence, so that this shows nothing"
    assert len(found) == 1
