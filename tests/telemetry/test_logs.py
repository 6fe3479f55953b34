"""Does the log say what happened, where it should, in whole lines, and never a secret?"""

import json
import logging
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from asterism.telemetry import log
from asterism.telemetry.events import LOGGER, hide, log_event, log_failure, request
from asterism.telemetry.log import LogOptions, is_logging, start_logging, stop_logging
from asterism.telemetry.meters import LOG_FAILURES
from asterism.types.errors import IndexCorrupt

SECRET = "verysecretvalue"


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    stop_logging()
    yield
    stop_logging()


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_json_lines_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "logs" / "asterism.log"
    start_logging(LogOptions("info", "json", str(file)))
    with request("r1"):
        log_event("search", mode="hybrid", returned=3, level_="x", time="mine", gone=None)
    log_event("quiet", logging.DEBUG)
    log_event("größe", path="caf\udce9.py", nan=float("nan"))
    first, second = lines(file)
    assert first.pop("time").endswith("Z")
    assert first == {
        "level": "info",
        "event": "search",
        "request": "r1",
        "mode": "hybrid",
        "returned": 3,
        "level_": "x",
        "time_": "mine",
    }
    assert second["event"] == "größe"
    assert second["path"] == "caf\\udce9.py"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_plain_lines_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogOptions("warning"))
    log_event("truncated", logging.WARNING, reason="token_budget", words="two words", empty="")
    log_event("search", mode="hybrid")
    out, err = capsys.readouterr()
    assert out == ""
    time, rest = err.rstrip("\n").split(" ", 1)
    assert time.endswith("Z")
    assert rest == 'warning truncated reason=token_budget words="two words" empty=""'


@pytest.mark.parametrize("form", ["plain", "json"])
def test_one_event_is_one_line_whatever_it_holds(tmp_path: Path, form: log.Format) -> None:
    file = tmp_path / "log"
    start_logging(LogOptions("info", form, str(file)))
    log_event("tool", words="a\tb\x1b[31m\u2028c", lines="x\ny", names=["a\nb"])
    text = file.read_text(encoding="utf-8")
    assert text.count("\n") == 1
    assert "\x1b" not in text
    assert "<3 characters>" in text


def test_a_line_has_an_end(tmp_path: Path) -> None:
    file = tmp_path / "log"
    start_logging(LogOptions("info", "json", str(file)))
    log_event("tool", parameters={f"{n}": ["x" * 500] * 50 for n in range(50)}, ok=[1, 2])
    (line,) = lines(file)
    assert line["ok"] == [1, 2]
    assert line["parameters"].endswith(" characters>")


def test_no_secret_and_no_code(tmp_path: Path) -> None:
    file = tmp_path / "log"
    hide([SECRET])
    start_logging(LogOptions("debug", "json", str(file), ("some_library",)))
    log_event("provider", api_key=SECRET, url=f"https://u:{SECRET}@x.org", detail=f"has {SECRET}")
    log_event("tool", parameters={"code_snippet": "def f(): pass", "token": SECRET})
    logging.getLogger("some_library").warning("sent %s", SECRET)
    logging.getLogger("asterism").warning("a warning with %s", SECRET)
    try:
        raise ValueError("def f(): pass")
    except ValueError as error:
        log_failure("crash", error, detail=SECRET)
    try:
        raise IndexCorrupt(f"It is damaged: {SECRET}.")
    except IndexCorrupt as error:
        log_failure("crash", error)
    text = file.read_text(encoding="utf-8")
    assert SECRET not in text
    assert "def f" not in text
    found = lines(file)
    assert [line["event"] for line in found] == [
        "provider",
        "tool",
        "message",
        "message",
        "crash",
        "crash",
    ]
    assert found[2]["logger"] == "some_library"
    assert "test_no_secret_and_no_code" in found[4]["traceback"]
    assert found[4]["traceback"].endswith("ValueError")
    assert found[5]["traceback"].endswith("IndexCorrupt: It is damaged: ….")


def test_a_large_file_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "FILE_BYTES", 500)
    file = tmp_path / "log"
    start_logging(LogOptions("info", "json", str(file)))
    for number in range(60):
        log_event("step", number=number)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["log", "log.1", "log.2", "log.3"]
    kept = [line["number"] for name in reversed(names) for line in lines(tmp_path / name)]
    assert kept == list(range(kept[0], 60))
    assert all((tmp_path / name).stat().st_size < 700 for name in names)


WRITER = """
import sys
from asterism.telemetry import log as logs
from asterism.telemetry.events import log_event
logs.FILE_BYTES, logs.FILES_KEPT = 5_000, 500
logs.start_logging(logs.LogOptions("info", "json", sys.argv[1]))
for number in range(500):
    log_event("step", who=sys.argv[2], number=number)
"""


def test_processes_that_share_a_file_lose_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "log")]
    processes = [subprocess.Popen([*command, name]) for name in "abc"]
    assert [process.wait() for process in processes] == [0, 0, 0]
    found = [(line["who"], line["number"]) for file in tmp_path.iterdir() for line in lines(file)]
    assert sorted(found) == [(name, number) for name in "abc" for number in range(500)]
    assert len([*tmp_path.iterdir()]) > 20


def test_a_file_that_another_process_set_aside_is_left(tmp_path: Path) -> None:
    file = tmp_path / "log"
    start_logging(LogOptions("info", "json", str(file)))
    log_event("one")
    file.rename(tmp_path / "log.1")
    log_event("two")
    file.unlink()
    log_event("three")
    assert [line["event"] for line in lines(tmp_path / "log.1")] == ["one"]
    assert [line["event"] for line in lines(file)] == ["three"]


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"directory|exists"):
        start_logging(LogOptions("info", "plain", str(tmp_path / "file" / "log")))
    log_event("nothing happens")


def test_a_reader_that_went_away_is_counted_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = StringIO()
    monkeypatch.setattr(sys, "stderr", gone)
    start_logging(LogOptions("info"))
    gone.close()
    before = LOG_FAILURES.value()
    log_event("one")
    log_event("two")
    assert LOG_FAILURES.value() == before + 2


def test_a_folder_that_vanishes_is_counted_and_no_more(tmp_path: Path) -> None:
    file = tmp_path / "logs" / "log"
    start_logging(LogOptions("info", "json", str(file)))
    file.unlink()
    file.parent.rmdir()
    before = LOG_FAILURES.value()
    log_event("one")
    assert LOG_FAILURES.value() == before + 1
    os.mkdir(file.parent)  # noqa: PTH102 - with the usual rights
    log_event("two")
    assert [line["event"] for line in lines(file)] == ["two"]


def test_it_can_be_started_again_and_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not is_logging()
    start_logging(LogOptions("off"))
    assert is_logging()
    start_logging(LogOptions("info", "json", str(tmp_path / "a")))
    start_logging(LogOptions("info", "json", str(tmp_path / "b")))
    log_event("once")
    stop_logging()
    log_event("never")
    assert not is_logging()
    assert lines(tmp_path / "a") == []
    assert [line["event"] for line in lines(tmp_path / "b")] == ["once"]
    assert LOGGER.propagate
    assert capsys.readouterr().err == ""
