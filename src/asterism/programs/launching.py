"""Starts the programs of the table: the one place where a process begins."""

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, SubprocessError, TimeoutExpired
from typing import Any, NamedTuple
from weakref import finalize

from asterism.programs.lifeline import Lifeline
from asterism.programs.program import SEARCHED, Files, Program
from asterism.programs.table import SYSTEM_FILES

__all__ = [
    "DEVNULL",
    "PIPE",
    "Launch",
    "Popen",
    "Prepared",
    "SubprocessError",
    "TimeoutExpired",
    "inherited",
    "is_below",
    "prepare",
    "probe",
    "run",
    "search_path",
    "start",
]

_LAUNCHER = str(Path(__file__).with_name("launcher.py"))
# What Linux reads of a script's first line.
_LONGEST_SHEBANG = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One start of a program."""

    program: Program
    command: tuple[str, ...]
    """The executable, and words that belong before the table's arguments."""
    arguments: tuple[str, ...] | None = None
    """Instead of the table's, as for a probe."""
    values: Mapping[str, str] = field(default_factory=dict)
    """What the placeholders of the table stand for."""
    memory_bytes: int = 0
    environment: Mapping[str, str] | None = field(default=None, repr=False)
    """Instead of what `inherited` gives; it may hold secrets from the user's own files."""


class Prepared(NamedTuple):
    """What the system is given."""

    command: tuple[str, ...]
    environment: dict[str, str]
    directory: str


def probe(program: Program, executable: str, seconds: float) -> "subprocess.CompletedProcess[str]":
    """Run a program with its probe arguments, away from every repository."""
    return run(Launch(program=program, command=(executable,), arguments=program.probe), seconds)


def run(launch: Launch, seconds: float | None) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end; its output is text."""
    process = start(
        launch, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, encoding="utf-8", errors="replace"
    )
    with process:
        try:
            said, complaint = process.communicate(timeout=seconds)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, said, complaint)


def start(launch: Launch, **streams: Any) -> "Popen[Any]":
    """Start a program that ends with this process; `streams` are those of `subprocess.Popen`.

    In a session of its own all that it starts ends with it.
    """
    prepared = prepare(launch)
    line = Lifeline()
    try:
        process = Popen(
            prepared.command,
            env=prepared.environment,
            cwd=prepared.directory,
            pass_fds=line.passed,
            **streams,
        )
    except BaseException:
        line.close()
        raise
    line.tie(-process.pid if streams.get("start_new_session") else process.pid)
    finalize(process, line.close)
    return process


def prepare(launch: Launch) -> Prepared:
    """The command, environment and directory of a start, by the table."""
    program = launch.program
    values = dict(launch.values)
    words = program.arguments if launch.arguments is None else launch.arguments
    command = (*launch.command, *(word.format(**values) for word in words))
    options = _options(launch, values)
    if options:
        # Neither the site module nor the current directory has a part in it.
        command = (sys.executable, "-I", "-S", _LAUNCHER, *options, "--", *command)
    directory = program.directory.format(**values) or os.path.abspath(os.sep)  # noqa: PTH100
    return Prepared(command, _environment(launch, values), directory)


def _environment(launch: Launch, values: Mapping[str, str]) -> dict[str, str]:
    """The variables of the allow-list, then those of the table."""
    program = launch.program
    given = launch.environment
    found = inherited(program, values.get("root")) if given is None else dict(given)
    fixed = {name: _filled(text, values) for name, text in (program.variables or {}).items()}
    # A probe has neither a cache nor a memory setting.
    known = {name: text for name, text in fixed.items() if text is not None}
    return {**found, **known}


def inherited(program: Program, root: str | None = None) -> dict[str, str]:
    """What a program gets of the environment: the names of its allow-list and nothing else."""
    if program.inherits == ("*",):
        return dict(os.environ)
    found = {name: os.environ[name] for name in program.inherits if name in os.environ}
    found |= {name: search_path(found[name], root) for name in SEARCHED & found.keys()}
    if "PYTHONPATH" in found:
        # It means the same modules from another directory; an empty part would mean that directory.
        parts = [part for part in found["PYTHONPATH"].split(os.pathsep) if part]
        found["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, parts))
    return found


def search_path(path: str, root: str | None = None) -> str:
    """The folders of a PATH without relative ones and those that lie in a repository.

    A relative folder, as `./node_modules/.bin`, means the repository that one happens to be in.
    """
    folders = [folder for folder in path.split(os.pathsep) if os.path.isabs(folder)]  # noqa: PTH117
    if root:
        real = os.path.realpath(root)
        folders = [one for one in folders if not is_below(os.path.realpath(one), real)]
    return os.pathsep.join(folders)


def is_below(path: str, root: str) -> bool:
    """Whether a real path is a directory or below it."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _options(launch: Launch, values: Mapping[str, str]) -> list[str]:
    """What the launcher is told; nothing where the program needs no launcher."""
    program, limits = launch.program, launch.program.limits
    options = [f"parent={os.getpid()}"] if program.tied else []
    if limits.cpu_seconds or limits.processes or not limits.network:
        options.append("confined")
    if not limits.network:
        options.append("offline")
    if limits.cpu_seconds:
        options.append(f"cpu_seconds={limits.cpu_seconds}")
    if limits.processes:
        options.append(f"processes={limits.processes}")
    if limits.memory_times and launch.memory_bytes:
        options.append(f"data_bytes={int(launch.memory_bytes * limits.memory_times)}")
    if program.files is Files.named:
        # A fence can only name what is there; without it the program says what is missing.
        with suppress(OSError, KeyError):
            Path(values["cache"]).mkdir(parents=True, exist_ok=True)
        runs = [*SYSTEM_FILES, *_installation(launch.command[0])]
        options.append("fenced")
        options += [f"runs={place}" for place in runs]
        options += [f"reads={place}" for place in _named(program.reads, values)]
        options += [f"writes={place}" for place in _named(program.writes, values)]
    return options


def _named(patterns: tuple[str, ...], values: Mapping[str, str]) -> list[str]:
    return [found for one in patterns if (found := _filled(one, values))]


def _filled(text: str, values: Mapping[str, str]) -> str | None:
    """The text with its placeholders replaced; None where one of them has no value."""
    try:
        return text.format_map(values)
    except KeyError:
        return None


def _installation(program: str) -> list[str]:
    """Where a program's own files are, with those of the interpreter that a script names."""
    places = [program, os.path.realpath(program)]
    with suppress(OSError), Path(program).open("rb") as file:
        if file.read(2) == b"#!":
            interpreter = os.fsdecode(file.readline(_LONGEST_SHEBANG).strip().partition(b" ")[0])
            places += [interpreter, os.path.realpath(interpreter)]
    found: list[str] = []
    for place in map(Path, places):
        folder = place.parent
        found += [str(folder)]
        if folder.name == "bin":
            found += [str(folder.parent / name) for name in ("lib", "pyvenv.cfg")]
    return [*dict.fromkeys(found)]
