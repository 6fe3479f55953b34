"""One state of an index has one sentence, whichever command says it, with the advice that suffices."""

import errno
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from asterism.config.settings import Settings
from asterism.engine.doctor.checks import index_findings
from asterism.engine.doctor.machine import Finding
from asterism.engine.status import ListedState, list_repositories
from asterism.store.catalogue.schema import FILE_TABLES
from asterism.store.table_files import look_at, look_by_chance, look_deep, stamp_of, sums_of
from asterism.types.errors import AsterismError, StorageFailed
from asterism.types.index import TableFile
from asterism.types.index_states import unreadable, without_advice
from tests.faults.damage import PARTS, apply
from tests.faults.privileges import permissions_count
from tests.faults.workplace import Workplace, workplace
from tests.store.spoiling import change_catalogue


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    made = workplace(tmp_path)
    made.index()
    return made


def never_indexed(place: Workplace) -> None:
    engine = place.engine()
    engine.remove(place.registered())
    engine.register(place.root)


def first_build(job: str) -> Callable[[Workplace], None]:
    """A first build that wrote nothing."""
    return lambda place: change_catalogue(
        place.directory,
        f"UPDATE jobs SET kind = 'build', files_done = 3, files_total = 14, {job}",
        "UPDATE facts SET value = 0 WHERE key = 'chunks_version'",
        *(f"DELETE FROM {table}" for table in (*FILE_TABLES, "files")),
    )


def damaged(part: str) -> Callable[[Workplace], None]:
    return lambda place: _damage(place, part)


def _damage(place: Workplace, part: str) -> None:
    assert apply(part, "half", place.data, place.home / "cache") is not None


def lost(place: Workplace) -> None:
    (place.directory / "chunks.lance").rename(place.home / "elsewhere")


_KILLED = first_build("state = 'running', pid = 1073741824")
STATES: dict[str, tuple[Callable[[Workplace], None], ListedState, str]] = {
    "never indexed": (never_indexed, ListedState.unindexed, "is not indexed yet; run"),
    "first build killed": (
        _KILLED,
        ListedState.unfinished,
        "was interrupted after 3 of 14 files; run `asterism index {root}` to go on.",
    ),
    "first build under way": (
        first_build("state = 'running', pid = 1"),
        ListedState.unfinished,
        "is under way (3 of 14 files); ask again",
    ),
    "catalogue damaged": (damaged("catalogue"), ListedState.damaged, "is damaged (its catalogue"),
    "table damaged": (damaged("data"), ListedState.damaged, "is damaged (1 file: data/"),
    "table lost": (lost, ListedState.damaged, "is damaged (it has lost its chunks); run"),
}


def findings(place: Workplace) -> list[Finding]:
    name = place.registered().repository.name
    found = index_findings(place.data, lambda _root: Settings())
    return [finding for finding in found if finding.check == name]


@pytest.mark.parametrize("state", STATES)
def test_one_sentence_everywhere(place: Workplace, state: str) -> None:
    prepare, listed, words = STATES[state]
    prepare(place)
    engine = place.engine()
    said = engine.status(place.registered()).verdict.message
    assert words.format(root=place.root) in said
    (entry,) = list_repositories(engine.registry)
    assert (entry.state, entry.note) == (listed, said)
    (finding,) = findings(place)
    assert finding.message.startswith(without_advice(said))
    if "first build" not in state:
        # A search goes on with a first build.
        with pytest.raises(AsterismError) as caught:
            place.search("total")
        assert str(caught.value) == said


@pytest.mark.parametrize("state", [state for state in STATES if "damaged" in state])
def test_the_command_that_is_named_suffices(place: Workplace, state: str) -> None:
    STATES[state][0](place)
    (finding,) = findings(place)
    assert finding.advice == f"Run `asterism index {place.root}`."
    assert "--force" not in place.engine().status(place.registered()).verdict.message
    place.index()
    place.check()


def test_a_search_goes_on_with_a_first_build_that_was_killed(place: Workplace) -> None:
    _KILLED(place)
    assert place.search("total").state.message == ""
    assert findings(place)[0].advice == ""


# What a search reads; all of it exists in this index.
READ = ("data", "manifest", "catalogue", "registry")


@pytest.mark.parametrize("part", READ)
def test_permission_is_not_damage(place: Workplace, part: str) -> None:
    path = PARTS[part](place.data, place.home / "cache")
    assert path is not None
    mode = path.stat().st_mode
    before = path.read_bytes()
    path.chmod(0)
    way = permissions_count()
    try:
        for words in (["search", "total"], ["doctor"], ["index"]):
            said = place.run(*words, through=way)
            text = " ".join((said.out + said.err).split())
            assert (said.code, "Traceback" in text) == (1 if words == ["doctor"] else 2, False), (
                text
            )
            assert "permission denied); fix the permissions, or run as the user" in text
            assert "damaged" not in text
            assert "build it again" not in text
            assert "--force" not in text
    finally:
        path.chmod(mode)
    assert path.read_bytes() == before
    assert place.search("total").selection.kept


@pytest.mark.parametrize(
    ("part", "advice"),
    [
        ("catalogue", "or run as the user who built it."),
        ("registry", "built it. Or set ASTERISM_DATA_DIR to another directory."),
    ],
)
def test_status_of_what_cannot_be_read(place: Workplace, part: str, advice: str) -> None:
    path = PARTS[part](place.data, place.home / "cache")
    assert path is not None
    assert place.run("status").code == 0
    path.chmod(0)
    said = place.run("status", through=permissions_count())
    path.chmod(0o600)
    assert said.code == 2
    assert advice in " ".join((said.out + said.err).split())


@pytest.fixture
def failing(tmp_path: Path) -> tuple[Path, TableFile]:
    """A table with a file that the system has and refuses to read, as on a failing disk."""
    table = tmp_path / "chunks.lance"
    table.mkdir()
    (table / "rows").symlink_to("/proc/self/mem")
    with pytest.raises(OSError, match="Input/output error"):
        sums_of(table / "rows")
    stamp = stamp_of(table / "rows")
    return table, TableFile("rows", stamp._replace(mtime_ns=1), bytes(4))


LOOKS: list[Callable[[Path, TableFile], object]] = [
    lambda table, file: look_at(table, [file]),
    lambda table, file: look_deep(table, [file]),
    lambda table, file: look_by_chance(
        table, [file._replace(stamp=file.stamp._replace(size=1))], Random(1)
    ),
]


@pytest.mark.parametrize("look", LOOKS, ids=["stamps", "deep", "chance"])
def test_an_input_or_output_error_is_not_damage(
    failing: tuple[Path, TableFile], look: Callable[[Path, TableFile], object]
) -> None:
    table, file = failing
    with pytest.raises(StorageFailed) as caught:
        look(table, file)
    assert str(caught.value) == unreadable(table.parent, errno.EIO, "rows")
    assert "input/output error); check the disk" in str(caught.value)
