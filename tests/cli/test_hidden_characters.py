"""What a hostile repository gets onto a terminal: nothing that hides, obeys or forges."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from asterism.disclosure.places import visible, visible_drawing
from asterism.types.files import display_path
from tests.cli.conftest import ROOT, Run

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e\u2066\u200b\x9b31m\r\x08\x7f\u2069"
PATIENCE_SECONDS = 600.0
"""How long a command may take on a busy machine before a test gives up."""
PROGRAM = ("--program", "/opt/asterism")
NAME = "evil\u202egnp\u200b\n\x1b[2Jforged: line.py"
CODE = (
    f"def check_{'a'}(user):\n"
    f'    """Checks {HOSTILE} the user."""\n'
    "    if user != 'root\u202e \u2066': # admin\u2069 \u2066\n"
    f"        return '{HOSTILE}'\n"
    "    return check_b\u200b()\n\n\n"
    f"class Alpha:\n    # {HOSTILE}\n    def check_b(self):\n        return check_a(self)\n"
)


@pytest.fixture
def hostile(tmp_path: Path, places: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository full of them, indexed."""
    root = tmp_path / "shop\u202e\x1b[2J"
    (root / "src").mkdir(parents=True)
    (root / NAME).write_text(CODE)
    (root / "src" / "a.py").write_text(CODE)
    (root / f"notes{HOSTILE[:8]}.md".replace("/", "")).write_text(f"# Alpha {HOSTILE}\n\ncheck_a\n")
    (root / "src" / "broken\u202e.py").write_text(f"def f(:\n  '{HOSTILE}'\n")
    (root / "key\u202e\x1b[2J.pem").write_text("x")
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run("index").code == 0
    agents = places / "data" / "agents"
    agents.mkdir(parents=True)
    (agents / "helper.yaml").write_text(json.dumps({"description": f"Helps {HOSTILE} well."}))
    return root


@pytest.fixture
def vanished(hostile: Path, tmp_path: Path, run: Run) -> None:
    """Another repository that was indexed and is gone."""
    gone = tmp_path / "gone\u202e\x1b[2J"
    gone.mkdir()
    (gone / "a.py").write_text("def gone():\n    return 1\n")
    assert run("index", str(gone)).code == 0
    (gone / "a.py").unlink()
    gone.rmdir()


COMMANDS: list[list[str]] = [
    ["index"],
    ["index", "--dry-run"],
    ["status"],
    ["files", "."],
    ["files", ".", "--skipped"],
    ["files", "no\x1b[2J\u202esuch"],
    ["outline", NAME],
    ["outline", "src/a.py"],
    ["outline", "no\x1b[2J\u202e.py"],
    ["chunks", NAME],
    ["chunks", "src/a.py", "--show", "source"],
    ["chunks", "src/a.py", "--show", "embedding"],
    ["validate", "."],
    ["search", "check the user"],
    ["search", "check_a"],
    ["search", '"root"'],
    ["search", f"{HOSTILE} check"],
    ["symbols", "check_a"],
    ["symbols", f"no{HOSTILE}such"],
    ["show", "check_a"],
    ["callers", "check_a"],
    ["callees", "check_a"],
    ["refs", "check_a"],
    ["similar", "src/a.py:3"],
    ["similar", f"{NAME}:3"],
    ["debug", "file", NAME],
    ["debug", "file", "src/a.py", "--text"],
    ["repos"],
    ["repos", "remove", f"no{HOSTILE}such"],
    ["doctor"],
    ["ask", "where is check_a?"],
    ["conversations", "list"],
    ["context", "where is check_a?"],
    ["agent", "list"],
    ["agent", "show", "helper"],
    ["session", "new", "helper", "--title", f"Title {HOSTILE}"],
    ["session", "new", f"no{HOSTILE}agent"],
    ["session", "list"],
    ["session", "show", f"no{HOSTILE}session"],
    ["eval", f"no{HOSTILE}such.jsonl"],
    ["eval", "--make", ".", "--size", "2", "-o", f"set{HOSTILE[:8]}.jsonl".replace("/", "")],
    ["install", "--scope", "project", "--client", "cursor", "--dry-run", *PROGRAM],
    ["install", "--scope", "project", "--client", "cursor", "--yes", *PROGRAM],
    ["install", "--client", f"no{HOSTILE}client"],
    ["install", "--list"],
    ["uninstall", "--scope", "project", "--client", "cursor", "--dry-run"],
    ["trust", "."],
    ["trust", f"no{HOSTILE}such"],
    ["trust", "--list"],
    ["untrust", f"no{HOSTILE}such"],
    [f"no{HOSTILE}command"],
    ["search", "x", f"--no{HOSTILE}option"],
]


def check(text: str) -> None:
    """Everything in it shows."""
    assert visible(text) == text
    for line in text.split("\n"):
        assert not line.startswith("\x1b[2Jforged")
        assert not line.startswith("forged: line")


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda given: visible(" ".join(given))[:40])
def test_no_command_writes_a_hidden_character(
    hostile: Path, run: Run, arguments: list[str]
) -> None:
    done = run(*arguments)
    check(done.out)
    check(done.err)
    assert done.out or done.err


def test_the_table_has_every_command() -> None:
    from asterism.cli.parser import build_parser

    known = next(iter(build_parser()._subparsers._group_actions)).choices  # type: ignore[union-attr]
    # The tests below run these; `mcp` writes JSON and nothing else.
    others = {"clean", "chat", "watch", "serve", "mcp"}
    assert (
        set(known or ())
        == {arguments[0] for arguments in COMMANDS if "\x1b" not in arguments[0]} | others
    )


@pytest.mark.usefixtures("vanished")
@pytest.mark.parametrize("options", [["--dry-run"], ["--yes"], ["--cache", "--yes"]])
def test_clean(run: Run, options: list[str]) -> None:
    done = run("clean", *options)
    check(done.out)
    check(done.err)
    assert "gone\\u202e" in done.out


@pytest.mark.usefixtures("hostile")
def test_a_session_with_a_title(run: Run) -> None:
    made = json.loads(run("session", "new", "helper", "--title", f"T {HOSTILE}", "--json").out)
    for arguments in (["list"], ["show", made["id"]], ["export", "helper"], ["delete", made["id"]]):
        done = run("session", *arguments)
        check(done.out)
        check(done.err)


def test_chat(hostile: Path) -> None:
    lines = ("/help", "where is check_a?", f"/no{HOSTILE}command", "/agent", "/context", "/quit")
    done = subprocess.run(
        [sys.executable, "-m", "asterism.cli", "chat"],
        input="".join(f"{line}\n" for line in lines).encode(),
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    check(done.stdout.decode())
    check(done.stderr.decode())
    assert b"check_a" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [(["watch"], "Watching "), (["serve", "--port", "0"], "Serving on http://")],
    ids=["watch", "serve"],
)
def test_what_runs_until_it_is_ended(
    hostile: Path, places: Path, arguments: list[str], begins: str
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "asterism.cli", *arguments],
        cwd=hostile,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline().decode()
        process.terminate()
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert begins in first
    check(first + out.decode())
    check(err.decode())


@pytest.mark.parametrize(
    "arguments",
    [
        ["files", ".", "--json"],
        ["outline", "src/a.py", "--json"],
        ["search", "check_a", "--json"],
        ["symbols", "check_a", "--json"],
        ["status", "--json"],
        ["repos", "--json"],
        ["debug", "file", NAME, "--json"],
    ],
    ids=lambda given: given[0],
)
def test_json_shows_them_and_has_them_verbatim(
    hostile: Path, run: Run, arguments: list[str]
) -> None:
    done = run(*arguments)
    check(done.out)
    assert "\\u202e" in done.out
    values = json.dumps(json.loads(done.out), ensure_ascii=False)
    assert "\u202e" in values


def test_names_are_verbatim_in_json(hostile: Path, run: Run) -> None:
    found = json.loads(run("files", ".", "--json").out)
    assert NAME in [file["file_path"] for file in found["files"]]
    assert "key\u202e\x1b[2J.pem" in [entry["file_path"] for entry in found["skipped"]]
    assert found["root"] == str(hostile)


HITS: list[tuple[list[str], str]] = [
    (["search", "check_a"], "file_path"),
    (["search", '"return check_b"'], "file_path"),
    (["search", "check_a", "--format", "context", "--filter", f"path={NAME}"], "file_path"),
    (["search", "check_a", "--exhaustive"], "file_path"),
    (["similar", "src/a.py:3"], "file_path"),
    (["show", "check_a"], "file_path"),
    (["symbols", "check_a"], "file_path"),
]


@pytest.mark.parametrize(("arguments", "key"), HITS, ids=str)
def test_a_program_can_open_every_hit(
    hostile: Path, run: Run, arguments: list[str], key: str
) -> None:
    found = json.loads(run(*arguments, "--json").out)
    rows = found["results"] if "results" in found else found["symbols"]
    assert NAME in {row[key] for row in rows}
    for row in rows:
        assert (hostile / row[key]).is_file()
        assert Path(row.get("absolute_path", hostile / row[key])).is_file()


@pytest.mark.parametrize("name", [NAME, display_path(NAME)], ids=["verbatim", "as shown"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["outline"],
        ["chunks"],
        ["debug", "file"],
        ["similar"],
        ["validate"],
        ["search", "check_a"],
        ["symbols", "check_a"],
        ["show", "check_a"],
        ["refs", "check_a"],
        ["search", "check_a", "--filter"],
    ],
    ids=" ".join,
)
def test_a_path_is_taken_as_it_was_printed(
    hostile: Path, run: Run, arguments: list[str], name: str
) -> None:
    is_filter = arguments[-1] == "--filter"
    done = run(*arguments, f"path={name}" if is_filter else name, "--json")
    assert done.code == 0, done.err
    if arguments[0] == "search":
        rows = json.loads(done.out)["results"]
        assert {row["file_path"] for row in rows} == {NAME}


def test_a_folder_is_taken_as_it_was_printed(hostile: Path, run: Run) -> None:
    for shown in (str(hostile), display_path(str(hostile))):
        assert json.loads(run("files", shown, "--json").out)["root"] == str(hostile)
        assert json.loads(run("status", shown, "--json").out)["root"] == str(hostile)


@pytest.mark.parametrize(
    "arguments",
    [
        ["files", "."],
        ["search", "check_a"],
        ["outline", NAME],
        ["show", "check_a"],
        ["refs", "check_a"],
        ["chunks", "src/a.py", "--show", "source"],
        ["status"],
        ["search", "x", f"--no{HOSTILE}option"],
    ],
    ids=lambda given: given[0],
)
def test_on_a_terminal(hostile: Path, arguments: list[str]) -> None:
    """Colours are escapes of our own; none comes from the repository."""
    text = screen(arguments)
    assert visible_drawing(text) == text
    assert "owned" not in text or "\\x1b]0;owned\\x07" in text
    for sequence in ("\x1b]0", "\x1b[2J", "\x07", "\x08"):
        assert sequence not in text


def screen(arguments: list[str]) -> str:
    """What a terminal is given by a command, errors included."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))
    known = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    command = [sys.executable, "-m", "asterism.cli", *arguments]
    environment = {**known, "PYTHONPATH": str(ROOT / "src"), "TERM": "xterm-256color"}
    process = subprocess.Popen(command, env=environment, stdout=theirs, stderr=theirs)
    os.close(theirs)
    pieces = []
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(ours)
    process.wait(timeout=120)
    return b"".join(pieces).decode().replace("\r\n", "\n")
