"""Everything an index holds, read as a reader would, and what must be true of it at any moment."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from asterism.models.embed.options import EmbedOptions
from asterism.models.embed.provider import make_embedder
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.catalogue.schema import CATALOGUE, FILE_TABLES
from asterism.store.lance.schema import ENTRY_COLUMNS
from asterism.store.lance.table import LanceTable

# A chunk's place and the reading it comes from may rightly differ: a file that was only touched
# keeps its rows.
_MAY_DIFFER = {"last_modified", "file_version"}
_COLUMNS = [name for name in ENTRY_COLUMNS if name not in _MAY_DIFFER]
_LIMIT = 10_000
_ROUNDING = 1e-5

WORDS = (("total", "first"), ("box", "open", "key"), ("f1",), ("second", "word"), ("users", "py"))
QUESTIONS = ("opens the box with a key", "adds up the total of f1", "what is counted")

# Two repositories of one project may have the same paths, and their numbers depend on the order of
# indexing: rows are told apart by the repository's name.
_FILES = "files f JOIN repositories r ON r.number = f.repo"
_QUERIES = {
    "files": "SELECT r.name, path, size, mtime_ns, content_hash, language, chunks, problems,"
    f" definitions, exports, imports, usages FROM {_FILES} ORDER BY r.name, path",
    "chunk keys": "SELECT r.name, path, n, c.id, text_hash"
    f" FROM {_FILES} JOIN chunks c ON f.number = c.file ORDER BY r.name, path, n",
    "symbols": "SELECT * FROM symbols ORDER BY repo, id, line",
    "declarations": "SELECT r.name, path, n, role, d.name, qualified_name, kind, line, is_exported,"
    f" chunk, ordinal, signature, module FROM {_FILES} JOIN declarations d ON f.number = d.file"
    " ORDER BY r.name, path, n",
    "links": "SELECT r.name, path, n, module, target, names, reexports"
    f" FROM {_FILES} JOIN links l ON f.number = l.file ORDER BY r.name, path, n",
    "skipped": "SELECT r.name, path, reason, detail"
    " FROM skipped s JOIN repositories r ON r.number = s.repo ORDER BY r.name, path",
    "options": "SELECT name, root, options_hash FROM repositories ORDER BY name",
}


class Violations(NamedTuple):
    """What is wrong with an index at its committed version."""

    lost: int = 0
    """Rows that the catalogue speaks of and the chunk table does not have."""
    orphans: int = 0
    """Rows of the chunk table that the catalogue does not know, repeated ones included."""
    other: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lost or self.orphans or self.other)


def violations(directory: Path) -> Violations:
    """Compare catalogue and chunk table at the committed version; nothing is repaired."""
    with Catalogue.open(directory) as catalogue, catalogue.snapshot():
        told = Counter(
            (repository.name, chunk, state.version, text_hash)
            for repository in catalogue.repositories()
            for path, state in catalogue.files(repository.name).items()
            for chunk, text_hash in catalogue.chunk_keys(repository.name, path)
        )
        version, name = catalogue.chunks_version(), catalogue.table.name
    held: Counter[tuple[str, str, int, bytes]] = Counter()
    if version:
        for entries in LanceTable.open(directory, name=name).snapshot(version).entries(_LIMIT):
            held.update((e.chunk.repo, e.chunk.id, e.file_version, e.text_hash) for e in entries)
    return Violations(
        (told - held).total(), (held - told).total(), tuple(_broken_references(directory))
    )


def _broken_references(directory: Path) -> Iterator[str]:
    with _connected(directory) as database:
        (health,) = database.execute("PRAGMA integrity_check").fetchone()
        if health != "ok":
            yield f"integrity check: {health}"
        for table in FILE_TABLES:
            sql = f"SELECT count(*) FROM {table} WHERE file NOT IN (SELECT number FROM files)"
            if count := database.execute(sql).fetchone()[0]:
                yield f"{count} rows of {table} belong to no file"
        chunks = {(file, n) for file, n in database.execute("SELECT file, n FROM chunks")}
        counted = Counter(file for file, _ in chunks)
        for number, path, said in database.execute("SELECT number, path, chunks FROM files"):
            if counted[number] != said:
                yield f"{path} has {counted[number]} chunks and should have {said}"
        places = list(database.execute("SELECT file, chunk FROM declarations"))
        for file, packed in database.execute("SELECT file, places FROM usages"):
            places += [(file, place[1]) for place in json.loads(packed)]
        if lost := sum(n is not None and (file, n) not in chunks for file, n in places):
            yield f"{lost} symbols name a chunk that does not exist"


class Whole(NamedTuple):
    """The content of an index: two of one tree are equal."""

    tables: dict[str, list[Any]]
    rows: list[tuple[Any, ...]]
    vectors: dict[tuple[str, str], bytes]
    matching: list[Any]
    """What full-text queries find."""
    nearest: list[dict[tuple[str, str], float]]
    """What vector queries answer, with distances."""


def whole(directory: Path) -> Whole:
    """Read everything at the committed version."""
    with _connected(directory) as database:
        tables = {name: database.execute(sql).fetchall() for name, sql in _QUERIES.items()}
    with Catalogue.open(directory) as catalogue:
        version, name = catalogue.chunks_version(), catalogue.table.name
    if not version:
        return Whole(tables, [], {}, [], [])
    snapshot = LanceTable.open(directory, name=name).snapshot(version)
    # The snapshot has no public way to give vectors and terms of all rows at once.
    rows = snapshot._dataset.to_table(columns=[*_COLUMNS, "vector"])
    columns = [map(_hashable, rows[name].to_pylist()) for name in _COLUMNS]
    vectors = [vector.tobytes() for vector in _vectors(rows["vector"])]
    keys = zip(rows["repo"].to_pylist(), rows["id"].to_pylist(), strict=True)
    return Whole(
        tables,
        sorted(zip(*columns, strict=True), key=repr),
        dict(zip(keys, vectors, strict=True)),
        [sorted(m.key for m in snapshot.matching(words, _LIMIT)) for words in WORDS],
        [{m.key: m.score for m in snapshot.nearest(v, _LIMIT)} for v in _questions()],
    )


def scores(directory: Path) -> list[Any]:
    """Every full-text query with its scores, which depend on how the rows are laid out."""
    with Catalogue.open(directory) as catalogue:
        version, name = catalogue.chunks_version(), catalogue.table.name
    snapshot = LanceTable.open(directory, name=name).snapshot(version)
    return [
        sorted((match.key, round(match.score, 2)) for match in snapshot.matching(words, _LIMIT))
        for words in WORDS
    ]


def differences(one: Whole, other: Whole) -> list[str]:
    """Where two indexes differ, a line for each part."""
    found = [
        f"{name}: {_sample(ours, theirs)}"
        for (name, ours), theirs in zip(one.tables.items(), other.tables.values(), strict=True)
        if ours != theirs
    ]
    if one.rows != other.rows:
        found.append(f"rows: {_sample(one.rows, other.rows)}")
    if one.vectors != other.vectors:
        unlike = [
            key
            for key in one.vectors.keys() | other.vectors.keys()
            if one.vectors.get(key) != other.vectors.get(key)
        ]
        found.append(f"vectors: {len(unlike)}, such as {min(unlike)}")
    if one.matching != other.matching:
        found.append(f"text queries: {_sample(one.matching, other.matching)}")
    if not all(map(_alike, one.nearest, other.nearest)):
        found.append(f"vector queries: {_sample(one.nearest, other.nearest)}")
    return found


def _sample(one: list[Any], other: list[Any]) -> str:
    ours = [repr(item) for item in one if item not in other]
    theirs = [repr(item) for item in other if item not in one]
    shown = f"{(ours or [''])[0][:160]} <> {(theirs or [''])[0][:160]}"
    return f"{len(ours)} here, {len(theirs)} there, such as {shown}"


def _questions() -> Any:
    embedder = make_embedder(EmbedOptions())
    try:
        return embedder.embed_queries(QUESTIONS)
    finally:
        embedder.close()


def _alike(one: dict[tuple[str, str], float], other: dict[tuple[str, str], float]) -> bool:
    """Sums of products differ in their last digits with the order of the rows."""
    return one.keys() == other.keys() and all(
        abs(score - other[key]) < _ROUNDING for key, score in one.items()
    )


def _vectors(column: Any) -> Any:
    from asterism.store.lance.schema import matrix_of

    return matrix_of(column)


def _hashable(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


@contextmanager
def _connected(directory: Path) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(f"file:{directory / CATALOGUE}?mode=ro", uri=True)
    try:
        yield database
    finally:
        database.close()
