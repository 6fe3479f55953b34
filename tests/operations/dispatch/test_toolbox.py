"""Are failures answered without what they are made of, and do threads keep out of each other's way?"""

import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.operations.calls import Caller, Standpoint
from asterism.operations.dispatch.toolbox import Toolbox
from tests.servers.conftest import ROOT, copy_of_harbor, make_engine

ARENAS = """
import ctypes, sys
from pathlib import Path
from threading import Barrier, Thread
from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.toolbox import Toolbox
from tests.servers.conftest import make_engine
base, harbor, file = map(Path, sys.argv[1:])
toolbox, together = Toolbox(make_engine(base), Standpoint(harbor)), Barrier(4)
def search():
    together.wait()
    assert toolbox.call("search_code", {"query": "webhook"}).error is None
    together.wait()
threads = [Thread(target=search) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
toolbox.close()
system = ctypes.CDLL(None)
system.fopen.restype = ctypes.c_void_p
stream = ctypes.c_void_p(system.fopen(bytes(file), b"w"))
system.malloc_info(0, stream)
system.fclose(stream)
"""


def test_a_defect_is_answered_without_its_message(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_root: str) -> Settings:
        raise RuntimeError("the words of /a/secret/place")

    engine = Engine(DataDirectories(tmp_path / "data", tmp_path / "cache"), broken)
    repository = copy_of_harbor(tmp_path)
    engine.register(repository)
    with caplog.at_level(logging.ERROR, "asterism"):
        reply = Toolbox(engine, Standpoint(repository)).call("index_status", {})
    assert reply.error == "internal_error"
    assert reply.parts[0].text.endswith("[internal_error]")
    assert "secret" not in reply.parts[0].text
    assert any(record.exc_info for record in caplog.records)


def test_a_client_that_left_is_not_answered(toolbox: Toolbox) -> None:
    reply = toolbox.call("search_code", {"query": "x"}, Caller(gone=lambda: True))
    assert reply.error == "cancelled"


def test_indexing_for_a_client_that_left_stops_and_keeps_what_was_done(tmp_path: Path) -> None:
    engine = make_engine(tmp_path)
    toolbox = Toolbox(engine, Standpoint(copy_of_harbor(tmp_path), is_root=True))
    heard: list[object] = []
    leaving = Caller(heard.append, lambda: len(heard) > 3)
    stopped = toolbox.call("index_codebase", {}, leaving)
    assert (stopped.structured or {})["state"] == "cancelled"
    done = toolbox.call("index_codebase", {})
    assert (done.structured or {})["state"] == "done"
    toolbox.close()


def test_threads_share_one_engine(tmp_path: Path) -> None:
    engine = make_engine(tmp_path)
    repositories = []
    for name in ("one", "two", "three"):
        root = tmp_path / name
        root.mkdir()
        (root / "code.py").write_text(f"def find_{name}():\n    return {name!r}\n" * 3)
        registered = engine.register(root)
        engine.index(registered)
        repositories.append(registered.repository)
    toolbox = Toolbox(engine)

    def ask(number: int) -> tuple[str, set[str]]:
        repository = repositories[number % 3]
        tool = ("search_code", "symbol_lookup", "codebase_search", "index_status")[number % 4]
        word = {"symbol_lookup": "name", "index_status": "path"}.get(tool, "query")
        value = repository.root if word == "path" else f"find_{repository.name}"
        reply = toolbox.call(tool, {word: value, "repository_id": repository.id})
        assert reply.error is None, reply.parts
        rows = (reply.structured or {}).get("results", [])
        return repository.name, {row["repo"] for row in rows}

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask, range(96)))
    toolbox.close()
    assert all(repos <= {name} for name, repos in answers)
    assert sum(bool(repos) for _, repos in answers) == 24


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other allocators")
def test_threads_share_one_arena(indexed_base: Path, harbor: Path, tmp_path: Path) -> None:
    # What is free in one arena is of no use to the threads of another.
    told = tmp_path / "malloc.xml"
    arguments = map(str, (indexed_base, harbor, told))
    subprocess.run([sys.executable, "-c", ARENAS, *arguments], cwd=ROOT, check=True)
    assert told.read_text("ascii").count("<heap nr=") == 1
