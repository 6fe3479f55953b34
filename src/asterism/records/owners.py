"""Who answers a turn: a process that can be found again, or found to be gone."""

import os
import platform
from contextlib import suppress
from functools import cache
from pathlib import Path

from asterism.types.processes import process_exists

LEASE_SECONDS = 60.0
"""How old an owner's last word may be: it speaks every few seconds while it works."""


def this_process() -> str:
    """This process, so that no other is mistaken for it, on this machine or another."""
    pid = os.getpid()
    return f"{_machine()} {pid} {_started(pid)}"


def is_alive(owner: str, beat: float, now: float) -> bool:
    """Whether an owner still works on its turn."""
    if abs(now - beat) > LEASE_SECONDS:
        return False
    machine, pid, started = owner.rsplit(" ", 2)
    if machine != _machine():
        return True
    return process_exists(int(pid)) and _started(int(pid)) == started


@cache
def _machine() -> str:
    """The system that process numbers belong to: containers on one machine have their own."""
    parts = [platform.node() or "here"]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with suppress(OSError):
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return "/".join(parts).replace(" ", "_")


def _started(pid: int) -> str:
    """When a process began, because numbers are given out again; `-` where nobody says."""
    try:
        facts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "-"
    # One that ended, and whose parent has not asked how, does nothing any more.
    return "ended" if facts[0] == "Z" else facts[19]
