"""Which fences this machine can put around a program."""

import ctypes
import sys
from typing import NamedTuple

from asterism.programs.launcher import knows_machine, landlock_version

_PR_GET_SECCOMP = 21


class Fences(NamedTuple):
    """What the kernel enforces."""

    files: bool
    """Landlock, Linux 5.13 and later: a confined program opens what its row names, nothing else."""
    network: bool
    """seccomp: a confined program makes no sockets."""


def fences() -> Fences:
    """Ask the kernel; nothing is changed."""
    if sys.platform != "linux":
        return Fences(False, False)
    libc = ctypes.CDLL(None, use_errno=True)
    has_seccomp = libc.prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) >= 0
    return Fences(landlock_version(libc) >= 1, has_seccomp and knows_machine())
