"""The doctor's look at the conversations: what is there, what is wrong, and nothing changed."""

from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from asterism.config.sections import RecordsSettings
from asterism.config.settings import Settings
from asterism.engine.doctor.checks import record_findings
from asterism.records.database import open_database
from asterism.records.options import FILE, RecordsOptions
from asterism.records.turns import NewTurn, Turns
from asterism.types.errors import RecordsCorrupt, RecordsTooNew


def looked(data: Path, settings: Settings | None = None) -> str:
    (finding,) = record_findings(settings or Settings(), data)
    return finding.message


def test_none_yet(tmp_path: Path) -> None:
    assert looked(tmp_path) == "none yet"
    elsewhere = RecordsSettings(url=f"sqlite:///{tmp_path}/own.db")
    assert looked(tmp_path, Settings(records=elsewhere)) == "none yet"
    assert [*tmp_path.iterdir()] == []


def test_how_many_and_where(tmp_path: Path) -> None:
    with closing(open_database(RecordsOptions(tmp_path))) as database:
        Turns(database).begin(NewTurn("q"))
        Turns(database).begin(NewTurn("p"))
    assert looked(tmp_path) == f"2 in {tmp_path / FILE}"


def test_tables_that_are_not_there_are_not_made(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    assert "brings the tables up to date" in looked(tmp_path)
    assert "brings the tables up to date" in looked(tmp_path)


def test_what_cannot_be_used(tmp_path: Path) -> None:
    opened = closing(open_database(RecordsOptions(tmp_path)))
    with opened as database, database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(RecordsTooNew):
        looked(tmp_path)
    (tmp_path / FILE).write_bytes(b"nonsense" * 1_000)
    with pytest.raises(RecordsCorrupt):
        looked(tmp_path)
