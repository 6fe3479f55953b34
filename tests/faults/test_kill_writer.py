"""An index outlives its writer: killed at any moment, it is whole before and after the repair."""

from pathlib import Path

from tests.faults.kill_writer import run


def test_killed_writers_lose_nothing(tmp_path: Path) -> None:
    tally = run(tmp_path, kills=8, seed=7, fresh_every=4, files=60)
    assert tally.complaints == []
    assert tally.kills == 8
    assert tally.compared >= 1
