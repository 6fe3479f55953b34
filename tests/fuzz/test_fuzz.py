"""Some of every kind of hostile input, the same in every run; `make fuzz` tries more for hours.

Each part is a process of its own, so that a case that hangs or kills it is named and not waited for.
"""

import json
from pathlib import Path

import pytest

from tests.fuzz.driver import Account, Plan, run
from tests.fuzz.frames import about_line
from tests.fuzz.reduction import reduced
from tests.fuzz.scene import OWN, SECRET, leaks
from tests.fuzz.target import NAMES, signature_of, target_of

PARTS = (
    *(("sources", f"ci-{part}", 900) for part in range(4)),
    ("agents", "ci", 500),
    ("configs", "ci", 1_000),
    ("ignores", "ci", 1_000),
    ("manifests", "ci", 500),
    *(("calls", f"ci-{part}", 400) for part in range(2)),
    *(("http", f"ci-{part}", 400) for part in range(2)),
    *(("frames", f"ci-{part}", 200) for part in range(2)),
    ("wire", "ci", 300),
    ("indexes", "ci", 12),
    ("names", "ci", 12),
)
"""Target, seed and cases: 3,600 source files and 2,300 requests, some two minutes of one core."""


@pytest.mark.parametrize(("name", "seed", "runs"), PARTS, ids=str)
def test_nothing_goes_wrong(name: str, seed: str, runs: int, tmp_path: Path) -> None:
    account = run(Plan(name, runs, seed, 1, tmp_path))
    findings = {
        path.name: path.read_text(errors="replace") for path in tmp_path.glob("*/findings/*.txt")
    }
    assert findings == {}
    assert (account.cases, account.found) == (runs, 0)


def test_every_target_is_run_and_there_is_enough_of_it() -> None:
    assert {name for name, _, _ in PARTS} == {*NAMES}
    counts = {name: sum(runs for one, _, runs in PARTS if one == name) for name in NAMES}
    assert counts["sources"] >= 2_000
    assert counts["calls"] + counts["http"] + counts["frames"] + counts["wire"] >= 2_000


@pytest.mark.parametrize("name", ["sources", "agents", "configs", "calls", "frames", "wire"])
def test_a_seed_gives_the_same_cases_each_time(name: str) -> None:
    target = target_of(name)
    once, again = (list(target.cases("same", 12)) for _ in range(2))
    assert once == again
    assert len(once) == 12
    assert once != list(target.cases("other", 12))


class TestDriver:
    """The driver against a target that goes wrong in every way, as its cases say."""

    def test_complaints_crashes_hangs_and_tracebacks_are_found(self, tmp_path: Path) -> None:
        account = run(Plan("selftest", 40, "1", 2, tmp_path))
        assert account.cases == 40
        assert (account.crashes, account.hangs) == (1, 1)
        found = {path.read_bytes() for path in (tmp_path / "selftest/findings").glob("*.input")}
        assert {b"7 crash", b"23 hang"} <= found
        assert account.signatures["raised ValueError in selftest.py:#: no good"] == 2
        assert account.signatures["printed a traceback"] == 1
        assert account.signatures["is slow"] == 1
        small = [path.read_bytes() for path in (tmp_path / "selftest/findings").glob("*.small")]
        assert {b"raise", b"slow"} <= {*small}

    def test_a_run_goes_on_where_it_was_ended(self, tmp_path: Path) -> None:
        first = run(Plan("selftest", 5, "2", 1, tmp_path))
        assert first.cases == 5
        second = run(Plan("selftest", 10, "2", 1, tmp_path))
        assert (second.cases, second.finished) == (10, {0, 1})
        again = run(Plan("selftest", 10, "2", 1, tmp_path))
        assert (again.cases, again.finished) == (10, {0, 1})


@pytest.mark.parametrize(
    ("data", "needed", "expected"),
    [
        (b"one\ntwo\nthree\nfour\n", b"thr", b"thr"),
        (b"aXbYc", b"XY", b"XY"),
        (b"abc", b"", b""),
    ],
)
def test_a_case_is_made_smaller(data: bytes, needed: bytes, expected: bytes) -> None:
    """The letters that are needed stay, in their order."""

    def still(part: bytes) -> bool:
        letters = iter(part)
        return all(letter in letters for letter in needed)

    assert reduced(data, still, 2_000) == expected
    assert reduced(data, still, 0) == data


def test_equal_mistakes_count_as_one() -> None:
    one = signature_of("function 'a' at line 3 is wrong\nmore")
    assert one == signature_of("function 'b\\'s' at line 12 is wrong")
    assert one != signature_of("method 'a' at line 3 is wrong")


def test_a_pipe_may_name_the_users_own_places_in_failures_only() -> None:
    """As in "registry.sqlite is in use by another process": there the user has to look for it."""

    def said(text: str, failed: bool, key: str = "isError") -> list[str]:
        result = {"content": [{"type": "text", "text": text}], key: failed}
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()
        return [one.partition("\n")[0] for one in about_line(line)]

    own = f"/tmp/{OWN}/data/registry.sqlite is in use by another process"
    assert said(own, True) == []
    assert said(own, False) == said(own, True, "other") == [f"the reply holds {OWN}"]
    assert said(f"{own} {SECRET}", True) == [f"the reply holds {SECRET}"]


def test_a_leak_is_shown_with_what_is_around_it() -> None:
    [found] = leaks(f"one two three {OWN} four five")
    assert found == f"the reply holds {OWN}\none two three {OWN} four five"


def test_the_memory_of_the_test_run_is_not_counted_to_a_worker(tmp_path: Path) -> None:
    """Whatever this process reached before, a worker begins at its own peak."""
    filled = bytearray(b"x") * 300_000_000
    assert len(filled) == 300_000_000
    del filled
    account = run(Plan("selftest", 5, "2", 1, tmp_path))
    assert 0 < account.peak_mb < 250


def test_an_account_is_kept(tmp_path: Path) -> None:
    account = Account(cases=3, complaints=1, finished={0, 1, 5}, peak_mb=7)
    account.signatures["x"] = 2
    account.write(tmp_path / "a.json")
    read = Account()
    read.read(tmp_path / "a.json")
    assert read == account
