"""A search where there is nothing to search yet, and what a request may not ask."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.store.catalogue.catalogue import Catalogue
from asterism.types.errors import IndexMissing, UsageError
from asterism.types.index import Job
from asterism.types.search import Mode
from tests.engine.conftest import make

ASKED = SearchRequest(text="apple", mode=Mode.exact)


def test_a_repository_is_indexed_or_not(engine: Engine, tmp_path: Path) -> None:
    first = engine.register(make(tmp_path / "first", a="apple = 1\n"), project="both")
    second = engine.register(make(tmp_path / "second", a="apple = 2\n"), project="both")
    assert not engine.is_indexed(first)
    engine.index(first)
    assert (engine.is_indexed(first), engine.is_indexed(second)) == (True, False)
    assert len(engine.search(first, ASKED).selection.kept) == 1
    with pytest.raises(IndexMissing, match="second is not indexed yet; run `asterism index"):
        engine.search(second, ASKED)


def test_an_index_that_is_being_built(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    registered = engine.register(tmp_path / "empty")
    engine.index(registered)
    with pytest.raises(IndexMissing, match="is empty: no file was indexed"):
        engine.search(registered, ASKED)
    now = time.time()
    job = Job("build", "running", os.getpid(), now, now, files_done=3, files_total=7)
    with Catalogue.open(registered.project.directory, writable=True) as catalogue:
        catalogue.save_job(registered.repository.name, job)
    with pytest.raises(IndexMissing, match=r"under way \(3 of 7 files\); ask again"):
        engine.search(registered, ASKED)


def test_another_repository_of_the_project(engine: Engine, tmp_path: Path) -> None:
    first = engine.register(make(tmp_path / "first", a="apple = 1\n"), project="both")
    second = engine.register(make(tmp_path / "second", b="apple = 2\n"), project="both")
    engine.index(first)
    engine.index(second)
    where = replace(ASKED.where, repos=("first", "second"))
    reply = engine.search(first, replace(ASKED, where=where))
    assert {kept.hit.chunk.relative_path for kept in reply.selection.kept} == {"a.py", "b.py"}
    with pytest.raises(UsageError, match="there is first, second"):
        engine.search(first, replace(ASKED, where=replace(where, repos=("third",))))


def test_places_that_were_not_read_are_accounted_for(engine: Engine, tmp_path: Path) -> None:
    files = {f"f{number}": "apple = 1\n" for number in range(320)}
    registered = engine.register(make(tmp_path / "many", **files))
    engine.index(registered)
    reply = engine.search(registered, ASKED)
    account = reply.selection.account
    assert (reply.total.matches, reply.places, account.total_count) == (320, 320, 320)
    assert account.total_count == account.returned_count + sum(account.dropped)
    assert account.over_count == account.dropped.budget == 310
