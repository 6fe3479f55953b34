"""A program of its own that applies one pattern to texts, so that it can be stopped at any moment.

Python's engine may need exponential time, and a thread that runs it cannot be interrupted. The
program is started by its path and reads pickles from its input: the pattern, then lists of texts.
For each list it answers with the spans of the matches in each text. It imports nothing of ours, so
that it is ready within milliseconds.
"""

import os
import pickle
import re
import signal
import sys
from bisect import bisect_right
from itertools import accumulate
from types import FrameType
from typing import BinaryIO

Span = tuple[int, int]
"""The first and the last line of a match, counted from 0."""
# A line break, written as one or as an escape, or the flag that makes the dot match it.
_ACROSS = re.compile(r"\n|(?<!\\)(?:\\\\)*\\n|\(\?[aiLmux]*s")


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """Answer until the input ends."""
    pattern = re.compile(pickle.load(source), re.MULTILINE)
    while True:
        try:
            texts = pickle.load(source)
        except EOFError:
            return
        pickle.dump([spans(pattern, text) for text in texts], target)
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

    Linux ends the program by itself (`programs/lifeline.py`); other systems do not.
    """
    parent = os.getppid()

    def look(_number: int, _frame: FrameType | None) -> None:
        if os.getppid() != parent:
            os._exit(1)

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, look)
        signal.setitimer(signal.ITIMER_REAL, 1.0, 1.0)


if __name__ == "__main__":
    end_with_parent()
    serve(sys.stdin.buffer, sys.stdout.buffer)
