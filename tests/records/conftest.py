"""The two databases that the records are tested on, each empty for every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from asterism.records.database import RecordsDatabase, open_database
from asterism.records.options import RecordsOptions
from tests.records.postgres import new_database, running_server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with running_server() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def options(request: pytest.FixtureRequest, tmp_path: Path) -> RecordsOptions:
    if request.param == "sqlite":
        return RecordsOptions(tmp_path / "data")
    server: str = request.getfixturevalue("postgres_server")
    return RecordsOptions(tmp_path / "data", new_database(server))


@pytest.fixture
def database(options: RecordsOptions) -> Iterator[RecordsDatabase]:
    opened = open_database(options)
    yield opened
    opened.close()
