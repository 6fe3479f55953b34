"""What is closed at the end of a `with` block."""

from types import TracebackType
from typing import Self


class Closable:
    """Closes itself when the block ends, whatever happened in it."""

    def close(self) -> None:
        """Let go of what is open."""
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
