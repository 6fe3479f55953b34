"""The newest job of each repository, as other processes see it and may stop it."""

from asterism.store.database import Database
from asterism.store.stored_text import clean
from asterism.types.catalogue import Job

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
