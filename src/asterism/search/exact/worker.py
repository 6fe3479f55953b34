"""A program of its own that applies one pattern to texts, so that it can be stopped at any moment.

Python's engine may need exponential time, and a thread that runs it cannot be interrupted. The
program is started by its path and reads pickles from its input: the pattern, then lists of texts.
It answers the pattern with what is wrong with it, or None, and each list with the spans of the
matches in each text; it answers a tuple of lines with the columns of the first match in each.
Compiling happens here, too: a pattern of a few thousand characters can take
seconds. It imports no other module of Asterism, so that it is ready within milliseconds.
"""

import contextlib
import os
import pickle
import re
import signal
import sys
import warnings
from bisect import bisect_right
from itertools import accumulate
from types import FrameType
from typing import BinaryIO

Span = tuple[int, int]
"""The first and the last line of a match, counted from 0."""
Columns = tuple[int, int]
"""Where a match begins and ends within a line, in characters counted from 0."""
MEMORY_BYTES = 1 << 30
"""Address space of the process: matching a megabyte takes some 50 MB, and a pattern that keeps
every step of a repetition could take any amount."""
OUT_OF_MEMORY = "memory"
"""The answer if the texts would need more memory."""
# A line break, written as one or as an escape, or the flag that makes the dot match it.
_ACROSS = re.compile(r"\n|(?<!\\)(?:\\\\)*\\n|\(\?[aiLmux]*s")


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """Answer until the input ends."""
    written = pickle.load(source)
    problem = problem_of(written)
    _send(problem, target)
    if problem is not None:
        return
    pattern = compiled(written)
    while True:
        try:
            texts = pickle.load(source)
        except EOFError:
            return
        try:
            # A tuple holds lines that are shown, a list texts that are searched.
            find = first_columns if isinstance(texts, tuple) else spans
            answer: object = [find(pattern, text) for text in texts]
        except MemoryError:
            answer = OUT_OF_MEMORY
        _send(answer, target)


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern as it is matched."""
    with warnings.catch_warnings():
        # Python's warnings about its own later versions do not help a user who searches.
        warnings.simplefilter("ignore")
        return re.compile(pattern, re.MULTILINE)


def problem_of(pattern: str) -> str | None:
    """Why a pattern cannot be used, as a sentence; None where it can."""
    try:
        compiled(pattern)
    except re.error as error:
        where = "" if error.pos is None else f" at character {error.pos + 1}"
        shown = "" if error.pos is None else f" (near `{pattern[error.pos :][:20]}`)"
        return (
            f"The pattern is no regular expression of Python: {error.msg}{where}{shown}; "
            "correct it, or search for the text itself in quotes."
        )
    except (OverflowError, RecursionError, ValueError, MemoryError) as error:
        return f"The pattern is too large for a regular expression ({error}); simplify it."
    return None


def limit_memory() -> None:
    """Limit the memory of this process, where the system supports it."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _send(value: object, target: BinaryIO) -> None:
    pickle.dump(value, target)
    target.flush()


def spans(pattern: re.Pattern[str], text: str) -> list[Span]:
    """Where matches stand, one for each line on which one begins.

    A pattern is matched within lines, so that blanks in it do not run over their ends, unless it
    names the line break itself or lets the dot match it.
    """
    if _ACROSS.search(pattern.pattern):
        return _spans_across(pattern, text)
    search = pattern.search
    return [(at, at) for at, line in enumerate(text.split("\n")) if search(line)]


def first_columns(pattern: re.Pattern[str], line: str) -> Columns | None:
    """The first match in a line; None without a match, or with an empty one."""
    match = pattern.search(line)
    return match.span() if match and match[0] else None


def _spans_across(pattern: re.Pattern[str], text: str) -> list[Span]:
    match = pattern.search(text)
    if match is None:
        return []
    ends = list(accumulate(len(line) + 1 for line in text.split("\n")))
    found: list[Span] = []
    while match is not None:
        first = bisect_right(ends, match.start())
        found.append((first, bisect_right(ends, max(match.start(), match.end() - 1))))
        following = max(match.end(), ends[first])
        match = pattern.search(text, following) if following < len(text) else None
    return found


def end_with_parent() -> None:
    """Look every second, in the middle of a pattern too, whether the parent is still there.

    Linux ends the program by itself (`programs/start.py`); other systems do not.
    """
    parent = os.getppid()

    def look(_number: int, _frame: FrameType | None) -> None:
        if os.getppid() != parent:
            os._exit(1)

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, look)
        signal.setitimer(signal.ITIMER_REAL, 1.0, 1.0)


if __name__ == "__main__":
    limit_memory()
    end_with_parent()
    serve(sys.stdin.buffer, sys.stdout.buffer)
