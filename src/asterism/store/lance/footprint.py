"""How much memory Lance takes while it writes, which it is told through the system around it.

Lance works in many threads. glibc gives each an arena of its own, which keeps what it once had, and
each reads ahead: building the indexes of 700,000 rows took 970 MB that way, and takes 490 MB with
one arena for all and two threads that read. From a local disk two are no slower.
"""

import ctypes
import os
from functools import cache

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
