"""Ends a process with the one that started it, however and in whichever thread that one ends.

The starting process holds the only write end of a pipe, and the kernel closes it when that process
ends, `kill -9` included. Linux then sends SIGKILL to the owner of the read end, whatever it is
doing. PR_SET_PDEATHSIG is no substitute: it fires when the starting *thread* ends, and for workers
of a fork server it would watch the wrong process. Elsewhere a thread of the worker waits for the
pipe, and programs that we start see the end of their input.
"""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Thread
from typing import NamedTuple

_IS_LINUX = sys.platform == "linux"


class Lifeline(NamedTuple):
    """A pipe between this process and one that it starts."""

    passed: Sequence[int]
    """What the new process inherits: for `pass_fds`."""

    def tie(self, pid: int) -> None:
        """End that process with this one; a negative number means a process group."""
        for descriptor in self.passed:
            _send_kill(descriptor, pid)


@contextmanager
def lifeline() -> Iterator[Lifeline]:
    """A pipe for one process, which has to end before the block does."""
    if not _IS_LINUX:
        yield Lifeline(())
        return
    theirs, ours = os.pipe()
    try:
        yield Lifeline((theirs,))
    finally:
        # The write end last: its end is the signal.
        os.close(theirs)
        os.close(ours)


def follow_parent() -> None:
    """In a worker of `multiprocessing`: end when the process that wants its work ends."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is None:
        return
    if _IS_LINUX:
        _send_kill(parent.sentinel, os.getpid())
        if parent.is_alive():
            return
        # It ended before the kernel was told.
        os.kill(os.getpid(), signal.SIGKILL)

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
