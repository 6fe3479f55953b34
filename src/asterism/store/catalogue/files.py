"""What the catalogue knows of files: their states, their chunks' keys, skipped paths, totals."""

import hashlib
from collections.abc import Sequence

from asterism.store.catalogue.batches import ROLES
from asterism.store.database import Database, clean, loaded_id, loaded_path, stored_path
from asterism.types.index import FileState, Job, Pending, Role, Skipped, Statistics

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
