"""Work in a forked process: quick to start with all libraries loaded, and free to die."""

import os
import pickle
import select
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from tests.faults.kinship import Kin, Process

# Far longer than any command takes on a busy machine; what takes longer hangs.
PATIENCE = 120.0
# How long those that were started may need to notice an end.
LEAVING = 30.0


class Ended(NamedTuple):
    """How a forked process ended."""

    code: int
    """Negative: the number of the signal."""
    text: str
    """What it wrote to both outputs."""
    value: Any = None
    late: bool = False
    """Whether it had to be killed because it took too long."""
    orphans: int = 0
    """Processes that it started and that were still there long after its end."""

    @property
    def has_traceback(self) -> bool:
        """Whether a user would have seen one."""
        return "Traceback (most recent call last)" in self.text


def load_everything() -> None:
    """Import now what commands import, so that each fork need not."""
    import lance
    import numpy
    import pyarrow
    import tokenizers

    import asterism.cli.commands.clean
    import asterism.cli.commands.index
    import asterism.cli.commands.repos
    import asterism.cli.commands.search
    import asterism.engine.engine
    import asterism.indexing.write
    import tests.faults.whole_index

    loaded = (lance, numpy, pyarrow, tokenizers, asterism.indexing, tests.faults.whole_index)
    assert all(loaded)


def in_child(
    work: Callable[[], Any], seconds: float = PATIENCE, kill_after: float | None = None
) -> Ended:
    """Call `work` in a fork of this process; it may be killed after a time."""
    kin = Kin()
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as said, warnings.catch_warnings():
        # The table's library warns of forks once it has threads; here it has none yet.
        warnings.simplefilter("ignore")
        pid = os.fork()
        if pid == 0:
            _be_child(work, writing, said.fileno(), kin)
        os.close(writing)
        answer, late = _answer(reading, pid, kin, kill_after, seconds)
        os.close(reading)
        _, status = os.waitpid(pid, 0)
        orphans = await_end(kin)
        said.seek(0)
        text = said.read().decode("utf-8", "replace")
    value = pickle.loads(answer) if answer else None
    return Ended(os.waitstatus_to_exitcode(status), text, value, late, len(orphans))


def _be_child(work: Callable[[], Any], writing: int, said: int, kin: Kin) -> None:
    """Never returns."""
    code = 70
    try:
        os.setsid()
        # Processes that it starts inherit this; its own environment shows what it was born with.
        os.environ.update(kin.variables)
        for target in (1, 2):
            os.dup2(said, target)
        value = work()
        code = value if isinstance(value, int) else 0
        sys.stdout.flush()
        os.write(writing, pickle.dumps(value))
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    finally:
        if sys.exc_info()[0] is not None:
            traceback.print_exc()
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _answer(
    reading: int, pid: int, kin: Kin, kill_after: float | None, seconds: float
) -> tuple[bytes, bool]:
    """What it answers; it is killed at the time for that, or when it is late."""
    began = time.monotonic()
    deadline = began + (seconds if kill_after is None else kill_after)
    pieces: list[bytes] = []
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            kin.look(pid)
            os.kill(pid, signal.SIGKILL)
            return b"", kill_after is None
        if select.select([reading], [], [], left)[0]:
            piece = os.read(reading, 1 << 20)
            if not piece:
                return b"".join(pieces), False
            pieces.append(piece)


def await_end(kin: Kin) -> set[Process]:
    """Those that are still there after a generous time; they are ended then."""
    deadline = time.monotonic() + LEAVING
    while left := kin.left():
        if time.monotonic() > deadline:
            for process in left:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            return left
        time.sleep(0.01)
    return set()


def command(words: Sequence[str]) -> int:
    """One command of Asterism, in this process."""
    from asterism.cli.main import main

    return main(words)
