"""One file under the lens: what the index holds of it, and why not the rest."""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.contents import read_outline
from asterism.analysis.source.discovery import DiscoveryOptions, walk
from asterism.analysis.source.text import read
from asterism.config.load import discovery_options
from asterism.config.settings import Settings
from asterism.indexing.plan import content_hash
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import ChunkKey
from asterism.store.registry import Registered
from asterism.types.errors import (
    IndexMissing,
    InputError,
    PathMissing,
    PathUnreadable,
    StoreError,
    WrongPathKind,
)
from asterism.types.files import FoundFile, SkipReason, display_path
from asterism.types.index import Chunk, FileState, Link, Repository, Role
from asterism.types.index_states import damaged, not_indexed
from asterism.types.outline import Problem


class FileFreshness(StrEnum):
    """How what the index holds of a file compares with the disk."""

    equal = "equal"
    changed = "changed"
    new = "new"
    gone = "gone"
    excluded = "excluded"
    """The index still holds it, although it would be skipped now."""
    skipped = "skipped"
    """It is not indexed, and rightly so."""
    unknown = "unknown"
    """The index or the file cannot be read."""


class DiskFacts(NamedTuple):
    """What the directory entry says."""

    size: int
    mtime: float
    link: bool


class FileVerdict(NamedTuple):
    """The result of discovery for a file now."""

    indexed: bool
    reason: SkipReason | None = None
    detail: str | None = None
    folder: str | None = None
    """The directory that is skipped as a whole, if the file itself was not listed."""


class IndexedChunk(NamedTuple):
    """A chunk as the catalogue knows it, and its row in the chunk table, if that can be read."""

    id: str
    text_hash: bytes
    chunk: Chunk | None = None
    has_vector: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """What the index holds of a file."""

    state: FileState | None = None
    chunks: tuple[IndexedChunk, ...] = ()
    symbols: Mapping[Role, int] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    importers: tuple[tuple[str, Link], ...] = ()
    trouble: str = ""
    """Why the index, or a part of it, could not be read."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """Everything `asterism debug file` shows."""

    registered: Registered
    path: str
    """Relative to the repository."""
    disk: DiskFacts | None
    verdict: FileVerdict | None
    """None where there is no file."""
    held: Held
    freshness: FileFreshness
    problems: tuple[Problem, ...] = ()
    """What is wrong with the file's syntax now."""
    unread: str = ""
    """Why the file itself was not read."""


def inspect_file(registered: Registered, path: Path, settings: Settings) -> Inspection:
    """Look at one file on disk and in the index; nothing is changed, a secret is not opened."""
    repository = registered.repository
    relative = _relative(repository, path)
    file = Path(repository.root, relative)
    disk = _disk_facts(file)
    held = _held(registered, relative)
    if disk is None and held.state is None:
        raise PathMissing(
            f"{display_path(str(path))} does not exist, and the index has nothing of it; "
            "check the path."
        )
    verdict = None
    if disk is not None:
        verdict = _verdict(repository.root, relative, discovery_options(settings))
    problems: tuple[Problem, ...] = ()
    unread = ""
    digest = None
    if verdict is not None and verdict.indexed:
        try:
            digest = content_hash(read(str(file)))
            problems = read_outline(str(file), relative).problems
        except InputError as error:
            unread = str(error)
    freshness = _freshness(held, verdict, digest)
    return Inspection(registered, relative, disk, verdict, held, freshness, problems, unread)


def _relative(repository: Repository, path: Path) -> str:
    """The path inside the repository; a link as the last name is not followed."""
    shown = display_path(str(path))
    if path.is_dir():
        raise WrongPathKind(f"{shown} is a directory; give the path of a file in it.")
    for candidate in (Path(os.path.realpath(path.parent), path.name), Path(os.path.normpath(path))):
        if candidate.is_relative_to(repository.root):
            return candidate.relative_to(repository.root).as_posix()
    raise PathMissing(f"{shown} is not below {display_path(repository.root)}; check the path.")


def _disk_facts(file: Path) -> DiskFacts | None:
    try:
        facts = file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        shown = display_path(str(file))
        why = error.strerror or str(error)
        raise PathUnreadable(f"{shown} could not be looked at: {why}.") from error
    return DiskFacts(facts.st_size, facts.st_mtime, file.is_symlink())


class _Others(Collection[FoundFile]):
    """Every file but one: the walk does not read the content of these."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __contains__(self, entry: object) -> bool:
        return isinstance(entry, FoundFile) and entry.path != self._path

    def __iter__(self) -> Iterator[FoundFile]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _verdict(root: str, relative: str, options: DiscoveryOptions) -> FileVerdict | None:
    """The walk's own word on the file: it is broken off where the file, or its directory, comes."""
    for entry in walk(root, options, _Others(relative)):
        if isinstance(entry, FoundFile):
            if entry.path == relative:
                return FileVerdict(True)
        elif entry.path == relative:
            return FileVerdict(False, entry.reason, entry.detail)
        elif relative.startswith(f"{entry.path.removesuffix('/')}/"):
            return FileVerdict(False, entry.reason, entry.detail, entry.path.removesuffix("/"))
    return None


def _held(registered: Registered, relative: str) -> Held:
    directory = registered.project.directory
    name = registered.repository.name
    try:
        with Catalogue.open(directory) as catalogue, catalogue.snapshot():
            if name not in {known.name for known in catalogue.repositories()}:
                return Held(trouble=not_indexed(registered.repository.root))
            state = catalogue.file(name, relative)
            # Others may still mean the file where it is gone.
            importers = catalogue.importers(name, [relative]).get(relative, [])
            if state is None:
                return Held(importers=tuple(importers))
            keys = catalogue.chunk_keys(name, relative)
            symbols = catalogue.symbol_counts(name, relative)
            links = catalogue.links(name, relative)
            version, table = catalogue.chunks_version(), catalogue.table.name
    except IndexMissing:
        return Held(trouble=not_indexed(registered.repository.root))
    except StoreError as error:
        return Held(trouble=str(error))
    chunks, trouble = _chunks(directory / table, name, version, keys)
    return Held(state, chunks, symbols, tuple(links), tuple(importers), trouble)


def _chunks(
    table: Path, repo: str, version: int, known: list[tuple[str, bytes]]
) -> tuple[tuple[IndexedChunk, ...], str]:
    """The rows behind the catalogue's keys, and what is wrong with them."""
    if not known:
        return (), ""
    from asterism.store.lance.table import LanceTable

    keys = [ChunkKey(repo, chunk_id) for chunk_id, _ in known]
    try:
        rows = LanceTable.open(table.parent, name=table.name).snapshot(version)
        chunks = {chunk.id: chunk for chunk in rows.chunks(keys)}
        vectors = {key.id for key in rows.vectors(keys)}
    except IndexMissing:
        return tuple(IndexedChunk(*key) for key in known), (
            damaged(table.parent, "it has lost its chunks")
        )
    except StoreError as error:
        return tuple(IndexedChunk(*key) for key in known), str(error)
    found = tuple(
        IndexedChunk(chunk_id, text_hash, chunks.get(chunk_id), chunk_id in vectors)
        for chunk_id, text_hash in known
    )
    lost = sum(entry.chunk is None or not entry.has_vector for entry in found)
    if lost:
        return found, (
            damaged(
                table.parent,
                f"{lost} of {len(found)} chunks are in the catalogue and not in the chunk table",
                force=True,
            )
        )
    return found, ""


def _freshness(held: Held, verdict: FileVerdict | None, digest: bytes | None) -> FileFreshness:
    if held.state is None and held.trouble:
        return FileFreshness.unknown
    if verdict is None:
        return FileFreshness.gone
    if not verdict.indexed:
        return FileFreshness.excluded if held.state is not None else FileFreshness.skipped
    if held.state is None:
        return FileFreshness.new
    if digest is None:
        return FileFreshness.unknown
    return FileFreshness.equal if digest == held.state.content_hash else FileFreshness.changed
