"""Housekeeping: indexes without a repository, leftovers of killed processes, old versions."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR
from typing import NamedTuple

from asterism.config.load import upgrade_options
from asterism.config.settings import Settings
from asterism.engine.stores import DataDirectories, open_index
from asterism.indexing.lock import upgrader, writer
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.catalogue.schema import changes_in_place
from asterism.store.encoder_vectors import (
    FILE_NAME,
    encoder_bytes,
    prune_encoder_vectors,
    remove_encoder_vectors,
)
from asterism.store.registry import Registered, Registry
from asterism.types.errors import AsterismError, IndexBusy, IndexMissing, StorageFailed

# No process still writes a draft that is older: the slowest takes seconds.
LEFTOVER_SECONDS = 3600

_CACHE = "embeddings.sqlite"
_PROJECTS = "projects"
# The files of a project's directory. A directory with any other file in it is not removed.
_OWN_NAMES = (
    *("catalogue.*", "chunks*.lance", "building", "project.json*", "second.sqlite*"),
    *("writer.lock", "writer.pid", "upgrade.lock", "upgrade.pid", "watch-*", "reading-*.spool"),
)
_OWN_MARKS = ("catalogue.sqlite", "chunks.lance", "writer.lock")


_NO_ORPHANS = (
    "Indexes without a project were kept, because the list of repositories was damaged and has "
    "just been made again; check `asterism repos`, then run `asterism clean` again."
)


class Removal(NamedTuple):
    """Something that was removed, or that a dry run would remove."""

    path: Path
    reason: str
    bytes: int


class GoneRepository(NamedTuple):
    """A repository whose directory is gone; the user decides whether its index is removed."""

    registered: Registered
    bytes: int
    """Of the whole project."""
    away: bool
    """Whether the directory above is missing too, as with a disk that is not mounted."""


@dataclass(frozen=True, slots=True)
class Cleaning:
    """What was removed and maintained, or in a dry run what would be."""

    dry_run: bool
    removals: tuple[Removal, ...]
    gone: tuple[GoneRepository, ...]
    maintained: tuple[str, ...]
    """Names of the projects whose tables were maintained."""
    left_alone: tuple[str, ...]
    """A sentence for each thing that could not be cleaned now."""
    bytes_before: int
    bytes_after: int

    @property
    def freed(self) -> int:
        """Bytes freed; 0 if other processes wrote more meanwhile."""
        return max(0, self.bytes_before - self.bytes_after)


def clean(
    registry: Registry,
    places: DataDirectories,
    settings: Callable[[str], Settings],
    dry_run: bool = False,
    cache: bool = False,
    orphans: bool = True,
) -> Cleaning:
    """Remove unneeded files; indexes of repositories that are gone are only listed.

    Without `orphans`, indexes without a project are kept.
    """
    before = _size(places.data) + _size(places.cache)
    work = _Work(registry, places, settings, dry_run)
    if orphans:
        work.orphans()
    else:
        work.left_alone.append(_NO_ORPHANS)
    work.leftovers()
    work.upkeep()
    gone = work.vanished()
    if cache:
        work.empty_cache()
    removed = sum(removal.bytes for removal in work.removals)
    after = before - removed if dry_run else _size(places.data) + _size(places.cache)
    return Cleaning(
        dry_run,
        tuple(work.removals),
        tuple(gone),
        tuple(work.maintained),
        tuple(work.left_alone),
        before,
        after,
    )


class _Work:
    """One cleaning under way."""

    def __init__(
        self,
        registry: Registry,
        places: DataDirectories,
        settings: Callable[[str], Settings],
        dry_run: bool,
    ) -> None:
        self._registry = registry
        self._places = places
        self._settings = settings
        self._dry_run = dry_run
        self.removals: list[Removal] = []
        self.maintained: list[str] = []
        self.left_alone: list[str] = []

    def orphans(self) -> None:
        """Directories of projects that are not registered."""
        # Listed before the registry is read, so that a project registered meanwhile is not removed.
        found = [*_entries(self._places.data / _PROJECTS)]
        known = {project.directory for project in self._registry.projects()}
        for path in found:
            if path in known:
                continue
            if path.is_symlink():
                self._remove(path, "a link to an index without a project")
            elif path.is_dir() and _is_ours(path):
                self._remove_index(path)

    def leftovers(self) -> None:
        """Files that killed processes left, and records of watchers of removed repositories."""
        for path in _entries(self._places.cache):
            if path.name.startswith(f"{_CACHE}.broken-"):
                self._remove(path, "a damaged cache that was put aside")
            elif path.name.startswith(f"{_CACHE}.new-") and _is_old(path):
                self._remove(path, "a draft of a process that ended")
        drafts = [*_entries(self._places.data)]
        for project in self._registry.projects():
            names = {entry.repository.name for entry in self._registry.repositories(project.id)}
            inside = [*_entries(project.directory)]
            drafts += inside
            for path in inside:
                watched = path.name.removeprefix("watch-").removesuffix(".json")
                if path.match("watch-*.json") and watched not in names:
                    self._remove(path, "the record of a watcher of a repository that is removed")
        for path in drafts:
            draft = path.name.endswith((".new", ".new-wal", ".new-shm", ".spool"))
            if draft and not path.is_dir() and _is_old(path):
                self._remove(path, "a draft of a process that ended")

    def upkeep(self) -> None:
        """Maintain every index thoroughly that has a repository."""
        for project in self._registry.projects():
            roots = [
                entry.repository.root
                for entry in self._registry.repositories(project.id)
                if not _is_gone(Path(entry.repository.root))
            ]
            if not roots:
                continue
            try:
                self._maintain(project.directory, roots[0])
                self.maintained.append(project.name)
                self._tidy_second(project.directory, roots[0])
            except IndexMissing:
                # Registered and not indexed yet.
                continue
            except IndexBusy as error:
                self.left_alone.append(f"{project.name} is being written to: {error}")
            except AsterismError as error:
                self.left_alone.append(f"{project.name} was left as it is: {error}")

    def vanished(self) -> list[GoneRepository]:
        """Repositories whose directory is gone; one that moved is named with its new place."""
        gone = []
        for entry in self._registry.repositories():
            root = Path(entry.repository.root)
            if not _is_gone(root):
                continue
            if (new := self._registry.new_root(entry)) is not None:
                self.left_alone.append(
                    f"{entry.repository.name} has moved to {new}; run `asterism index {new}`."
                )
                continue
            size = _size(entry.project.directory)
            gone.append(GoneRepository(entry, size, _is_gone(root.parent)))
        return gone

    def empty_cache(self) -> None:
        """Remove every cached vector."""
        from asterism.models.embed.cache import EmbeddingCache

        path = self._places.cache / _CACHE
        before = _size(path)
        if not before:
            return
        if self._dry_run:
            self.removals.append(Removal(path, "the cache of vectors", before))
            return
        # Any limit above 0 will do: the cache is emptied.
        with EmbeddingCache(self._places.cache, before) as cache:
            cache.clear()
            self.left_alone += cache.warnings
        freed = before - _size(path)
        self.removals.append(Removal(path, "the cache of vectors", max(0, freed)))

    def _maintain(self, directory: Path, root: str) -> None:
        with Catalogue.open(directory) as catalogue:
            if not changes_in_place(catalogue.manifest().schema_version):
                raise IndexMissing("The next sync writes an older index anew.")
        if self._dry_run:
            return
        with writer(directory):
            index = open_index(directory, self._settings(root), self._places)
            try:
                index.maintain(thorough=True)
            finally:
                index.close()

    def _tidy_second(self, directory: Path, root: str) -> None:
        """Remove encoder vectors that no setting asks for, and those of texts that are gone."""
        path = directory / FILE_NAME
        if not path.exists():
            return
        unwanted = upgrade_options(self._settings(root)) is None
        reason = "encoder vectors, which no setting asks for"
        if self._dry_run:
            if unwanted:
                self.removals.append(Removal(path, reason, encoder_bytes(directory)))
            return
        with upgrader(directory), Catalogue.open(directory) as catalogue:
            if unwanted:
                size = encoder_bytes(directory)
                remove_encoder_vectors(directory)
                self.removals.append(Removal(path, reason, size))
            else:
                prune_encoder_vectors(directory, set(catalogue.text_hashes()))

    def _remove_index(self, directory: Path) -> None:
        reason = "an index without a project"
        if self._dry_run:
            self._remove(directory, reason)
            return
        size = _size(directory)
        try:
            with writer(directory):
                self._remove(directory, reason, size)
        except (IndexBusy, StorageFailed) as error:
            self.left_alone.append(f"{directory} was left as it is: {error}")

    def _remove(self, path: Path, reason: str, size: int | None = None) -> None:
        """Remove a file, a link or a directory, only below the data and the cache directory."""
        if not _is_below(path, self._places.data) and not _is_below(path, self._places.cache):
            self.left_alone.append(f"{path} is reached through a link and was kept.")
            return
        size = _size(path) if size is None else size
        if not self._dry_run:
            try:
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
            except OSError as error:
                self.left_alone.append(f"{path} cannot be removed: {error.strerror}.")
                return
        self.removals.append(Removal(path, reason, size))


def _is_ours(directory: Path) -> bool:
    """Whether a directory holds only files that Asterism writes."""
    names = list(_entries(directory))
    marked = any(path.name in _OWN_MARKS for path in names)
    return marked and all(any(path.match(own) for own in _OWN_NAMES) for path in names)


def _is_below(path: Path, directory: Path) -> bool:
    """Whether a path is inside a directory after all links are resolved."""
    return path.parent.resolve().is_relative_to(directory.resolve())


def _is_gone(directory: Path) -> bool:
    """Whether the directory does not exist; one that cannot be read is not gone."""
    try:
        return not S_ISDIR(directory.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.lstat().st_mtime > LEFTOVER_SECONDS
    except OSError:
        return False


def _entries(directory: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from sorted(directory.iterdir())


def _size(path: Path) -> int:
    """Bytes of a file or of everything below a directory; links count for themselves."""
    total = 0
    pending = [str(path)]
    while pending:
        place = pending.pop()
        with suppress(OSError):
            facts = os.stat(place, follow_symlinks=False)  # noqa: PTH116 - thousands of files
            if not S_ISDIR(facts.st_mode):
                total += facts.st_size
                continue
            with os.scandir(place) as listing:
                pending.extend(entry.path for entry in listing)
    return total
