"""The records' database: private, brought up to date once, refused when it is newer or damaged."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from asterism.records.conversations import Conversations
from asterism.records.database import REVISIONS, RecordsDatabase, open_database
from asterism.records.options import FILE, RecordsOptions
from asterism.records.rows import METADATA, SESSIONS, TURNS
from asterism.records.turns import NewTurn, Turns
from asterism.telemetry.notices import taken
from asterism.types.chat import Shelf
from asterism.types.errors import (
    RecordsCorrupt,
    RecordsTooNew,
    RecordsUnreachable,
    SettingError,
    StorageFailed,
)
from tests.faults.damage import DAMAGES, NOTHING_EARLIER
from tests.faults.privileges import permissions_count

TABLES = {TURNS.name, SESSIONS.name}

OPEN = """
import sys
from pathlib import Path
from asterism.records.database import open_database
from asterism.records.options import RecordsOptions
open_database(RecordsOptions(Path(sys.argv[1]), sys.argv[2])).close()
"""


def opening(options: RecordsOptions) -> list[str]:
    return [sys.executable, "-c", OPEN, str(options.directory), options.url]


def test_the_tables_are_what_the_code_says(database: RecordsDatabase) -> None:
    assert {*METADATA.tables} >= TABLES
    with database.reading() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, METADATA) == []


def test_the_ledger_names_every_step() -> None:
    config = Config()
    config.set_main_option("script_location", "asterism.records:migrations")
    config.set_main_option("path_separator", "os")
    steps = [step.revision for step in ScriptDirectory.from_config(config).walk_revisions()]
    assert steps[::-1] == list(REVISIONS)


def test_opening_again_loads_no_migrations(options: RecordsOptions) -> None:
    open_database(options).close()
    code = f"{OPEN}\nassert 'alembic' not in sys.modules\n"
    done = subprocess.run(
        [sys.executable, "-c", code, str(options.directory), options.url],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_several_processes_at_once(options: RecordsOptions) -> None:
    started = [
        subprocess.Popen(opening(options), stderr=subprocess.PIPE, text=True) for _ in range(4)
    ]
    for process in started:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    with closing(open_database(options)) as database, database.reading() as connection:
        assert connection.scalar(text("SELECT count(*) FROM alembic_version")) == 1


def test_a_newer_schema_is_refused(options: RecordsOptions) -> None:
    with closing(open_database(options)) as database, database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(RecordsTooNew, match=r"newer Asterism \(schema 9999.*update Asterism"):
        open_database(options)


def test_a_kill_during_the_upgrade_changes_nothing(options: RecordsOptions) -> None:
    code = _with_kill()
    done = subprocess.run(
        [sys.executable, "-c", code, str(options.directory), options.url], check=False
    )
    assert done.returncode == -9
    with closing(open_database(options)) as database, database.reading() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, METADATA) == []


def _with_kill() -> str:
    """Opens the records, and dies when the last table of conversations is to be made."""
    before = (
        "import os, sqlalchemy\n"
        "from sqlalchemy import event\n"
        "@event.listens_for(sqlalchemy.Engine, 'before_cursor_execute')\n"
        "def execute(connection, cursor, statement, *rest):\n"
        "    if 'CREATE TABLE turn_events' in statement:\n"
        "        os.kill(os.getpid(), 9)\n"
    )
    return before + OPEN


def test_an_error_takes_back_the_whole_write(database: RecordsDatabase) -> None:
    def rows(connection: Connection) -> int:
        return connection.scalar(text("SELECT count(*) FROM alembic_version")) or 0

    def fail() -> None:
        with database.writing() as connection:
            connection.execute(text("DELETE FROM alembic_version"))
            assert rows(connection) == 0
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with database.reading() as connection:
        assert rows(connection) == 1


def test_the_file_is_the_users_own(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with closing(open_database(RecordsOptions(tmp_path / "a" / "b"))) as database:
            modes = {
                path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "a/b").iterdir()
            }
            with database.reading() as connection:
                assert connection.scalar(text("PRAGMA journal_mode")) == "wal"
    finally:
        os.umask(before)
    assert FILE in modes
    assert {*modes.values()} == {0o600}
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("content", [b"This is no database at all. " * 200, b"x" * 5_000])
def test_a_file_that_is_not_a_database(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(RecordsCorrupt, match="move it away"):
        open_database(RecordsOptions(tmp_path))
    assert (tmp_path / FILE).read_bytes() == content


@pytest.mark.parametrize("damage", ["emptied", "half", "flipped head", "zeroed middle", "deleted"])
def test_damaged_conversations_are_put_aside_and_never_deleted(tmp_path: Path, damage: str) -> None:
    with closing(open_database(RecordsOptions(tmp_path))) as database:
        for number in range(200):
            Turns(database).begin(NewTurn(f"question {number} " * 50))
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert DAMAGES[damage](tmp_path / FILE, NOTHING_EARLIER)
    content = (tmp_path / FILE).read_bytes() if (tmp_path / FILE).exists() else b""
    taken()
    with closing(open_database(RecordsOptions(tmp_path))) as database:
        Turns(database).begin(NewTurn("a new one"))
        assert Conversations(database).page(Shelf.all).total == 1
    (said,) = taken()
    aside = [*tmp_path.glob(f"{FILE}.damaged-*")]
    if content:
        assert [path.read_bytes() for path in aside] == [content]
        assert aside[0].name in said
    else:
        assert (aside, "are gone: the file was removed or emptied" in said) == ([], True)
    open_database(RecordsOptions(tmp_path)).close()
    assert taken() == []


def test_a_directory_that_is_not_ours(tmp_path: Path) -> None:
    through = permissions_count()
    (tmp_path / "data").mkdir(mode=0o500)
    options = RecordsOptions(tmp_path / "data")
    done = subprocess.run(
        [*through, *opening(options)], capture_output=True, check=False, text=True
    )
    assert "StorageFailed: The conversations cannot be kept" in done.stderr


def test_a_directory_in_the_way(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(StorageFailed, match="Is a directory"):
        open_database(RecordsOptions(tmp_path))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nonsense", "no address of a database"),
        ("sqlite://", "absolute path"),
        ("sqlite:///relative.db", "absolute path"),
        ("sqlite:///:memory:", "absolute path"),
    ],
)
def test_invalid_addresses(tmp_path: Path, url: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        open_database(RecordsOptions(tmp_path, url))


def test_an_unknown_kind_of_database(tmp_path: Path) -> None:
    with pytest.raises(RecordsUnreachable, match="no library is installed"):
        open_database(RecordsOptions(tmp_path, "oracle+nothing://host/name"))


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    url = f"postgresql://asterism@/x?host={tmp_path}"
    with pytest.raises(RecordsUnreachable, match=r"does not answer") as caught:
        open_database(RecordsOptions(tmp_path, url, password="very-secret"))
    assert "very-secret" not in str(caught.value)


def test_a_sqlite_file_elsewhere(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/elsewhere/own.db"
    open_database(RecordsOptions(tmp_path / "unused", url)).close()
    assert (tmp_path / "elsewhere/own.db").stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "unused").exists()
