"""When do commands log, and what becomes of them where they cannot?"""

import json
from pathlib import Path

from tests.cli.conftest import spawn


def test_commands_say_nothing_unless_they_are_asked(indexed: Path) -> None:
    assert spawn(["search", "main"], indexed).err == ""


def test_a_level_is_enough(indexed: Path) -> None:
    done = spawn(["search", "main function"], indexed, ASTERISM_LOG_LEVEL="info")
    assert done.code == 0
    (line,) = [line for line in done.err.splitlines() if " search " in line]
    assert " info    search request=" in line
    assert "mode=hybrid outcome=ok seconds=" in line
    assert "main function" not in done.err


def test_a_file_is_enough(indexed: Path, tmp_path: Path) -> None:
    file = tmp_path / "logs" / "asterism.log"
    done = spawn(
        ["index", "--force"], indexed, ASTERISM_LOG_FILE=str(file), ASTERISM_LOG_FORMAT="json"
    )
    assert (done.code, done.err) == (0, "")
    (line,) = [json.loads(text) for text in file.read_text().splitlines()]
    assert (line["event"], line["outcome"], line["files"]) == ("index", "ok", 4)


def test_a_file_that_cannot_be_written_stops_nothing(indexed: Path) -> None:
    done = spawn(["search", "main"], indexed, ASTERISM_LOG_FILE="/dev/null/log")
    assert done.code == 0
    assert done.out
    (line,) = done.err.splitlines()
    assert line.startswith("asterism: warning: log.file = '/dev/null/log' cannot be written")
