"""Work on many files in several processes, holding only a few batches at a time."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from asterism.domain.errors import WorkerDied
from asterism.programs.lifeline import follow_parent
from asterism.programs.table import READER

# Files handed to a worker at once: fewer, and the hand-over costs more than the parsing.
BATCH = 32

# Batches under way per worker: one being worked on, one waiting, so that memory stays bounded.
AHEAD = 2

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_parallel(
    work: Callable[[Sequence[Task]], Result], tasks: Iterable[Task], workers: int
) -> Iterator[Result]:
    """Apply `work` to batches of tasks in order, holding only a few batches at a time.

    `work` is a module-level function. One worker means this very process.
    """
    batches = _batches(tasks)
    if workers <= 1:
        yield from map(work, batches)
        return
    # Whoever has nothing to read starts quicker without these.
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
    from multiprocessing import get_all_start_methods, get_context

    # A fork server: plain forks are unsafe beside threads, spawning costs an import per worker.
    has_server = "forkserver" in get_all_start_methods()
    context = get_context("forkserver" if has_server else "spawn")
    context.set_forkserver_preload(["asterism.analysis.reading", "asterism.programs.fork_server"])
    with _without_current_directory():
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_work)
    with pool:
        waiting: deque[Future[Result]] = deque()
        try:
            with _without_current_directory():
                for batch in islice(batches, workers * AHEAD):
                    waiting.append(pool.submit(work, batch))
            while waiting:
                result = waiting.popleft().result()
                for batch in islice(batches, 1):
                    waiting.append(pool.submit(work, batch))
                yield result
        except BrokenProcessPool as error:
            # The pool waits for its other workers, and one of them may never hear of it.
            for process in list((pool._processes or {}).values()):
                process.kill()
            raise WorkerDied(
                "A process that reads files died, perhaps for lack of memory. Run it again with "
                "ASTERISM_WORK_JOBS=1; if it still dies, one of the files is to blame."
            ) from error
        finally:
            # Whoever stops listening does not want the rest.
            for future in waiting:
                future.cancel()


@contextmanager
def _without_current_directory() -> Iterator[None]:
    """Start Python so that it imports nothing from the current directory.

    The fork server, and what keeps account of semaphores, are started with `-c`, which would look
    there first. Often it is the repository to be read, and a `types.py` in it would be run.
    """
    wanted = READER.variables or {}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, text in before.items():
            if text is None:
                del os.environ[name]
            else:
                os.environ[name] = text


def _begin_work() -> None:
    """Ctrl-C is the parent's to handle; workers end when it lets go of them, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    follow_parent()


def _batches(tasks: Iterable[Task]) -> Iterator[Sequence[Task]]:
    pending = iter(tasks)
    while batch := list(islice(pending, BATCH)):
        yield batch
