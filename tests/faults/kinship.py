"""Finds every process that a command started, after the command was killed as well."""

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MARK = "FAULTS_MARK"
"""The variable by which processes are found that have another parent by now."""


class Process(NamedTuple):
    """A process, told from a later one of the same number."""

    pid: int
    started: str


class Kin:
    """The processes of one command: those below it, and all that inherited its mark."""

    def __init__(self) -> None:
        self.mark = uuid.uuid4().hex
        self._seen: set[Process] = set()

    @property
    def variables(self) -> dict[str, str]:
        """For the environment of the command."""
        return {MARK: self.mark}

    def look(self, pid: int) -> set[Process]:
        """Note the processes below one; those that lose the mark are found by this alone."""
        parents = {process: parent for process, parent, _ in _running()}
        known = {pid}
        below: set[Process] = set()
        while new := {one for one, parent in parents.items() if parent in known} - below:
            below |= new
            known |= {one.pid for one in new}
        self._seen |= below
        return below

    def left(self) -> set[Process]:
        """Those that still run."""
        sign = f"{MARK}={self.mark}".encode()
        running = {process for process, _, _ in _running()}
        return {one for one in running if one in self._seen or sign in _environment(one.pid)}


def _running() -> Iterator[tuple[Process, int, str]]:
    for place in Path("/proc").glob("[0-9]*"):
        try:
            state, parent, *rest = (place / "stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            continue
        # A zombie, whose end its parent has not read, is not a running process.
        if state not in "ZX":
            yield Process(int(place.name), rest[17]), int(parent), state


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def processor_seconds(process: Process) -> float:
    """How long it has worked; nothing where it has ended."""
    try:
        values = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")


def described(processes: set[Process]) -> list[str]:
    """What they run, for a message."""
    found = []
    for process in sorted(processes):
        try:
            words = Path(f"/proc/{process.pid}/cmdline").read_bytes()
        except OSError:
            continue
        found.append(f"{process.pid} {words.replace(bytes(1), b' ').decode(errors='replace')}")
    return found
