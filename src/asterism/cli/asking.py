"""A question to whoever sits at the terminal, before something is removed."""

import sys

from asterism.types.errors import UsageError


def confirmed(question: str, yes: bool) -> bool:
    """The user's answer; without a terminal only `--yes` counts, and its lack is an error."""
    if yes:
        return True
    if not can_ask():
        raise UsageError("There is no terminal to ask at; give --yes to go ahead.")
    return agreed(question)


def can_ask() -> bool:
    """Whether somebody may be sitting there; a process without standard input has none."""
    return sys.stdin is not None and sys.stdin.isatty()


def agreed(question: str) -> bool:
    """Ask; anything but yes means no, the end of input too."""
    # On standard error: standard output may be going to a file.
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
