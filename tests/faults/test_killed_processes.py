"""Nothing that Asterism starts outlives it, whatever it was doing when it was killed."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from tests.faults.kinship import Kin, described, processor_seconds
from tests.faults.test_processes import is_locked, is_running
from tests.faults.test_structure import program
from tests.faults.workplace import Command, Workplace, wait_until, workplace
from tests.servers.http_clients import served
from tests.servers.test_mcp_stdio import call, serving

# So many files that a command is still at work when it is killed.
MANY = 500

# Python's engine needs longer for this than any test waits.
HARD = "regex:(h*)*k"
HARD_TEXT = f"word = '{'h' * 60}'\n"


def check_ended(kin: Kin) -> None:
    """Wait for the end of all of them."""
    try:
        wait_until(lambda: not kin.left(), "their end")
    except AssertionError:
        pytest.fail(f"they still run: {described(kin.left())}")


def has_workers(kin: Kin, count: int) -> Callable[[Workplace, Command], bool]:
    """Whether a command has so many processes below it."""

    def enough(_place: Workplace, command: Command) -> bool:
        return len(kin.look(command.process.pid)) >= count

    return enough


# The fork server, what keeps account of its semaphores, and two workers.
@pytest.mark.parametrize("moment", ["locked", "fork server", "first worker", "workers", "running"])
def test_a_killed_indexer(tmp_path: Path, moment: str) -> None:
    place = workplace(tmp_path, MANY)
    kin = Kin()
    moments = {
        "locked": is_locked,
        "fork server": has_workers(kin, 2),
        "first worker": has_workers(kin, 3),
        "workers": has_workers(kin, 4),
        "running": is_running,
    }
    # Sockets are made there, and their paths may not be long.
    with tempfile.TemporaryDirectory() as temporary:
        through = [*marked(kin), f"TMPDIR={temporary}"]
        command = place.start("index", through=through)
        wait_until(lambda: moments[moment](place, command), "the command to be at work")
        kin.look(command.process.pid)
        semaphores = semaphores_of(command.process.pid)
        os.kill(command.process.pid, signal.SIGKILL)
        check_ended(kin)
        # Only now, because a process that is left keeps the pipes open.
        assert command.outcome().err == ""
        assert [path for path in semaphores if path.exists()] == []
        if moment in ("workers", "running"):
            assert list(Path(temporary).iterdir()) == []
    place.index()
    place.check()


def semaphores_of(pid: int) -> set[Path]:
    """The named semaphores that a process has open; Linux keeps them as files."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {Path(line.split()[-1]) for line in lines if "/dev/shm/sem." in line}


def marked(kin: Kin) -> list[str]:
    """What starts a command with its mark."""
    return ["env", *(f"{name}={value}" for name, value in kin.variables.items())]


def hard_repository(home: Path) -> Workplace:
    """A file that a pattern needs for ever to fail at, and one that a compiler is asked about."""
    place = Workplace(home)
    place.root.mkdir()
    (place.root / "hard.py").write_text(HARD_TEXT)
    (place.root / "web.ts").write_text(
        "export function paint() {}\nexport function page() {\n  paint();\n}\n"
    )
    return place


class Work(NamedTuple):
    """A request that a program works for."""

    tool: str
    route: str
    arguments: dict[str, object]
    seconds: float
    """Of the processor, after which the program is sure to be in the middle of it."""


WORK = {
    "exact/worker": Work("search_code", "/api/search", {"query": HARD, "mode": "exact"}, 0.2),
    "compiler.py": Work(
        "codebase_search", "/api/context", {"query": "symbol = web.ts > paint"}, 0.0
    ),
}
"""By the program's name."""


def is_at_work(kin: Kin, pid: int, name: str) -> bool:
    """Whether that program is in the middle of its work for a process."""
    return any(
        name in line and processor_seconds(process) > WORK[name].seconds
        # Programs get a few variables only, and so not the mark.
        for process in kin.look(pid)
        for line in described({process})
    )


def test_a_killed_search(tmp_path: Path) -> None:
    place = hard_repository(tmp_path)
    place.index()
    kin = Kin()
    command = place.start("search", HARD, "--exhaustive", through=marked(kin))
    wait_until(
        lambda: is_at_work(kin, command.process.pid, "exact/worker"), "the process that matches"
    )
    os.kill(command.process.pid, signal.SIGKILL)
    check_ended(kin)
    assert "Traceback" not in command.outcome().err


@pytest.mark.parametrize("name", WORK)
def test_a_killed_stdio_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    kin = Kin()
    place = prepared(tmp_path, kin, monkeypatch)
    with serving(tmp_path, place.root) as server:
        server.open()
        server.send(json.dumps(call(100, WORK[name].tool, **WORK[name].arguments)))
        kill_at_work(kin, server.process, name)


@pytest.mark.parametrize("name", WORK)
def test_a_killed_http_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    kin = Kin()
    place = prepared(tmp_path, kin, monkeypatch)
    work = WORK[name]
    with served(tmp_path, place.root) as server:

        def ask() -> None:
            with suppress(httpx.HTTPError):
                httpx.post(server.address + work.route, json=work.arguments, timeout=60)

        asking = threading.Thread(target=ask)
        asking.start()
        kill_at_work(kin, server.process, name)
        asking.join()


def prepared(home: Path, kin: Kin, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """An indexed repository and, in the environment, a compiler that never answers."""
    place = hard_repository(home)
    assert place.run("index").code == 0
    for name, value in kin.variables.items():
        monkeypatch.setenv(name, value)
    compiler = program(home, "hang")
    monkeypatch.setenv("ASTERISM_STRUCTURE_TYPESCRIPT", str(compiler))
    return place


def kill_at_work(kin: Kin, process: "subprocess.Popen[str]", name: str) -> None:
    """Kill a server while that program works for it."""
    wait_until(lambda: is_at_work(kin, process.pid, name), name)
    kin.look(process.pid)
    process.kill()
    process.wait()
    check_ended(kin)


# Starts the program that matches, gives it a pattern that takes for ever, and waits to be killed.
_UNTIED = f"""
import pickle, subprocess, sys, time
from asterism.search.exact import worker
process = subprocess.Popen([sys.executable, worker.__file__], stdin=subprocess.PIPE)
pickle.dump("(h*)*k", process.stdin)
pickle.dump(["{"h" * 60}"], process.stdin)
process.stdin.flush()
print("started", flush=True)
time.sleep(600)
"""


def test_a_matcher_that_the_kernel_does_not_end() -> None:
    kin = Kin()
    with subprocess.Popen([sys.executable, "-c", _UNTIED], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        (matcher,) = kin.look(parent.pid)
        wait_until(lambda: processor_seconds(matcher) > 0.2, "the middle of a pattern")
        parent.kill()
    check_ended(kin)


def test_workers_outlive_the_thread_that_started_them(tmp_path: Path) -> None:
    """A tie to the thread would end them here."""
    script = tmp_path / "threads.py"
    script.write_text(
        "import os, threading\n"
        "from asterism.analysis.parallel import in_parallel\n"
        "results = in_parallel(sum, [1] * 320, 2)\n"
        "if __name__ == '__main__':\n"
        "    first = []\n"
        "    thread = threading.Thread(target=lambda: first.append(next(results)))\n"
        "    thread.start()\n"
        "    thread.join()\n"
        "    print(first + list(results))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.stdout, done.stderr) == (f"{[32] * 10}\n", "")
