"""Plain files and locks, also where a directory, a pipe or a link has taken a file's place."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from asterism.types.errors import StorageFailed


def is_plain(path: Path) -> bool:
    """Whether a file of that name can be opened without waiting; a missing one can be made.

    Where that cannot be told, opening it says why.
    """
    return os.path.isfile(path) or not os.path.lexists(path)  # noqa: PTH113 - raises nothing


def make_plain(path: Path) -> None:
    """Remove what is no file, so that there can be one."""
    if not is_plain(path):
        with suppress(OSError):
            remove(path)


def remove(path: Path) -> None:
    """Remove a file, a link itself, or a directory with everything below it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def alone(place: Path) -> Iterator[None]:
    """Wait for the lock, then hold it."""
    from filelock import FileLock

    make_plain(place)
    lock = FileLock(place)
    try:
        lock.acquire()
    except OSError as error:
        raise StorageFailed(
            f"{place.parent} cannot be locked ({error.strerror}); "
            "check the directory's permissions and free space."
        ) from error
    try:
        yield
    finally:
        lock.release()
