"""Detects which fences the kernel supports: Landlock for files, seccomp for the network."""

import ctypes
import sys
from typing import NamedTuple

from asterism.programs.launcher import knows_machine, landlock_version

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
