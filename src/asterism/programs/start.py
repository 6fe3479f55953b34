"""Starts the programs of the table, each tied to the process that started it."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, SubprocessError, TimeoutExpired
from threading import Thread
from typing import Any, NamedTuple
from weakref import finalize

from asterism.programs.launcher import knows_machine, landlock_version
from asterism.programs.table import SEARCHED, SYSTEM_FILES, Files, Program

_IS_LINUX = sys.platform == "linux"


class Lifeline:
    """A pipe between this process and one that it starts; closing it ends that process."""

    def __init__(self) -> None:
        self._ours = -1
        self.passed: Sequence[int] = ()
        """What the new process inherits: for `pass_fds`."""
        if _IS_LINUX:
            theirs, self._ours = os.pipe()
            self.passed = (theirs,)

    def tie(self, pid: int) -> None:
        """The process has been started; a negative number means all of its group."""
        for descriptor in self.passed:
            _send_kill(descriptor, pid)
            os.close(descriptor)
        self.passed = ()

    def close(self) -> None:
        """Close the pipe, which ends the process if it still runs."""
        for descriptor in (*self.passed, self._ours):
            if descriptor >= 0:
                os.close(descriptor)
        self.passed, self._ours = (), -1


def follow_parent() -> None:
    """In a worker of `multiprocessing`: end when the process that wants its work ends."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is None:
        return
    if _IS_LINUX:
        _send_kill(parent.sentinel, os.getpid())
        if not parent.is_alive():
            # It ended before the kernel was told.
            os.kill(os.getpid(), signal.SIGKILL)
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    Thread(target=wait, name="asterism-lifeline", daemon=True).start()


def _send_kill(descriptor: int, owner: int) -> None:
    """Have the kernel send SIGKILL to the owner when the pipe's write end is closed."""
    # The module and its names exist on some systems only.
    import fcntl

    # The process may be gone already.
    with suppress(ProcessLookupError):
        fcntl.fcntl(descriptor, fcntl.F_SETOWN, owner)
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGKILL)
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_ASYNC)


_PR_GET_SECCOMP = 21


class Fences(NamedTuple):
    """The restrictions that this kernel can enforce."""

    files: bool
    """Landlock, Linux 5.13 and later: a fenced program opens only the files that its row names."""
    network: bool
    """seccomp: a program without network cannot create sockets."""


def fences() -> Fences:
    """Query the kernel, without side effects."""
    if sys.platform != "linux":
        return Fences(False, False)
    libc = ctypes.CDLL(None, use_errno=True)
    has_seccomp = libc.prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) >= 0
    return Fences(landlock_version(libc) >= 1, has_seccomp and knows_machine())


__all__ = [
    "DEVNULL", "PIPE", "Launch", "Popen", "Prepared", "SubprocessError", "TimeoutExpired",
    "inherited", "is_below", "prepare", "probe", "run", "search_path", "start",
]  # fmt: skip

_LAUNCHER = str(Path(__file__).with_name("launcher.py"))
# Linux reads this many bytes of a script's first line.
_LONGEST_SHEBANG = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One start of a program."""

    program: Program
    command: tuple[str, ...]
    """The executable, and arguments that come before those of the table."""
    arguments: tuple[str, ...] | None = None
    """Replace the arguments of the table, for example for a probe."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Values for the placeholders of the table."""
    memory_bytes: int = 0
    environment: Mapping[str, str] | None = field(default=None, repr=False)
    """Replaces the inherited environment; it may hold secrets from the user's own files."""


class Prepared(NamedTuple):
    """The arguments of `Popen`."""

    command: tuple[str, ...]
    environment: dict[str, str]
    directory: str


def probe(program: Program, executable: str, seconds: float) -> "subprocess.CompletedProcess[str]":
    """Run a program with its probe arguments, in `/`.

    It finds other programs in its own folder and those of the system only. rustup's `rust-analyzer`
    starts one of that name from PATH where its component is not installed, and a folder of PATH
    may lie in a repository.
    """
    folders = os.pathsep.join([os.path.dirname(executable), os.defpath])  # noqa: PTH120
    launch = Launch(
        program=program,
        command=(executable,),
        arguments=program.probe,
        environment={**inherited(program), "PATH": search_path(folders)},
    )
    return run(launch, seconds)


def run(launch: Launch, seconds: float | None) -> "subprocess.CompletedProcess[str]":
    """Run a program and wait for its end; output is decoded as text."""
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
    """The command, environment and directory of a launch, from the table."""
    program = launch.program
    values = dict(launch.values)
    words = program.arguments if launch.arguments is None else launch.arguments
    command = (*launch.command, *(word.format(**values) for word in words))
    options = _options(launch, values)
    if options:
        # Isolated: neither the site module nor the current directory is used.
        command = (sys.executable, "-I", "-S", _LAUNCHER, *options, "--", *command)
    directory = program.directory.format(**values) or os.path.abspath(os.sep)  # noqa: PTH100
    return Prepared(command, _environment(launch, values), directory)


def _environment(launch: Launch, values: Mapping[str, str]) -> dict[str, str]:
    """The inherited variables of the allow-list, overridden by those of the table."""
    program = launch.program
    given = launch.environment
    found = inherited(program, values.get("root")) if given is None else dict(given)
    fixed = {name: _filled(text, values) for name, text in (program.variables or {}).items()}
    # A probe has no values for the cache and the memory setting.
    known = {name: text for name, text in fixed.items() if text is not None}
    return {**found, **known}


def inherited(program: Program, root: str | None = None) -> dict[str, str]:
    """The variables of the environment that are on the program's allow-list."""
    if program.inherits == ("*",):
        return dict(os.environ)
    found = {name: os.environ[name] for name in program.inherits if name in os.environ}
    found |= {name: search_path(found[name], root) for name in SEARCHED & found.keys()}
    if "PYTHONPATH" in found:
        # Absolute, because the program runs in another directory; an empty entry means that one.
        parts = [part for part in found["PYTHONPATH"].split(os.pathsep) if part]
        found["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, parts))
    return found


def search_path(path: str, root: str | None = None) -> str:
    """A PATH without its relative folders and those below `root`.

    A relative folder such as `./node_modules/.bin` depends on the current directory, which may be a
    repository.
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
    """The launcher's options; empty if the program needs no launcher."""
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
        # Landlock rules need existing paths. If this fails, the program reports the missing folder.
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
    """The text with its placeholders replaced; None if one of them has no value."""
    try:
        return text.format_map(values)
    except KeyError:
        return None


def _installation(program: str) -> list[str]:
    """Folders of the program's own files, and of the interpreter if it is a script."""
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
