"""The fault layer as Python sees it: built with cc, loaded before the program, armed by calls."""

import ctypes
import errno
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_name("fault_layer.c")
_LOADED = "LD_PRELOAD"


class Fault(IntEnum):
    """What the chosen call does."""

    none = 0
    kill = -1
    full = errno.ENOSPC
    broken = errno.EIO
    read_only = errno.EROFS


class Arming(NamedTuple):
    """Which call on files below a directory is to fail."""

    directory: Path
    at: int = 0
    """Counted from 1; 0 only counts."""
    fault: Fault = Fault.none
    reads: bool = False
    """Whether calls that read are counted, rather than those that write."""

    @property
    def stays(self) -> bool:
        """A full disk stays full, and one that cannot be written to stays so."""
        return self.fault in (Fault.full, Fault.read_only)

    @property
    def variables(self) -> dict[str, str]:
        """For a program that is started with the layer."""
        return {
            _LOADED: str(built()),
            "FAULTS_DIRECTORY": str(self.directory),
            "FAULTS_AT": str(self.at),
            "FAULTS_ERROR": str(int(self.fault)),
            **({"FAULTS_READS": "1"} if self.reads else {}),
            **({"FAULTS_STAYS": "1"} if self.stays else {}),
        }


def built() -> Path:
    """The layer, compiled once for each state of its source."""
    name = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    made = Path(tempfile.gettempdir()) / f"asterism-fault-layer-{os.getuid()}-{name}.so"
    if not made.exists():
        draft = made.with_suffix(f".{os.getpid()}")
        command = ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", str(draft)]
        subprocess.run([*command, str(SOURCE), "-ldl"], check=True)
        draft.replace(made)
    return made


def is_possible() -> bool:
    """Whether there is a compiler, and a loader that loads the layer."""
    return sys.platform == "linux" and shutil.which("cc") is not None


def is_loaded() -> bool:
    """Whether this very process runs above the layer."""
    return hasattr(ctypes.CDLL(None), "faults_arm")


def arm(arming: Arming) -> None:
    """Count from now on in this process, and let the chosen call fail."""
    directory = os.fsencode(os.path.realpath(arming.directory))
    ctypes.CDLL(None).faults_arm(
        ctypes.c_char_p(directory),
        ctypes.c_long(arming.at),
        int(arming.fault),
        int(arming.reads),
        int(arming.stays),
    )


def disarm() -> tuple[int, int, str]:
    """Stop; how many calls there were, how many failed, and the name of the last that did."""
    layer = ctypes.CDLL(None)
    layer.faults_disarm()
    layer.faults_name.restype = ctypes.c_char_p
    for name in ("faults_count", "faults_failed"):
        getattr(layer, name).restype = ctypes.c_long
    return layer.faults_count(), layer.faults_failed(), layer.faults_name().decode()
