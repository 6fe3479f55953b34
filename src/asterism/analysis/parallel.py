"""Work on many files in several processes, holding only a few batches at a time."""

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import chain, islice
from typing import NamedTuple, TypeVar

from asterism.analysis.syntax.trial_worker import HAS_TIMER
from asterism.programs.start import follow_parent
from asterism.programs.table import READER
from asterism.types.errors import WorkerDied

# Files handed to a worker at once: fewer, and the hand-over costs more than the parsing.
BATCH = 32

# Batches under way per worker: one being worked on, one waiting, so that memory stays bounded.
AHEAD = 2

Task = TypeVar("Task")
Result = TypeVar("Result")


class _KilledByParse(Exception):
    """The kernel ended a worker in the middle of a parse."""


def in_parallel(
    work: Callable[[Sequence[Task]], Result], tasks: Iterable[Task], workers: int
) -> Iterator[Result]:
    """Apply `work` to batches of tasks in order, holding only a few batches at a time.

    `work` is a module-level function. One worker means this very process.

    Workers parse without a trial. A parse that takes too long kills its worker, and all batches
    without a result are done again by workers that try each text first.
    """
    batches = _batches(tasks)
    if workers <= 1:
        yield from map(work, batches)
        return
    ahead: deque[Sequence[Task]] = deque()
    if HAS_TIMER:
        try:
            yield from _in_pool(work, batches, ahead, _Pool(workers, expendable=True))
        except _KilledByParse:
            batches = chain(tuple(ahead), batches)
            ahead.clear()
        else:
            return
    yield from _in_pool(work, batches, ahead, _Pool(workers, expendable=False))


class _Pool(NamedTuple):
    workers: int
    expendable: bool
    """A parse that takes too long kills the worker."""


def _in_pool(
    work: Callable[[Sequence[Task]], Result],
    batches: Iterator[Sequence[Task]],
    ahead: deque[Sequence[Task]],
    options: _Pool,
) -> Iterator[Result]:
    """The results in order; `ahead` holds the batches that were taken and have no result yet."""
    # A sync that has nothing to read starts quicker without these.
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
    from multiprocessing import get_all_start_methods, get_context
    from multiprocessing.process import BaseProcess

    # A fork server: plain forks are unsafe beside threads, spawning costs an import per worker.
    has_server = "forkserver" in get_all_start_methods()
    context = get_context("forkserver" if has_server else "spawn")
    context.set_forkserver_preload(["asterism.analysis.contents", "asterism.programs.fork_server"])
    with _without_current_directory():
        pool = ProcessPoolExecutor(
            options.workers,
            mp_context=context,
            initializer=_begin_work,
            initargs=(options.expendable,),
        )
    processes: list[BaseProcess] = []
    waiting: deque[Future[Result]] = deque()

    def submit(count: int) -> None:
        for batch in islice(batches, count):
            ahead.append(batch)
            waiting.append(pool.submit(work, batch))

    try:
        with pool:
            try:
                with _without_current_directory():
                    submit(options.workers * AHEAD)
                while waiting:
                    result = waiting[0].result()
                    submit(1)
                    waiting.popleft()
                    ahead.popleft()
                    yield result
            except BrokenProcessPool:
                # The pool waits for its other workers, and one of them may never hear of it.
                processes = list((pool._processes or {}).values())
                for process in processes:
                    process.kill()
                raise
            finally:
                # A caller that stops listening does not want the rest.
                for future in waiting:
                    future.cancel()
    except BrokenProcessPool as error:
        # The pool has waited for its workers: before that their exit codes are not known.
        if HAS_TIMER and any(process.exitcode == -signal.SIGPROF for process in processes):
            raise _KilledByParse from error
        raise WorkerDied(
            "A process that reads files died, perhaps for lack of memory. Run it again with "
            "ASTERISM_WORK_JOBS=1; if it still dies, one of the files is to blame."
        ) from error


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


def _begin_work(expendable: bool) -> None:
    """Ctrl-C is the parent's to handle; workers end when it lets go of them, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    follow_parent()
    if expendable:
        # Imported here: a sync that has nothing to read needs no trials.
        from asterism.analysis.syntax.trials import TRIALS

        TRIALS.expend()


def _batches(tasks: Iterable[Task]) -> Iterator[Sequence[Task]]:
    pending = iter(tasks)
    while batch := list(islice(pending, BATCH)):
        yield batch
