"""Every kind of damage to every kind of file: right hits or a clear error, then one repair."""

import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import pytest

from asterism.types.errors import AsterismError
from asterism.types.index import Staleness
from tests.faults.damage import DAMAGES, PARTS, Earlier, apply, combinations, remember
from tests.faults.test_damage import change
from tests.faults.whole_index import violations
from tests.faults.workplace import Workplace, workplace

QUERIES = ("adds up the total of f1", "opens the box with a key", "users")
HANGS_AFTER = 120
"""Seconds; opening a pipe would take for ever."""

# Of these nothing is read for an answer: they may be damaged without anything being wrong.
UNREAD = {"transaction", "version hint", "writer lock", "writer number", "watch record", "cache"}

Hits = list[list[tuple[str, int, float]]]


class Template(NamedTuple):
    """An index of two generations, and what it answers."""

    place: Workplace
    earlier: Earlier
    hits: Hits


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    place = workplace(tmp_path_factory.mktemp("template"))
    place.index()
    earlier = remember(place.data, place.home / "cache")
    change(place, "first", "second")
    place.index()
    found = hits(place)
    place.engine().records().database().close()
    assert all(found)
    return Template(place, earlier, found)


def hits(place: Workplace, data: Path | None = None) -> Hits:
    """What a process that has kept nothing answers."""
    return [
        [
            (kept.hit.chunk.relative_path, kept.hit.chunk.start_line, round(kept.hit.score, 4))
            for kept in place.search(query, data).selection.kept
        ]
        for query in QUERIES
    ]


@contextmanager
def no_hang() -> Iterator[None]:
    def give_up(_number: int, _frame: FrameType | None) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(HANGS_AFTER)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def check(template: Template, part: str, damage: str, home: Path) -> None:
    """Damage a copy of the template, search it, repair it by one command, search it again."""
    place, data, cache = Workplace(home), home / "data", home / "cache"
    shutil.copytree(template.place.data, data)
    shutil.copytree(template.place.home / "cache", cache)
    (home / "repository").symlink_to(template.place.root)
    there = template.place
    earlier = Earlier(
        {
            home / path.relative_to(there.home): content
            for path, content in template.earlier.contents.items()
        }
    )
    if apply(part, damage, data, cache, earlier) is None:
        return
    with no_hang():
        said = asked(place, template)
        if part not in UNREAD:
            state = status(place)
            assert said or state is not Staleness.corrupt, (said, state)
            assert not said or state is not Staleness.equal, (said, state)
        place.index()
        said = asked(place, template)
        assert said == ""
        assert status(place) is Staleness.equal
        assert not place.index().did_something
        assert not violations(place.directory)


def asked(place: Workplace, template: Template) -> str:
    """The hits are right; or what the error says."""
    try:
        found = hits(place)
    except AsterismError as error:
        return str(error)
    assert found == template.hits
    return ""


def status(place: Workplace) -> Staleness | None:
    """What `asterism status` says; nothing where it is an error."""
    try:
        return place.engine().status(place.registered()).verdict.staleness
    except AsterismError:
        return None


def test_the_catalogue_of_damage_is_large(template: Template) -> None:
    found = combinations(template.place.data, template.place.home / "cache")
    assert len(found) >= 200


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("part", PARTS)
def test_damage(template: Template, tmp_path: Path, part: str, damage: str) -> None:
    check(template, part, damage, tmp_path)
