"""The command as a process: what it loads, what it prints where, and how it ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from asterism import __version__
from asterism.cli.parser import build_parser
from tests.cli.conftest import ROOT, Run, spawn

COMMANDS = [
    "search",
    "similar",
    "show",
    "callers",
    "callees",
    "refs",
    "ask",
    "chat",
    "conversations",
    "agent",
    "context",
    "session",
    "index",
    "status",
    "symbols",
    "watch",
    "mcp",
    "serve",
    "repos",
    "trust",
    "untrust",
    "clean",
    "install",
    "uninstall",
    "debug",
    "doctor",
    "outline",
    "chunks",
    "files",
    "validate",
    "eval",
]
HEAVY = {"rich", "tree_sitter", "pathspec", "numpy", "asyncio", "multiprocessing"}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(run: Run, command: str) -> None:
    done = run(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"usage: asterism {command} ")


def test_help_and_version(run: Run) -> None:
    done = run("--help")
    assert done.code == 0
    # A long name has its line for itself.
    assert all(f"\n    {command}" in done.out for command in COMMANDS)
    assert run("--version").out == f"asterism {__version__}\n"


def test_no_command_is_forgotten_here() -> None:
    choices = next(action.choices for action in build_parser()._actions if action.choices)
    assert list(choices) == COMMANDS


def loaded_by(code: str) -> set[str]:
    """The top-level modules that are there after running some code in a fresh interpreter."""
    script = f"{code}\nimport sys\nprint(' '.join(name.split('.')[0] for name in sys.modules))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, check=True, text=True
    )
    return set(done.stdout.split())


def test_starting_loads_nothing_heavy() -> None:
    start = "from asterism.cli.parser import lazy_parser\nlazy_parser().format_help()"
    loaded = loaded_by(start)
    assert "asterism" in loaded
    assert loaded & HEAVY == set()


def test_json_of_plain_text_loads_no_grammar() -> None:
    page = ROOT / "LICENSE"
    loaded = loaded_by(
        "import contextlib, io\nfrom asterism.cli.main import main\n"
        f"with contextlib.redirect_stdout(io.StringIO()):\n    main(['outline', {str(page)!r}, '--json'])"
    )
    assert "asterism" in loaded
    assert loaded & {"rich", "numpy"} == set()
    assert {name for name in loaded if name.startswith("tree_sitter_")} == set()


@pytest.mark.parametrize(
    "arguments", [["outline", "main.py"], ["chunks", "main.py"], ["files", "."], ["validate", "."]]
)
def test_no_colours_without_a_terminal(repository: Path, arguments: list[str]) -> None:
    done = spawn(arguments, repository, TERM="xterm-256color")
    assert (done.code, done.err) == (0, "")
    assert done.out
    assert "\x1b" not in done.out


def test_a_reader_that_goes_away(repository: Path) -> None:
    (repository / "long.py").write_text("".join(f"x{n} = {n}\n" for n in range(3_000)))
    command = f"{sys.executable} -m asterism.cli outline long.py --json | head -1"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=repository,
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "{\n", "")


def test_an_output_that_is_not_utf8(repository: Path) -> None:
    (repository / "names.py").write_text("größe = 'é'\n\ndef 日本():\n    return 1\n")
    for arguments in (["outline", "names.py"], ["outline", "names.py", "--json"]):
        done = spawn(arguments, repository, PYTHONIOENCODING="ascii")
        assert (done.code, done.err) == (0, "")
        assert "\\u65e5\\u672c" in done.out


def test_a_file_name_that_is_not_utf8(repository: Path) -> None:
    name = b"caf\xe9.py"
    Path(os.fsdecode(bytes(repository) + b"/" + name)).write_text("x = 1\n")
    outline = spawn([b"outline", name], repository)
    assert (outline.code, outline.err) == (0, "")
    assert outline.out.startswith("caf\\xe9.py  python")
    as_json = spawn([b"outline", name, b"--json"], repository)
    assert json.loads(as_json.out)["file_path"] == "caf\\xe9.py"
    assert spawn([b"chunks", name, b"--json"], repository).code == 0
    assert "caf\\xe9.py" in spawn(["files", "."], repository).out
    assert spawn(["validate", "."], repository).code == 0
    missing = spawn([b"outline", b"no\xff.py"], repository)
    assert (missing.code, missing.err.count("\n")) == (2, 1)
    assert "no\\xff.py does not exist" in missing.err


@pytest.mark.parametrize(
    "arguments",
    [["search", "x"], ["callers", "x"], ["symbols", "x"], ["ask", "x"], ["validate"], ["mcp"]],
    ids=lambda arguments: arguments[0],
)
def test_a_path_that_is_too_long(run: Run, indexed: Path, arguments: list[str]) -> None:
    done = run(*arguments, "a" * 300)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("asterism: ")
    assert done.err.endswith("is too long for a path; check it.\n")
    assert done.err.count("\n") == 1
