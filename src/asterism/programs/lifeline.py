"""Ends a process with the one that started it, however and in whichever thread that one ends.

The starting process holds the only write end of a pipe, and the kernel closes it when that process
ends, `kill -9` included. Linux then sends SIGKILL to the owner of the read end, whatever it is
doing. PR_SET_PDEATHSIG does not replace this: it fires when the starting *thread* ends, knows one
process and not its group, and in workers of a fork server it watches the wrong process. Elsewhere a
thread of the worker waits for the pipe, and other programs see the end of their input.
"""

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from threading import Thread

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
        """Let go of the pipe, which ends the process if it is still there."""
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
