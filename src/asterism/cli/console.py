"""Where people see results: colours on a terminal, plain text elsewhere."""

import re
import shutil
import sys

from rich.console import Console
from rich.text import Text

# Wide enough that a pipe or a file gets whole lines.
PIPE_WIDTH = 10_000

# What a source file must not do to the terminal that shows it.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def console() -> Console:
    """Standard output; a line is cut at the terminal's edge, never wrapped."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPE_WIDTH
    return Console(
        file=sys.stdout, width=width, highlight=False, soft_wrap=False, emoji=False, markup=False
    )


def show(out: Console, *parts: tuple[str, str]) -> None:
    """Print one line. Off a terminal styles are dropped, and with them most of the cost."""
    text = words(*parts)
    if out.is_terminal:
        out.print(text)
    else:
        out.file.write(f"{text.plain}\n")


def words(*parts: tuple[str, str]) -> Text:
    """Text and style, part by part; one line that is cut rather than wrapped."""
    text = Text(no_wrap=True, overflow="ellipsis")
    for part, style in parts:
        text.append(printable(part), style)
    return text


def printable(text: str) -> str:
    """The text without terminal escapes, and with names that are no UTF-8 spelt out."""
    plain = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return _CONTROL.sub(lambda found: repr(found.group())[1:-1], plain)
