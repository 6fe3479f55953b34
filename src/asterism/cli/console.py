"""Where people see results: colours on a terminal, plain text elsewhere."""

import shutil
import sys

from rich.console import Console
from rich.text import Text

# Wide enough that a pipe or a file gets whole lines.
PIPE_WIDTH = 10_000


def console() -> Console:
    """Standard output; lines are cut at the terminal's edge, never wrapped."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPE_WIDTH
    return Console(width=width, highlight=False, soft_wrap=False, emoji=False, markup=False)


def words(*parts: tuple[str, str]) -> Text:
    """Text and style, part by part; one line that is cut rather than wrapped."""
    text = Text(no_wrap=True, overflow="ellipsis")
    for part, style in parts:
        text.append(part.encode("utf-8", "backslashreplace").decode("utf-8"), style)
    return text
