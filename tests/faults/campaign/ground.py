"""A repository with its index, what a fresh index of it answers, and what must hold after a fault."""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tests.faults.campaign.forks import Ended, command, in_child
from tests.faults.campaign.results import Result
from tests.faults.generated_repository import make_repository

# An index may take so much more than a fresh one.
DISK_RATIO = 1.5

# For how long replaced versions stay, because a query may be reading them.
_QUERY_SECONDS = 61.0

SEARCH = ("search", '"total"', "--mode", "exact", "--exhaustive", "--limit", "100", "--json")
"""A query whose answer is complete and in the order of the files, whatever a ranking says."""


class Hits(NamedTuple):
    """What a search answered."""

    code: int
    places: tuple[tuple[str, int, str], ...] = ()
    behind: bool = False
    """Whether it said that the index is not up to date, or not complete."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a fresh index over the same files holds and answers."""

    places: tuple[tuple[str, int, str], ...]
    whole: Any
    bytes: int


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a repository, its index and a fresh index beside it are."""

    home: Path

    @property
    def root(self) -> Path:
        """The repository."""
        return self.home / "repository"

    @property
    def data(self) -> Path:
        """Where indexes are."""
        return self.home / "data"

    @property
    def cache(self) -> Path:
        """Where vectors are cached."""
        return self.home / "cache"

    @property
    def encoder(self) -> Path:
        """Where the encoder is, if the settings are to ask for its vectors."""
        return self.home / "encoder"

    @property
    def fresh(self) -> "Ground":
        """The same repository with another index."""
        return Beside(self.home)

    def variables(self) -> dict[str, str]:
        """The environment of a command."""
        found = {
            "ASTERISM_DATA_DIR": str(self.data),
            "ASTERISM_CACHE_DIR": str(self.cache),
            "ASTERISM_INDEX_SYNC_SECONDS": "600",
            "HOME": str(self.home),
        }
        if self.encoder.is_dir():
            found["ASTERISM_EMBEDDING_UPGRADE"] = str(self.encoder)
        return found

    def do(self, words: Sequence[str], before: Callable[[], None] = lambda: None) -> Ended:
        """A command in a fork, to its end."""

        def work() -> int:
            enter(self)
            before()
            return command(words)

        return in_child(work)

    def project(self) -> Path:
        """The directory of the only project."""
        (found,) = (self.data / "projects").iterdir()
        return found

    def forget(self) -> None:
        """No index any more."""
        for directory in (self.data, self.cache):
            remove(directory)


class Beside(Ground):
    """The same repository, with an index in another place."""

    @property
    def data(self) -> Path:
        return self.home / "fresh" / "data"

    @property
    def cache(self) -> Path:
        return self.home / "fresh" / "cache"


def make_ground(home: Path, files: int) -> Ground:
    """A generated repository without an index."""
    made = Ground(home)
    make_repository(made.root, files)
    return made


def enter(ground: Ground) -> None:
    """Be in the repository, as its user is."""
    os.environ.update(ground.variables())
    os.chdir(ground.root)


def remove(directory: Path) -> None:
    """Remove a directory, whatever its permissions."""
    for path in (directory, *directory.rglob("*")) if directory.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(directory, ignore_errors=True)


def expected(ground: Ground) -> Expected:
    """Build a fresh index, and ask it."""
    fresh = ground.fresh
    fresh.forget()
    for words in (("index",), ("clean",)):
        ended = fresh.do(words)
        if ended.code != 0:
            raise RuntimeError(f"a fresh index could not be made: {ended}")
    size = size_of(fresh.data)
    return Expected(hits(fresh).places, read_whole(fresh), size)


def hits(ground: Ground) -> Hits:
    """Ask the index."""
    return hits_in(ground.do(SEARCH))


def hits_in(ended: Ended) -> Hits:
    """What a search printed."""
    start = ended.text.find("{\n")
    if ended.code not in (0, 1) or start < 0:
        return Hits(ended.code)
    reply = json.JSONDecoder().raw_decode(ended.text[start:])[0]
    # How much of a hit is shown depends on the tokens that the others leave.
    places = sorted(
        (hit["file_path"], hit["start_line"], hit["qualified_name"]) for hit in reply["results"]
    )
    state = reply["index_state"]
    behind = bool(state["behind"] or state["message"] or reply["notes"])
    return Hits(ended.code, tuple(places), behind)


def read_whole(ground: Ground) -> Any:
    """Everything the index holds."""

    def work() -> Any:
        from tests.faults.whole_index import whole

        return whole(ground.project())

    return in_child(work).value


def size_of(directory: Path) -> int:
    """Bytes below a directory."""
    return sum(path.lstat().st_size for path in directory.rglob("*") if path.is_file())


def age(ground: Ground) -> None:
    """Let the versions of each table look as old as queries never get."""
    for manifest in ground.data.glob("projects/*/*.lance/_versions/*.manifest"):
        moment = manifest.stat().st_mtime - _QUERY_SECONDS
        os.utime(manifest, (moment, moment))


def _left_of(ground: Ground) -> Any:
    """What is wrong with the index as the fault left it, as a reader would see it."""
    from asterism.indexing.lock import writer
    from asterism.types.errors import AsterismError, IndexBusy
    from tests.faults.whole_index import violations

    project = ground.project()
    try:
        with writer(project):
            pass
    except IndexBusy:
        return "the lock is held"
    try:
        return violations(project)
    except AsterismError as error:
        return error


def _differences(ground: Ground, wanted: Expected) -> list[str]:
    from tests.faults.whole_index import differences, violations, whole

    found = differences(whole(ground.project()), wanted.whole)
    broken = violations(ground.project())
    return [*found, str(broken)] if broken else found


def _compared(found: Hits, wanted: Expected) -> str:
    here, there = set(found.places), set(wanted.places)
    only = [str(place)[:120] for place in (*sorted(here - there)[:2], *sorted(there - here)[:2])]
    return (
        f"{len(found.places)} hits and not the {len(wanted.places)} of a fresh index: "
        f"{len(here - there)} only here, {len(there - here)} only there, such as {only}"
    )


class Examiner:
    """Looks at an index after a fault, has it repaired, and keeps the account."""

    def __init__(self, ground: Ground, result: Result) -> None:
        self._ground = ground
        self._result = result

    def note(self, run: str, ended: Ended) -> None:
        """Look at how a command ended that was to fail, or to be killed."""
        result = self._result
        result.runs += 1
        result.orphans += ended.orphans
        result.tracebacks += ended.has_traceback
        result.late += ended.late
        if ended.orphans:
            result.complain(run, f"{ended.orphans} processes were left")
        if ended.late:
            result.complain(run, "it did not end")
        if ended.has_traceback:
            result.complain(run, ended.text)
        elif ended.code not in (0, 1, 2, -9):
            result.complain(run, f"it ended with {ended.code}: {ended.text}")

    def answers(self, run: str, found: Hits, wanted: Expected) -> None:
        """A search that was answered must be right, or say that it may not be."""
        if found.code in (0, 1) and not found.behind and found.places != wanted.places:
            self._result.wrong += 1
            self._result.complain(run, _compared(found, wanted))

    def look(self, run: str) -> None:
        """As a reader, before any repair: what was committed is there."""
        if not (self._ground.data / "projects").is_dir() or not any(
            (self._ground.data / "projects").glob("*/catalogue.sqlite")
        ):
            return
        ended = in_child(lambda: _left_of(self._ground))
        found = ended.value
        if ended.code != 0 or isinstance(found, str | Exception):
            self._result.lost += 1
            self._result.complain(run, f"before the repair: {found or ended.text}")
        elif found:
            self._result.lost += found.lost + found.orphans or 1
            self._result.complain(run, f"before the repair: {found}")

    def mend(self, run: str, wanted: Expected, advised: bool = False) -> None:
        """Search and index as a user would; afterwards it is what a fresh index is.

        With `advised` the command that a message names may be needed.
        """
        ground, result = self._ground, self._result
        searched = ground.do(SEARCH)
        self._sensible(run, searched)
        self.answers(run, hits_in(searched), wanted)
        first = ground.do(("index",))
        if advised and first.code != 0 and "index --force" in first.text:
            first = ground.do(("index", "--force"))
        again = ground.do(("index",))
        for ended in (first, again):
            self._sensible(run, ended)
        if first.code != 0 or again.code != 0 or "Nothing to do" not in again.text:
            result.not_mended += 1
            result.complain(run, f"not repaired: {first.text} {again.text}")
            ground.forget()
            return
        found = hits(ground)
        if found != Hits(0, wanted.places):
            result.wrong += 1
            result.complain(run, f"after the repair: {_compared(found, wanted)}, {found.code}")
        compared = in_child(lambda: _differences(ground, wanted))
        if compared.value != []:
            result.wrong += 1
            result.complain(run, f"after the repair: {compared.value} {compared.text}")

    def weigh(self, run: str, wanted: Expected) -> None:
        """What is on the disk after `asterism clean`, once what it replaced may go too."""
        for _ in range(2):
            age(self._ground)
            self._sensible(run, self._ground.do(("clean",)))
        ratio = size_of(self._ground.data) / wanted.bytes
        self._result.disk = max(self._result.disk, ratio)
        if ratio > DISK_RATIO:
            self._result.complain(run, f"{ratio:.2f} times the disk of a fresh index")

    def _sensible(self, run: str, ended: Ended) -> None:
        self._result.tracebacks += ended.has_traceback
        self._result.late += ended.late
        if ended.has_traceback or ended.late or ended.code not in (0, 1, 2):
            self._result.complain(run, f"afterwards: {ended.code} {ended.text}")
