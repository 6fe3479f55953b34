"""Whether a process still runs, asked by number."""

import os
from types import TracebackType
from typing import Self


class Closable:
    """Closes itself when the block ends, whatever happened in it."""

    def close(self) -> None:
        """Close the file or connection."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def process_exists(pid: int) -> bool:
    """Whether there is a process of that number, whichever user it belongs to."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        # It exists, and belongs to another user.
        return True
    return True
