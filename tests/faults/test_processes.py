"""Several processes at once, workers that die, users who press Ctrl-C or change their minds."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from asterism.store.catalogue.catalogue import Catalogue
from asterism.types.errors import StoreError
from tests.faults.generated_repository import make_repository
from tests.faults.whole_index import violations
from tests.faults.workplace import ROOT, Command, Workplace, wait_until, workplace
from tests.store.spoiling import change_catalogue

# So many files that a command is still at work when something happens to it.
MANY = 500


def test_two_commands_on_one_repository(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    commands = [place.start("index"), place.start("index", "--force")]
    assert [command.outcome().code for command in commands] == [0, 0]
    place.check()


def test_two_repositories_of_one_project(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    other = tmp_path / "other"
    make_repository(other, 20)
    commands = [
        place.start("index", "--project", "both"),
        place.start("index", str(other), "--project", "both"),
    ]
    assert [command.outcome().code for command in commands] == [0, 0]
    assert len(list((place.data / "projects").iterdir())) == 1
    place.check()


def test_two_repositories_indexed_in_another_order_than_they_came(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    other = tmp_path / "other"
    make_repository(other, 20)
    engine = place.engine()
    came = [engine.register(root, project="both") for root in (place.root, other)]
    for registered in reversed(came):
        engine.index(registered)
    place.check()


def test_two_projects_with_one_cache(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    other = tmp_path / "other"
    make_repository(other, 14)
    commands = [place.start("index"), place.start("index", str(other))]
    outcomes = [command.outcome() for command in commands]
    assert [(outcome.code, outcome.err) for outcome in outcomes] == [(0, ""), (0, "")]
    place.check()
    names = {path.name.partition("-")[0] for path in (tmp_path / "cache").iterdir()}
    assert names == {"embeddings.sqlite"}


def test_a_worker_that_is_killed(tmp_path: Path) -> None:
    place = workplace(tmp_path, MANY)
    command = place.start("index")
    found: list[int] = []

    def both() -> bool:
        found[:] = workers(command)
        return len(found) == 2

    # Both, because a pool that is still starting workers when one dies may wait for the other.
    wait_until(both, "its workers")
    os.kill(found[0], signal.SIGKILL)
    failed = command.outcome()
    assert (failed.code, "Traceback" in failed.err) == (2, False), failed
    assert "A process that reads files died" in failed.err
    assert "ASTERISM_WORK_JOBS=1" in failed.err
    assert place.run("index").code == 0
    place.check()


def workers(command: Command) -> list[int]:
    """Grandchildren of a command: its children are servers that start workers."""
    parents = {int(path.name): parent(path) for path in Path("/proc").glob("[0-9]*")}
    own = command.process.pid
    return [pid for pid, above in parents.items() if parents.get(above) == own]


def parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def is_locked(place: Workplace, command: Command) -> bool:
    """Whether the command has come so far that it holds the index."""
    files = (place.data / "projects").glob("*/writer.pid")
    return any(file.read_text() == str(command.process.pid) for file in files)


def is_running(place: Workplace, command: Command) -> bool:
    """Whether the command has left a record that it is at work."""
    (directory, *_) = [*(place.data / "projects").glob("*"), place.data]
    try:
        with Catalogue.open(directory) as catalogue:
            job = catalogue.job("repository")
    except StoreError:
        return False
    return job is not None and (job.pid, job.state) == (command.process.pid, "running")


@pytest.mark.parametrize("moment", [is_locked, is_running])
def test_interrupting(tmp_path: Path, moment: Callable[[Workplace, Command], bool]) -> None:
    place = workplace(tmp_path, MANY)
    command = place.start("index")
    wait_until(lambda: moment(place, command), "the command to be at work")
    os.killpg(command.process.pid, signal.SIGINT)
    stopped = command.outcome()
    assert (stopped.code, stopped.err) == (130, "")
    assert place.run("index").code == 0
    place.check()


def test_interrupts_reach_commands_although_the_tests_run_in_the_background() -> None:
    """A shell starts background jobs with SIGINT ignored, and so would every command be started."""
    shown = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
    start = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {shown!r}], check=True)"
    for first, ignored in ((start, b"True\n"), (f"import tests.conftest; {start}", b"False\n")):
        script = f"trap '' INT; exec {sys.executable} -c \"$0\""
        done = subprocess.run(
            ["bash", "-c", script, first], cwd=ROOT, capture_output=True, check=True
        )
        assert done.stdout == ignored


def test_cancelling_from_another_process(tmp_path: Path) -> None:
    place = workplace(tmp_path, 2 * MANY)
    command = place.start("index", jobs=1)
    wait_until(lambda: is_running(place, command), "the command to be at work")
    # Held, so that it cannot be done before the other has begun.
    os.kill(command.process.pid, signal.SIGSTOP)
    asked = place.run("index", str(place.root), "--cancel")
    os.kill(command.process.pid, signal.SIGCONT)
    assert (asked.code, asked.out[:5]) == (0, "Asked"), asked
    stopped = command.outcome()
    assert (stopped.code, "Stopped" in stopped.out) == (130, True), stopped
    place.index()
    assert not place.index().did_something
    assert not violations(place.directory)
    nothing = place.run("index", str(place.root), "--cancel")
    assert (nothing.code, nothing.out) == (1, "Nothing is being indexed here.\n")


def test_a_killed_job_cannot_be_cancelled_nor_cancel_the_next(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    place.index()
    nobody = 2**30
    forge_job(place, f"state = 'running', pid = {nobody}")
    assert not place.engine().cancel(place.registered())
    forge_job(place, "cancel = 1")
    (place.root / "py/a/m0.py").write_text("def another():\n    return 1\n")
    report = place.index()
    assert (report.cancelled, report.changed) == (False, 1)
    place.check()


def forge_job(place: Workplace, values: str) -> None:
    change_catalogue(place.directory, f"UPDATE jobs SET {values}")
