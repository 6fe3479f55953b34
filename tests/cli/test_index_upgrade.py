"""`asterism index --upgrade`, and what other commands report of encoder vectors."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from asterism.indexing.lock import upgrader
from tests.cli.conftest import ROOT, Run
from tests.cli.test_quick_commands import HEAVY, loaded_by
from tests.models.weights.tiny_models import make_encoder

PATIENCE_SECONDS = 120.0


@pytest.fixture
def folder(indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model for encoder vectors, which the settings name."""
    made = make_encoder(tmp_path / "encoder")
    monkeypatch.setenv("ASTERISM_EMBEDDING_UPGRADE", str(made))
    return made


def started(directory: Path) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "asterism.cli", "index", "--upgrade"],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def upgrade_of(run: Run) -> dict[str, object]:
    found: dict[str, object] = json.loads(run("status", "--json").out)["upgrade"]
    return found


def test_all_texts_get_encoder_vectors(run: Run, folder: Path) -> None:
    assert "chunks; the built-in model answers until then" in run("status").out
    before = upgrade_of(run)
    assert (before["complete"], before["chunks"], before["running"]) == (False, 0, False)
    done = run("index", "--upgrade")
    assert (done.code, done.err) == (0, "")
    first, second = done.out.splitlines()[0], done.out.splitlines()[-1]
    assert "Nothing to do" in first
    assert "texts have vectors of tiny@" in second
    after = upgrade_of(run)
    assert (after["complete"], after["chunks"]) == (True, after["total"])
    assert ", and answers" in run("status").out
    assert run("status").code == 0


def test_a_state_loads_no_model(folder: Path, indexed: Path) -> None:
    assert HEAVY & loaded_by(indexed, ["status"]) == set()


def test_programs_get_one_answer(run: Run, folder: Path) -> None:
    found = json.loads(run("index", "--upgrade", "--json").out)
    assert found["upgrade"]["embedded"] == found["upgrade"]["texts"] > 0
    assert found["upgrade"]["cancelled"] is False
    assert "upgrade" not in json.loads(run("index", "--json").out)


def test_a_search_neither_starts_nor_needs_it(run: Run, folder: Path, places: Path) -> None:
    assert run("search", "check a token").code == 0
    assert not list((places / "data").rglob("second.sqlite"))
    assert run("index", "--upgrade").code == 0
    assert run("search", "check a token").err == ""


WRONG = {
    "none is set": ("none", [], "set embedding.upgrade to encoder or to a folder"),
    "no such folder": ("/nowhere/at/all", [], "there is no such model"),
    "nothing is to be done": ("encoder", ["--dry-run"], "give one of them"),
    "an end": ("encoder", ["--cancel"], "--cancel stands alone"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_one_line(
    run: Run, indexed: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    setting, arguments, said = WRONG[case]
    monkeypatch.setenv("ASTERISM_EMBEDDING_UPGRADE", setting)
    done = run("index", "--upgrade", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert said in done.err


def test_a_model_that_is_gone_leaves_every_other_command_as_it_is(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = run("status").code
    monkeypatch.setenv("ASTERISM_EMBEDDING_UPGRADE", "/nowhere/at/all")
    status = run("status")
    assert status.code == plain == 0
    assert "there is no such model" in status.out
    found = run("search", "check a token")
    assert found.code == 0
    assert "without embedding.upgrade" in found.out + found.err
    assert run("index").code == 0


def test_ctrl_c_ends_waiting_for_another_process(
    run: Run, folder: Path, indexed: Path, places: Path
) -> None:
    [catalogue] = (places / "data").rglob("catalogue.sqlite")
    with upgrader(catalogue.parent):
        process = started(indexed)
        assert process.stderr is not None
        assert process.stderr.readline().startswith("asterism: waiting for process ")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 130


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_whatever_ends_it_what_was_made_is_kept_and_the_next_one_goes_on(
    run: Run, folder: Path, indexed: Path, end: signal.Signals
) -> None:
    """Many texts, so that there is a moment in between."""
    lines = (f"def read_{number}(file):\n    return {number}\n\n\n" for number in range(3_000))
    (indexed / "many.py").write_text("".join(lines))
    assert run("index").code == 0
    process = started(indexed)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not upgrade_of(run)["chunks"] and process.poll() is None:
        assert time.monotonic() < deadline
    process.send_signal(end)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert err == ""
    if process.returncode == 0:
        # It was done before it heard of it.
        assert upgrade_of(run)["complete"] is True
        return
    if end is signal.SIGINT:
        assert process.returncode == 130
        assert "that were made are kept" in out
    state = upgrade_of(run)
    assert state["chunks"]
    assert (state["complete"], state["running"]) == (False, False)
    rest = json.loads(run("index", "--upgrade", "--json").out)["upgrade"]
    assert 0 < rest["embedded"] < rest["texts"]
