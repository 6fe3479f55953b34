"""The limit of a parse is CPU time, and it ends every parse: in a process that the kernel kills."""

import os
import signal
import subprocess
import sys
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path
from time import sleep

import pytest

from asterism.analysis.syntax import language, trial_worker, trials
from asterism.analysis.syntax.cuts import problems_of
from asterism.analysis.syntax.language import entry_of
from asterism.analysis.syntax.outlines import TOO_HARD, outline
from asterism.analysis.syntax.statements import Statements
from asterism.analysis.syntax.trials import Attempt, Trials
from asterism.types.errors import WorkerDied
from asterism.types.outline import Span
from tests.analysis.syntax.material import ENDLESS
from tests.faults.kinship import Kin, Process, processor_seconds
from tests.faults.workplace import wait_until

SHORT_SECONDS = 0.2
SMALL = b"package a\n\nfunc A() {}\n"
GRAMMAR = ("tree_sitter_go", "language")


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that tests can wait for."""
    monkeypatch.setattr(language, "SMALL_SECONDS", SHORT_SECONDS)


def attempt(text: bytes, seconds: float = 60.0) -> Attempt:
    """A text of Go; whatever the machine, a small one takes less than a minute."""
    home = language.table_of(entry_of("go")).home
    return Attempt(*home, text, seconds)


def below() -> set[Process]:
    """The processes that this one has started."""
    return Kin().look(os.getpid())


def test_a_parse_that_does_not_end_is_ended(short: None) -> None:
    found = outline("a.go", ENDLESS)
    assert found.problems == (TOO_HARD,)
    assert {item.kind for item in found.items} == {"text"}
    assert [item.name for item in outline("b.go", SMALL).items if item.is_symbol] == ["A"]


def test_every_caller_meets_the_limit(short: None) -> None:
    """What cuts long bodies, and what checks the text of a snapshot."""
    whole = outline("a.go", SMALL)
    assert problems_of(whole, ENDLESS) == ()
    assert Statements("a.go", ENDLESS).lines(Span(0, len(ENDLESS))) == {}


def test_the_parser_gives_up_and_recovers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A parse that would end, but later than its limit."""
    monkeypatch.setattr(language, "SMALL_SECONDS", 0.01)
    table = language.table_of(entry_of("javascript"))
    assert table.parse(b"# " + b"y " * 16_000 + b"\n") is None
    tree = table.parse(b"let x = 1\n")
    assert tree is not None
    assert not tree.root_node.has_error


def test_a_text_is_tried_once() -> None:
    tries = Trials()
    before = below()
    try:
        assert not tries.ends(attempt(ENDLESS, SHORT_SECONDS))
        # A second trial would start a process and keep it.
        assert not tries.ends(attempt(ENDLESS, SHORT_SECONDS))
        assert below() == before
        # Another limit is another result.
        assert tries.ends(attempt(SMALL, SHORT_SECONDS * 50))
        assert len(below() - before) == 1
    finally:
        tries.close()
    assert below() == before


def test_waiting_is_no_cpu_time_and_hinders_no_other_thread() -> None:
    """A stopped process is a machine so busy that a parse gets nothing of it."""
    tries = Trials()
    before = below()
    assert tries.ends(attempt(SMALL))
    (child,) = below() - before
    os.kill(child.pid, signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(2) as threads:
            texts = [SMALL + b"// first\n", SMALL + b"// second\n"]
            results = [threads.submit(tries.ends, attempt(text, 1.0)) for text in texts]
            # One of them has met the stopped process, and the other a new one.
            done, waiting = wait(results, timeout=None, return_when=FIRST_COMPLETED)
            sleep(1.2)
            assert (len(done), len(waiting)) == (1, 1)
            os.kill(child.pid, signal.SIGCONT)
            assert [result.result() for result in results] == [True, True]
    finally:
        os.kill(child.pid, signal.SIGCONT)
        tries.close()


def test_a_trial_that_is_killed_from_outside_is_made_again() -> None:
    tries = Trials()
    before = below()
    assert tries.ends(attempt(SMALL))
    (child,) = below() - before
    os.kill(child.pid, signal.SIGKILL)
    try:
        assert tries.ends(attempt(SMALL + b"// again\n"))
    finally:
        tries.close()


def test_where_the_kernel_has_no_timer_wall_time_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_worker, "HAS_TIMER", False)
    monkeypatch.setattr(trials, "WALL_FACTOR", 0.01)
    tries = Trials()
    try:
        assert not tries.ends(attempt(ENDLESS))
    finally:
        tries.close()


def test_a_trial_that_fails_says_nothing_about_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = Trials()
    with pytest.raises(WorkerDied, match="died twice"):
        tries.ends(attempt(SMALL)._replace(package="no_such_package"))
    monkeypatch.setattr(sys, "executable", "/no/such/program")
    with pytest.raises(WorkerDied, match="did not start"):
        tries.ends(attempt(SMALL + b"// not started\n"))
    # Not a problem of the file, as a mistake of a rule would be.
    monkeypatch.setattr(language, "TRIALS", Trials())
    with pytest.raises(WorkerDied):
        outline("a.go", SMALL + b"// outlined\n")


# Tries the text with so much CPU time that it does not end.
_PARENT = """
import sys
from asterism.analysis.syntax import language
from asterism.analysis.syntax.outlines import outline
language.SMALL_SECONDS = 600.0
print("started", flush=True)
outline("a.go", sys.stdin.buffer.read())
"""


def test_a_trial_ends_with_its_parent() -> None:
    kin = Kin()
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdin is not None
        parent.stdin.write(ENDLESS)
        parent.stdin.close()
        wait_until(
            lambda: any(processor_seconds(child) > 0.2 for child in kin.look(parent.pid)),
            "the middle of a parse",
        )
        parent.kill()
    wait_until(lambda: not kin.left(), "the end of the trial")


def test_a_process_that_has_parsed_leaves_none() -> None:
    code = "from asterism.analysis.syntax.outlines import outline; outline('a.go', b'package a')"
    kin = Kin()
    environment = {**os.environ, **kin.variables}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment,
        capture_output=True,
        check=True,
        cwd=Path("/"),
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    wait_until(lambda: not kin.left(), "the end of the trial")
