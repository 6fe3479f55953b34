"""What a failure of the database means to the user."""

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from asterism.types.errors import (
    AsterismError,
    RecordsCorrupt,
    RecordsError,
    RecordsUnreachable,
    StorageFailed,
)

_FULL = ("disk is full", "no space left", "disk i/o error", "could not extend file", "disk full")
_READ_ONLY = ("readonly", "read-only", "unable to open", "permission denied")
_DAMAGED = ("malformed", "not a database", "file is encrypted")
_BUSY = ("locked", "busy")


class Collision(RecordsError):
    """Two processes wrote what there may be only one of; the second did not."""


def failure(error: SQLAlchemyError, place: str) -> AsterismError:
    """The error that a user can act on; nothing of the statement, which may hold what was said."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    why = " ".join(str(cause).split()).rstrip(".") or type(cause).__name__
    words = why.lower()
    if isinstance(error, IntegrityError):
        return Collision(f"The conversations in {place} were changed meanwhile; ask again.")
    if _has(words, _FULL):
        return StorageFailed(
            f"The conversations in {place} could not be written: the disk is full. What was saved "
            "before is kept; free disk space, then ask again."
        )
    if _has(words, _READ_ONLY):
        return StorageFailed(
            f"The conversations in {place} cannot be opened or written ({why}); fix the "
            "permissions, or name another database with records.url."
        )
    if _has(words, _DAMAGED):
        return RecordsCorrupt(
            f"The conversations in {place} are damaged ({why}); restore the file from a backup, or "
            "move it away to begin anew."
        )
    if _has(words, _BUSY):
        return RecordsUnreachable(
            f"The conversations in {place} are being written by another process; ask again."
        )
    if isinstance(error, DBAPIError) and not error.connection_invalidated and _is_ours(error):
        return RecordsError(f"The conversations in {place} could not be used ({why}).")
    return RecordsUnreachable(
        f"The database of the conversations, {place}, does not answer ({why}); check records.url "
        "and ASTERISM_RECORDS_PASSWORD."
    )


def _has(words: str, signs: tuple[str, ...]) -> bool:
    return any(sign in words for sign in signs)


def _is_ours(error: DBAPIError) -> bool:
    """Whether the database answered, and did not like what it was asked."""
    return type(error).__name__ in ("ProgrammingError", "DataError")
