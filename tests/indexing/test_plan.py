"""The plan of a sync: pure, and the same for the same listing."""

from typing import NamedTuple

import pytest

from asterism.indexing.plan import RACY_NS, Look, plan_sync
from asterism.types.files import FoundFile
from asterism.types.index import FileState

HOUR = 3_600_000_000_000
SCANNED = 10 * HOUR


def state(path: str, size: int = 1, mtime: int = HOUR, scanned: int = SCANNED) -> FileState:
    return FileState(path, size, mtime, b"hash of " + path.encode(), 1, scanned)


class Case(NamedTuple):
    what: str
    found: list[FoundFile]
    known: list[FileState]
    new: tuple[str, ...] = ()
    suspect: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0


CASES = [
    Case("nothing there, nothing known", [], []),
    Case("a new file", [FoundFile("a", 1, HOUR)], [], new=("a",)),
    Case("the same size and time", [FoundFile("a", 1, HOUR)], [state("a")], unchanged=1),
    Case("another time", [FoundFile("a", 1, HOUR + 1)], [state("a")], suspect=("a",)),
    Case("an older time", [FoundFile("a", 1, HOUR - 1)], [state("a")], suspect=("a",)),
    Case(
        "the same size and time, written to all the same",
        [FoundFile("a", 1, HOUR, HOUR + 1)],
        [state("a")._replace(ctime_ns=HOUR)],
        suspect=("a",),
    ),
    Case(
        "known from before there were times of changes",
        [FoundFile("a", 1, HOUR, HOUR)],
        [state("a")],
        suspect=("a",),
    ),
    Case("another size", [FoundFile("a", 2, HOUR)], [state("a")], suspect=("a",)),
    Case("gone", [], [state("a")], removed=("a",)),
    Case("renamed", [FoundFile("b", 1, HOUR)], [state("a")], new=("b",), removed=("a",)),
    Case(
        "read within two seconds of its time",
        [FoundFile("a", 1, SCANNED - RACY_NS + 1)],
        [state("a", mtime=SCANNED - RACY_NS + 1)],
        suspect=("a",),
    ),
    Case(
        "read two seconds after its time",
        [FoundFile("a", 1, SCANNED - RACY_NS)],
        [state("a", mtime=SCANNED - RACY_NS)],
        unchanged=1,
    ),
    Case(
        "a time in the future, as after the clock went back",
        [FoundFile("a", 1, SCANNED + HOUR)],
        [state("a", mtime=SCANNED + HOUR)],
        suspect=("a",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_the_plan_is_what_the_listing_says(case: Case) -> None:
    plan = plan_sync(case.found, {known.path: known for known in case.known})
    assert tuple(look.path for look in plan.new) == case.new
    assert tuple(look.path for look in plan.suspect) == case.suspect
    assert plan.removed == case.removed
    assert plan.unchanged == case.unchanged


def test_a_suspect_is_opened_with_its_hash_and_anew_without() -> None:
    found, known = [FoundFile("a", 2, HOUR)], {"a": state("a")}
    assert plan_sync(found, known).suspect == (Look("a", b"hash of a"),)
    assert plan_sync(found, known, anew=True).suspect == (Look("a", None),)
    assert plan_sync([FoundFile("a", 1, HOUR)], known, anew=True).unchanged == 0
