"""Standard output and error of the command line: no hidden character gets through."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

from asterism.disclosure.hidden import visible, visible_drawing


class VisibleStream:
    """A stream that spells out what a terminal would hide, obey or turn around.

    Everything that a command writes goes through it, JSON included, whose values stay the same.
    """

    def __init__(self, inner: IO[str], show: Callable[[str], str] = visible) -> None:
        """Around another stream."""
        self.inner = inner
        self._show = show

    def write(self, text: str) -> int:
        """Write it visibly."""
        return self.inner.write(self._show(text))

    def writelines(self, lines: Iterable[str]) -> None:
        """Write them visibly."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        """Everything else is the stream's own."""
        return getattr(self.inner, name)


@contextmanager
def visible_streams() -> Iterator[None]:
    """Whatever is written in here to standard output and error shows."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_shown, before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def drawn(stream: IO[str]) -> IO[str]:
    """The stream for drawings, which hold escapes of their own; their texts come from `words`."""
    inner = stream.inner if isinstance(stream, VisibleStream) else stream
    return cast("IO[str]", VisibleStream(inner, visible_drawing))


def _shown(stream: Any) -> Any:
    return stream if stream is None or isinstance(stream, VisibleStream) else VisibleStream(stream)
