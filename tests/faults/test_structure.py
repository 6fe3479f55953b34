"""Compilers that hang, die, babble or eat memory: always a reply, always honest, no orphans."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.config.sections import StructureSettings, TrustSettings
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.engine.stores import DataDirectories
from tests.engine.conftest import SETTINGS
from tests.faults.workplace import Command, Outcome, Workplace, wait_until

SOURCES = {
    "web.ts": "export function paint() {}\nexport function page() {\n  paint();\n}\n",
    "go.mod": "module harbor\n",
    "gate.go": "package harbor\n\nfunc paint() {\n}\n\nfunc open() {\n\tpaint()\n}\n",
    "job.py": "def paint():\n    return 1\n\n\ndef work():\n    return paint()\n",
}
CALLERS = {"web.ts": "page", "job.py": "work", "gate.go": "open"}
# How each is told to a reader; a compiler that answers nonsense may also be called one that failed.
MODES = {
    "hang": "is still loading the repository",
    "die": "out of luck",
    "killed": "SIGKILL",
    "garbage": "failed",
    "eat": "MB of memory",
    "null": "",
    "list": "",
    "text": "",
    "empty": "",
}


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    made = Workplace(tmp_path)
    made.root.mkdir()
    for name, text in SOURCES.items():
        (made.root / name).write_text(text)
    return made


def program(home: Path, mode: str) -> Path:
    """The wayward compiler in this mode, where a real one could be."""
    folder = home / "compiler"
    folder.mkdir()
    (folder / "mode").write_text(mode)
    (folder / "lib.es5.d.ts").touch()
    script = Path(__file__).with_name("wayward_compiler.py").read_text()
    made = folder / "compiler.py"
    made.write_text(f"#!{sys.executable}\n{script}")
    made.chmod(0o755)
    return made


def processes(program: Path) -> list[int]:
    """Who runs a program now."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if os.fsencode(program) in words:
            found.append(int(entry.name))
    return found


@pytest.fixture(params=CALLERS)
def path(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.mark.parametrize("mode", MODES)
def test_a_wayward_compiler(place: Workplace, mode: str, path: str) -> None:
    compiler = program(place.home, mode)
    same = str(compiler)
    structure = StructureSettings(
        typescript=same, python=same, go=same, memory_mb=200, wait_seconds=4.0
    )
    if mode != "hang":
        structure = replace(structure, wait_seconds=30.0)
    trust = TrustSettings(repositories=(str(place.root),))
    settings = replace(SETTINGS, structure=structure, trust=trust)
    engine = Engine(DataDirectories(place.data, place.home / "cache"), lambda _root: settings)
    registered = engine.register(place.root)
    engine.index(registered)
    request = SearchRequest(text=f"symbol = {path} > paint")
    reply = engine.context(registered, request)
    again = engine.context(registered, request)
    engine.close()
    graph, code = (part.text for part in reply.assembly.parts)
    assert f"Called by (by name): {CALLERS[path]}" in graph
    assert "paint" in code
    (note,) = (note for note in reply.notes if note.startswith("Connected by name: "))
    assert MODES[mode] in note
    assert again.assembly.parts[1] == reply.assembly.parts[1]
    assert again.notes
    # One that was just being started anew is gone a moment later.
    wait_until(lambda: not processes(compiler), "the end of all processes")


def started(place: Workplace, compiler: Path, *arguments: str) -> Command:
    """A command that asks this compiler."""
    place.index()
    through = [
        "env",
        f"ASTERISM_STRUCTURE_TYPESCRIPT={compiler}",
        f"ASTERISM_STRUCTURE_PYTHON={compiler}",
    ]
    return place.start(*arguments, through=through)


COMMANDS = [
    ("search", "symbol = web.ts > paint", "--format", "context"),
    ("callers", "web.ts > paint"),
]


@pytest.mark.parametrize("arguments", COMMANDS)
def test_a_killed_command_leaves_no_process(place: Workplace, arguments: tuple[str, ...]) -> None:
    compiler = program(place.home, "hang")
    command = started(place, compiler, *arguments)
    wait_until(lambda: bool(processes(compiler)), "the compiler")
    os.kill(command.process.pid, signal.SIGKILL)
    command.outcome()
    wait_until(lambda: not processes(compiler), "its end")


def test_an_interrupted_command_leaves_no_process(place: Workplace) -> None:
    compiler = program(place.home, "hang")
    command = started(place, compiler, *COMMANDS[1])
    wait_until(lambda: bool(processes(compiler)), "the compiler")
    os.kill(command.process.pid, signal.SIGINT)
    outcome = command.outcome()
    # Python itself ends by the signal where that came while it was making a class from text.
    assert outcome.code in (130, -signal.SIGINT), outcome
    assert "Traceback" not in outcome.err
    wait_until(lambda: not processes(compiler), "its end")


@pytest.fixture
def dead(place: Workplace) -> Iterator[Path]:
    compiler = program(place.home, "killed")
    yield compiler
    wait_until(lambda: not processes(compiler), "its end")


@pytest.mark.parametrize(
    ("arguments", "form"),
    [
        (COMMANDS[0], "json"),
        (COMMANDS[1], "text"),
        (("callees", "page"), "json"),
        (("refs", "web.ts > paint"), "text"),
    ],
)
def test_a_command_with_a_dead_compiler(
    place: Workplace, dead: Path, arguments: tuple[str, ...], form: str
) -> None:
    outcome = started(place, dead, *arguments, *(["--json"] if form == "json" else [])).outcome()
    assert (outcome.code, "Traceback" in outcome.err) == (0, False), outcome
    assert "Connected by name: The TypeScript compiler" in said(outcome, form)
    assert "paint" in outcome.out
    assert "by name" in outcome.out or "by_name" in outcome.out


def said(outcome: Outcome, form: str) -> str:
    """The notes, which people find on standard error."""
    return "\n".join(json.loads(outcome.out)["notes"]) if form == "json" else outcome.err


def test_a_compiler_that_is_killed_in_the_middle(place: Workplace) -> None:
    compiler = program(place.home, "hang")
    command = started(place, compiler, *COMMANDS[0])

    def is_over() -> bool:
        # Each one that is seen, also those that are started in place of others.
        for pid in processes(compiler):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return command.process.poll() is not None

    wait_until(is_over, "the answer")
    outcome = command.outcome()
    assert (outcome.code, "Traceback" in outcome.err) == (0, False), outcome
    assert "Called by (by name): page" in outcome.out
    assert "Connected by name: The TypeScript compiler" in outcome.err
    wait_until(lambda: not processes(compiler), "its end")
