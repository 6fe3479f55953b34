"""One writer per index, one watcher per repository: file locks that no dying process keeps."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os import getpid
from pathlib import Path
from threading import Event
from time import time

from asterism.store.plain_files import make_plain
from asterism.types.errors import IndexBusy, StorageFailed

# How often someone who waits asks again; a question that waits for a short sync should not wait
# much longer than that.
POLL_SECONDS = 0.05

# How often someone who would watch asks whether the present watcher has ended.
TURN_SECONDS = 5.0

_WRITER = "writer"
_UPGRADER = "upgrade"


@contextmanager
def writer(
    directory: Path, wait_seconds: float = 0, waiting: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Hold the index for writing; −1 waits for ever, and `waiting` hears for whom."""
    with _held(directory, _WRITER, wait_seconds, waiting):
        yield


@contextmanager
def upgrader(
    directory: Path, wait_seconds: float = 0, waiting: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Hold the lock for making an index's encoder vectors; the index can be written meanwhile."""
    with _held(directory, _UPGRADER, wait_seconds, waiting):
        yield


@contextmanager
def _held(
    directory: Path, name: str, wait_seconds: float, waiting: Callable[[str], None] | None
) -> Iterator[None]:
    from filelock import FileLock, Timeout

    place = directory / f"{name}.lock"
    make_plain(place)
    lock = FileLock(place, poll_interval=POLL_SECONDS)
    try:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if wait_seconds == 0:
                raise
            if waiting is not None:
                waiting(holder(directory, name))
            lock.acquire(timeout=wait_seconds)
    except Timeout as error:
        raise IndexBusy(
            f"Another process ({holder(directory, name)}) is writing to this index; "
            "wait for it, or stop it and run the command again."
        ) from error
    except OSError as error:
        raise StorageFailed(
            f"The index in {directory} cannot be locked ({error.strerror}); "
            "check the directory's permissions and free space."
        ) from error
    try:
        # Only for messages: the lock itself says nothing about who holds it.
        with suppress(OSError):
            make_plain(directory / f"{name}.pid")
            (directory / f"{name}.pid").write_text(str(getpid()), encoding="ascii")
        yield
    finally:
        lock.release()


def held_seconds(directory: Path) -> float:
    """How many seconds ago the lock for writing was last taken."""
    try:
        return max(0.0, time() - (directory / f"{_WRITER}.pid").stat().st_mtime)
    except OSError:
        return 0.0


@contextmanager
def sole_watcher(
    directory: Path, repo: str, stop: Event, waiting: Callable[[], None] | None = None
) -> Iterator[bool]:
    """Hold the lock of a repository's watcher; yields False if told to stop while waiting."""
    from filelock import FileLock, Timeout

    make_plain(directory / f"watch-{repo}.lock")
    lock = FileLock(directory / f"watch-{repo}.lock")
    while not stop.is_set():
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if waiting is not None:
                waiting()
                waiting = None
            stop.wait(TURN_SECONDS)
            continue
        except OSError as error:
            raise StorageFailed(
                f"The watch over {repo} cannot be locked ({error.strerror}); "
                "check the permissions and free space of the data directory."
            ) from error
        try:
            yield True
        finally:
            lock.release()
        return
    yield False


def holder(directory: Path, name: str = _WRITER) -> str:
    """Who holds the lock, or held it last: `process 4711`."""
    place = directory / f"{name}.pid"
    try:
        # Reading from a pipe that something has put there would take for ever.
        return f"process {int(place.read_text(encoding='ascii') if place.is_file() else '')}"
    except (OSError, ValueError):
        return "a process that did not leave its number"
