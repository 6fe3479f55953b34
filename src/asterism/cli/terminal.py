"""Where people see results: colours on a terminal, plain text elsewhere."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from asterism.cli.streams import drawn
from asterism.disclosure.hidden import visible

if TYPE_CHECKING:
    # Off a terminal nothing is drawn, and rich takes longer to load than most commands to run.
    from rich.console import Console
    from rich.text import Text

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
