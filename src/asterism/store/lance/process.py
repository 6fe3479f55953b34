"""Maps Lance's errors to AsterismError, and limits its memory.

Lance has few exception types and says everything in its text; where the operating system refused,
the text ends in its error number.
"""

import ctypes
import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from asterism.types.errors import IndexBusy, IndexCorrupt, StorageFailed, StoreError
from asterism.types.index_states import refusal

# From malloc.h: the number of arenas, and from which size on memory is the system's own, so that it
# goes back when it is freed. Left alone, glibc raises that size to what was freed last.
_M_ARENA_MAX = -8
_M_MMAP_THRESHOLD = -3
_LARGE = 4 * 1024 * 1024


@cache
def stay_small() -> None:
    """Settle for less memory; call it before Lance is imported. What the user has set counts."""
    # Arrow's own allocator gives nothing back.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    os.environ.setdefault("LANCE_IO_THREADS", "2")
    os.environ.setdefault("LANCE_DEFAULT_FRAGMENT_READAHEAD", "1")
    if (library := _glibc()) is not None:
        library.mallopt(_M_ARENA_MAX, 1)


@cache
def give_back_at_once() -> None:
    """Have large blocks returned when they are freed; a tenth more time, for very large builds."""
    if (library := _glibc()) is not None:
        library.mallopt(_M_MMAP_THRESHOLD, _LARGE)


def give_back() -> None:
    """Return free memory to the system."""
    if (library := _glibc()) is not None:
        library.malloc_trim(0)


@cache
def _glibc() -> ctypes.CDLL | None:
    library = ctypes.CDLL(None)
    has_both = hasattr(library, "mallopt") and hasattr(library, "malloc_trim")
    return library if has_both else None


REBUILD = "run `asterism index --force` to build it again"

# Those of Arrow are kinds of these.
_RAISED = (OSError, ValueError, RuntimeError, LookupError, TypeError, ArithmeticError)
_PANIC = "PanicException"

_REFUSED = {errno.EACCES, errno.EPERM, errno.EIO, errno.EMFILE, errno.ENFILE}
_SYSTEM = re.compile(r"\(os error (\d+)\)")
_STORAGE = {
    errno.ENOSPC: "the disk is full; free some space and index again",
    errno.EDQUOT: "the disk quota is used up; free some space and index again",
    errno.EFBIG: "a file would be larger than this system allows",
    errno.EROFS: "the file system is read-only",
}
# Lance rejects the call, not the table: a programming error, which must not be hidden.
_OUR_FAULT = "Invalid user input"
_NO_LANCE_FILE = "does not appear to be a Lance file"
_NEARLY_FULL = 1 << 20
"""A disk with less free space than this beyond the missing bytes was full."""
_SOURCE_PLACE = re.compile(r",? ?/\S+\.rs:\d+:\d+")


@contextmanager
def lance_errors(path: str) -> Iterator[None]:
    """Turn what Lance raises inside the block into errors that say what to do."""
    try:
        yield
    except _RAISED as error:
        mapped = translated(error, path)
        if mapped is None:
            raise
        raise mapped from error
    except BaseException as error:
        # What a panic in its Rust code becomes; its class cannot be imported.
        if type(error).__name__ != _PANIC:
            raise
        raise IndexCorrupt(
            f"The index at {path} is damaged (Lance failed on it); {REBUILD}."
        ) from error


def translated(error: Exception, path: str) -> StoreError | None:
    """The AsterismError for an error of Lance, or None for a programming error."""
    text = str(error)
    if number := _error_number(error, text):
        if number in _REFUSED:
            return StorageFailed(f"The index at {path} cannot be used ({refusal(number)}")
        reason = _STORAGE.get(number)
        if reason is not None:
            return StorageFailed(f"The index at {path} cannot be used: {reason}.")
    if "conflict" in text.lower():
        return IndexBusy(
            f"Another process wrote to the index at {path} at the same time; try again."
        )
    if _OUR_FAULT in text and _NO_LANCE_FILE not in text:
        return None
    reason = _SOURCE_PLACE.sub("", text.splitlines()[0] if text else type(error).__name__)
    return IndexCorrupt(f"The index at {path} is damaged ({reason}); {REBUILD}.")


def not_written_whole(path: Path, missing: int) -> str:
    """Why a file is shorter than what was written to it, as far as the system says."""
    try:
        free = shutil.disk_usage(path).free
    except OSError:
        free = missing
    if free < missing + _NEARLY_FULL:
        return f"The index at {path} cannot be used: {_STORAGE[errno.ENOSPC]}."
    return (
        f"The index at {path} cannot be used: a file of it could not be written to its end; check "
        "the quota and the limit on the size of files, and index again."
    )


def _error_number(error: Exception, text: str) -> int | None:
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    found = _SYSTEM.search(text)
    return int(found.group(1)) if found else None
