"""Brings a database to the schema of this version, whoever else does so at the same moment."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from sqlalchemy import Connection, inspect, text

from asterism.types.errors import RecordsTooNew

REVISIONS = ("0001",)
"""Every schema there was, oldest first: 0001 conversations, turns, events and sessions."""

_LEDGER = "alembic_version"
# Any number will do, as long as no other program uses it for the same database.
_LOCK = 4_732_011_590


def upgrade(
    reading: Callable[[], AbstractContextManager[Connection]],
    writing: Callable[[], AbstractContextManager[Connection]],
    place: str,
) -> None:
    """Make or change the tables if they are not those of this version.

    All steps are one transaction, and only one process takes it at a time: a kill in the middle
    leaves the database as it was.
    """
    with reading() as connection:
        if is_current(connection, place):
            return
    with writing() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        if not is_current(connection, place):
            _run(connection)


def is_current(connection: Connection, place: str) -> bool:
    """Whether the tables are those of this version; those of a newer one are refused."""
    if not inspect(connection).has_table(_LEDGER):
        return False
    revision = connection.execute(text(f"SELECT version_num FROM {_LEDGER}")).scalar()
    if revision is not None and revision not in REVISIONS:
        raise RecordsTooNew(
            f"The conversations in {place} were written by a newer Asterism (schema {revision}; "
            f"this one knows {REVISIONS[-1]}); update Asterism, or name another database with "
            "records.url."
        )
    return bool(revision == REVISIONS[-1])


def _run(connection: Connection) -> None:
    # Alembic takes a fifth of a second to load, and is needed once for each schema.
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", "asterism.records:migrations")
    config.set_main_option("path_separator", "os")
    command.upgrade(config, "head")
