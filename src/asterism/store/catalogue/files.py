"""Queries of the catalogue about files: states, chunk keys, skipped paths, totals, imports."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence

from asterism.store.catalogue.batches import ROLES
from asterism.store.database import Database, Row, clean, loaded_id, loaded_path, stored_path
from asterism.types.index import (
    FileState,
    Job,
    Link,
    Pending,
    Resolution,
    Role,
    Signatures,
    Skipped,
    Statistics,
)
from asterism.types.outline import Declared, offered

_COLUMNS = "kind, state, pid, started, updated, files_done, files_total, chunks_done, sentence"


def job(database: Database, repo: str) -> Job | None:
    """The repository's job, if it ever had one."""
    row = database.one(f"SELECT {_COLUMNS} FROM jobs WHERE repo = ?", (repo,))
    return Job(*row) if row else None


def save_job(database: Database, repo: str, job: Job) -> None:
    """Record the job; a request to cancel is kept while the same job runs."""
    database.run(
        f"INSERT INTO jobs (repo, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (repo) DO UPDATE SET"
        " cancel = cancel AND started = excluded.started AND pid = excluded.pid"
        " AND excluded.state = 'running',"
        " kind = excluded.kind, state = excluded.state, pid = excluded.pid,"
        " started = excluded.started, updated = excluded.updated,"
        " files_done = excluded.files_done, files_total = excluded.files_total,"
        " chunks_done = excluded.chunks_done, sentence = excluded.sentence",
        (repo, *job._replace(sentence=clean(job.sentence))),
    )


def request_cancel(database: Database, repo: str) -> bool:
    """Leave a request for the running job; false if none runs."""
    return (
        database.run("UPDATE jobs SET cancel = 1 WHERE repo = ? AND state = 'running'", (repo,)) > 0
    )


def cancel_requested(database: Database, repo: str) -> bool:
    """Whether a request waits."""
    return database.one("SELECT 1 FROM jobs WHERE repo = ? AND cancel", (repo,)) is not None


_STATE = "path, size, mtime_ns, content_hash, version, scanned_ns, language, chunks, problems"
_SINCE_CTIME = 3
"""The schema that brought it; a reader of an older one takes it for unknown."""


def files(database: Database, repo: int) -> dict[str, FileState]:
    """Every file of a repository, by path."""
    rows = database.rows(f"SELECT {_state(database)} FROM files WHERE repo = ?", (repo,))
    found = {state[0]: FileState._make(state) for state in rows}
    # A path that is no UTF-8 comes as bytes, which is rare.
    for path in [path for path in found if not isinstance(path, str)]:
        state = found.pop(path)
        found[loaded_path(path)] = state._replace(path=loaded_path(path))
    return found


def file(database: Database, repo: int, path: str) -> FileState | None:
    """One file, if it is known."""
    row = database.one(
        f"SELECT {_state(database)} FROM files WHERE repo = ? AND path = ?",
        (repo, stored_path(path)),
    )
    return FileState(path, *row[1:]) if row else None


def chunk_keys(database: Database, repo: int, path: str) -> list[tuple[str, bytes]]:
    """Id and text hash of each chunk of a file, in order."""
    rows = database.rows(
        "SELECT c.id, c.text_hash FROM files f JOIN chunks c ON c.file = f.number"
        " WHERE f.repo = ? AND f.path = ? ORDER BY c.n",
        (repo, stored_path(path)),
    )
    return [(loaded_id(chunk_id), text_hash) for chunk_id, text_hash in rows]


def text_hashes(database: Database, repo: int | None) -> list[bytes]:
    """The hash of each chunk's text, of one repository or of all."""
    rows = database.rows(
        "SELECT c.text_hash FROM files f JOIN chunks c ON c.file = f.number"
        " WHERE ? IS NULL OR f.repo = ?",
        (repo, repo),
    )
    return [text_hash for (text_hash,) in rows]


def symbol_counts(database: Database, repo: int, path: str) -> dict[Role, int]:
    """How many symbols of each role a file has."""
    row = database.one(
        "SELECT definitions, exports, imports, usages FROM files WHERE repo = ? AND path = ?",
        (repo, stored_path(path)),
    )
    return dict(zip(ROLES, row or [0] * len(ROLES), strict=True))


def skipped(database: Database, repo: int) -> list[Skipped]:
    """The skipped paths in the order in which they were given."""
    rows = database.rows(
        "SELECT path, reason, detail FROM skipped WHERE repo = ? ORDER BY n", (repo,)
    )
    return [Skipped(loaded_path(path), reason, detail) for path, reason, detail in rows]


def skipped_counts(database: Database, repo: int) -> dict[str, int]:
    """How many paths were skipped for each reason, the most frequent first."""
    return dict(
        database.rows(
            "SELECT reason, count(*) FROM skipped WHERE repo = ?"
            " GROUP BY reason ORDER BY count(*) DESC, reason",
            (repo,),
        )
    )


def has_skipped(database: Database, repo: int, entries: Sequence[Skipped]) -> bool:
    """Whether exactly this is recorded as skipped, by its digest."""
    row = database.one("SELECT skipped_digest FROM repositories WHERE number = ?", (repo,))
    return row == (_digest(entries),)


def replace_skipped(database: Database, repo: int, entries: Sequence[Skipped]) -> None:
    """Record what is skipped now, unless the digest says that it is what it was."""
    if has_skipped(database, repo, entries):
        return
    digest = _digest(entries)
    with database.transaction():
        database.run("DELETE FROM skipped WHERE repo = ?", (repo,))
        database.many(
            "INSERT INTO skipped VALUES (?, ?, ?, ?, ?)",
            [
                (repo, n, stored_path(path), reason, None if detail is None else clean(detail))
                for n, (path, reason, detail) in enumerate(entries)
            ],
        )
        database.run("UPDATE repositories SET skipped_digest = ? WHERE number = ?", (digest, repo))


def pending(database: Database, repo: int) -> list[Pending]:
    """The files of a sync that did not finish."""
    rows = database.rows("SELECT path, content_hash, version FROM pending WHERE repo = ?", (repo,))
    return [Pending(loaded_path(path), *rest) for path, *rest in rows]


def set_pending(database: Database, repo: int, entries: Sequence[Pending]) -> None:
    """Replace what is pending; an empty list says that the sync has finished."""
    with database.transaction():
        database.run("DELETE FROM pending WHERE repo = ?", (repo,))
        database.many(
            "INSERT INTO pending VALUES (?, ?, ?, ?)",
            [(repo, stored_path(path), content, version) for path, content, version in entries],
        )


def statistics(database: Database, repo: int | None) -> Statistics:
    """How much is known, of one repository or of all."""
    where, values = ("", ()) if repo is None else ("WHERE repo = ?", (repo,))
    with database.snapshot():
        totals = database.one(
            "SELECT count(*), total(chunks), total(problems > 0), total(size), total(definitions),"
            f" total(exports), total(imports), total(usages) FROM files {where}",
            values,
        )
        languages = database.rows(
            f"SELECT language, count(*) FROM files {where}"
            " GROUP BY language ORDER BY count(*) DESC, language",
            values,
        )
        scanned = database.one(
            "SELECT min(scanned_ns) FROM repositories WHERE scanned_ns > 0"
            + (" AND number = ?" if values else ""),
            values,
        )
        pages = database.one(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        )
    counted, chunks, problems, size, *by_role = map(int, totals or [0] * 8)
    return Statistics(
        counted,
        chunks,
        dict(zip(ROLES, by_role, strict=True)),
        dict(languages),
        problems,
        size,
        scanned[0] / 1e9 if scanned and scanned[0] else None,
        pages[0] if pages else 0,
    )


def _state(database: Database) -> str:
    (version,) = database.one("PRAGMA user_version") or (0,)
    return f"{_STATE}, {'ctime_ns' if version >= _SINCE_CTIME else '0'}"


def _digest(entries: Sequence[Skipped]) -> bytes:
    # The representation of text is one-to-one, also where it cannot be encoded.
    return hashlib.blake2b(repr(list(map(tuple, entries))).encode(), digest_size=16).digest()


_LINK = "l.module, l.target, l.names, l.reexports"
# How many values one query may name; SQLite's own limit is far above.
_AT_ONCE = 500
_DEFINITION, _EXPORT, _IMPORT = map(ROLES.index, (Role.DEFINITION, Role.EXPORT, Role.IMPORT))


def signatures(
    database: Database, repo: int, paths: Collection[str], cut: Callable[[str], str]
) -> dict[str, Signatures]:
    """What each of the known files offers to others."""
    found: dict[str, Signatures] = {}
    for path in paths:
        file = database.one(
            "SELECT number, language FROM files WHERE repo = ? AND path = ?",
            (repo, stored_path(path)),
        )
        if file is not None:
            number, language = file
            found[path] = offered(path, language, _declared(database, number, cut))
    return found


def links(database: Database, repo: int, path: str) -> list[Link]:
    """The modules that a file imports, in order."""
    rows = database.rows(
        f"SELECT {_LINK} FROM files f JOIN links l ON l.file = f.number"
        " WHERE f.repo = ? AND f.path = ? ORDER BY l.n",
        (repo, stored_path(path)),
    )
    return [_link(database, row) for row in rows]


def importers(
    database: Database, repo: int, targets: Collection[str]
) -> dict[str, list[tuple[str, Link]]]:
    """For each target that is imported, who imports it and how."""
    found: dict[str, list[tuple[str, Link]]] = {}
    wanted = [stored_path(target) for target in dict.fromkeys(targets)]
    for start in range(0, len(wanted), _AT_ONCE):
        part = wanted[start : start + _AT_ONCE]
        marks = ",".join("?" * len(part))
        rows = database.rows(
            f"SELECT f.path, {_LINK} FROM links l CROSS JOIN files f ON f.number = l.file"
            f" WHERE l.target IN ({marks}) AND f.repo = ? ORDER BY f.path, l.n",
            [*part, repo],
        )
        for path, *row in rows:
            link = _link(database, tuple(row))
            if link.target is not None:
                found.setdefault(link.target, []).append((loaded_path(path), link))
    return found


def importing_paths(database: Database, repo: int, targets: Collection[str]) -> dict[str, set[str]]:
    """For each target that is imported, the paths of the files that do, and nothing else of them.

    A tenth of what `importers` costs, which reads the imported names as well.
    """
    found: dict[str, set[str]] = {}
    wanted = [stored_path(target) for target in dict.fromkeys(targets)]
    for start in range(0, len(wanted), _AT_ONCE):
        part = wanted[start : start + _AT_ONCE]
        marks = ",".join("?" * len(part))
        rows = database.rows(
            "SELECT l.target, f.path FROM links l CROSS JOIN files f ON f.number = l.file"
            f" WHERE l.target IN ({marks}) AND f.repo = ?",
            [*part, repo],
        )
        for target, path in rows:
            found.setdefault(loaded_path(target), set()).add(loaded_path(path))
    return found


def resolutions(database: Database, repo: int) -> Iterator[Resolution]:
    """What every import of a repository was found to mean."""
    rows = database.rows(
        "SELECT f.path, l.module, l.target, l.reexports FROM files f"
        " JOIN links l ON l.file = f.number WHERE f.repo = ?",
        (repo,),
    )
    for path, module, target, reexports in rows:
        loaded = None if target is None else loaded_path(target)
        yield Resolution(loaded_path(path), module, loaded, bool(reexports))


def _link(database: Database, row: Row) -> Link:
    module, target, names, reexports = row
    loaded = None if target is None else loaded_path(target)
    return Link(module, loaded, tuple(database.unpacked(names)), bool(reexports))


def _declared(database: Database, file: int, cut: Callable[[str], str]) -> Declared:
    rows = database.rows(
        "SELECT role, name, coalesce(qualified_name, name), signature, module"
        " FROM declarations WHERE file = ? ORDER BY n",
        (file,),
    )
    return Declared(
        [
            (name, cut(signature or ""))
            for role, name, qualified, signature, _ in rows
            if role == _DEFINITION and qualified == name
        ],
        [(name, there, module) for role, name, there, _, module in rows if role == _EXPORT],
        [
            (name, module, qualified[len(module) + 1 :])
            for role, name, qualified, _, module in rows
            if role == _IMPORT and module is not None and qualified != module
        ],
    )
