"""A lock for a moment's work on a file, by one process at a time, that no dying process keeps."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from asterism.store.plain_files import make_plain
from asterism.types.errors import StorageFailed


@contextmanager
def alone(place: Path) -> Iterator[None]:
    """Wait for whoever holds the lock, then hold it."""
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
