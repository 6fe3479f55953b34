"""What commands write: colours on a terminal, plain text elsewhere, JSON for programs."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, cast

from asterism.disclosure.places import visible, visible_drawing
from asterism.types.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


def confirmed(question: str, yes: bool) -> bool:
    """The user's answer; without a terminal only `--yes` counts, and its lack is an error."""
    if yes:
        return True
    if not can_ask():
        raise UsageError("There is no terminal to ask at; give --yes to go ahead.")
    return agreed(question)


def can_ask() -> bool:
    """Whether standard input is a terminal; a process may have no standard input."""
    return sys.stdin is not None and sys.stdin.isatty()


def agreed(question: str) -> bool:
    """Ask; anything but yes means no, the end of input too."""
    # On standard error: standard output may be going to a file.
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


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


# Wide enough that a pipe or a file gets whole lines.
PIPE_WIDTH = 10_000


def console() -> Console | None:
    """The terminal, if there is one; `show` needs none."""
    return drawing_console() if sys.stdout.isatty() else None


def drawing_console() -> Console:
    """Standard output for what is more than lines; cut at the terminal's edge, never wrapped."""
    from rich.console import Console

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPE_WIDTH
    return Console(
        file=drawn(sys.stdout),
        width=width,
        highlight=False,
        soft_wrap=False,
        emoji=False,
        markup=False,
    )


def show(out: Console | None, *parts: tuple[str, str]) -> None:
    """Print one line; off a terminal without its styles."""
    if out is not None and out.is_terminal:
        # Said again here, because a console joins texts into one of its own.
        out.print(words(*parts), no_wrap=True, overflow="ellipsis")
    else:
        sys.stdout.write("".join(printable(part) for part, _ in parts) + "\n")


def words(*parts: tuple[str, str]) -> Text:
    """Text and style, part by part; one line that is cut rather than wrapped."""
    from rich.text import Text

    text = Text(no_wrap=True, overflow="ellipsis")
    for part, style in parts:
        text.append(printable(part), style)
    return text


def printable(text: str) -> str:
    """The text without hidden characters, and with names that are no UTF-8 spelt out."""
    return visible(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def write_json(value: object) -> None:
    """Print a value as JSON; names that are no UTF-8 are written as they are displayed."""
    text = "".join(_encoded(value))
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")


class _Text(str):
    """A piece of JSON that is written as it is."""

    __slots__ = ()


def _encoded(value: object) -> Iterator[str]:
    """JSON as `json.dumps` indents it, without recursion: symbols nest deeper than the stack."""
    pending: list[tuple[object, int]] = [(value, 0)]
    while pending:
        value, level = pending.pop()
        if isinstance(value, dict) and value:
            marks = "{}"
            pairs = [(f"{json.dumps(key)}: ", below) for key, below in value.items()]
        elif isinstance(value, list | tuple) and value:
            marks, pairs = "[]", [("", below) for below in value]
        else:
            yield value if isinstance(value, _Text) else json.dumps(value, ensure_ascii=False)
            continue
        margin = "\n" + "  " * level
        yield marks[0]
        pending.append((_Text(f"{margin}{marks[1]}"), level))
        for number in range(len(pairs) - 1, -1, -1):
            label, below = pairs[number]
            comma = "," if number else ""
            pending.append((below, level + 1))
            pending.append((_Text(f"{comma}{margin}  {label}"), level))
