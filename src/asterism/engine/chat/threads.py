"""Threads for what a turn has to wait for, so that one kind of work does not hold up another."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from asterism.types.processor_time import counted_work

SEARCHES_AT_ONCE = 4
"""Searches of one project take turns in any case."""
WRITES_AT_ONCE = 4
"""A write takes a millisecond; a database that hangs must not take every thread there is."""

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Threads:
    """Threads that look up code, and others that keep records; made when they are first needed."""

    def __init__(self) -> None:
        self._searching = ThreadPoolExecutor(SEARCHES_AT_ONCE, "asterism-ask-search")
        self._keeping = ThreadPoolExecutor(WRITES_AT_ONCE, "asterism-ask-records")

    async def search(self, work: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Look something up."""
        return await _in(self._searching, partial(work, *args, **kwargs))

    async def keep(self, work: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Read or write records."""
        return await _in(self._keeping, partial(work, *args, **kwargs))

    def close(self) -> None:
        """End the threads once they have nothing to do."""
        self._searching.shutdown(wait=False, cancel_futures=True)
        self._keeping.shutdown(wait=True)


async def _in(threads: ThreadPoolExecutor, work: Callable[[], _R]) -> _R:
    # The log of a request names the request in every thread.
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(threads, context.run, _counted, work)


def _counted(work: Callable[[], _R]) -> _R:
    """The work, counted for the client of a server that asked the question."""
    with counted_work():
        return work()
