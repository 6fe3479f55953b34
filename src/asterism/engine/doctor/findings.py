"""What a look at the installation finds: well, doubtful, or broken, and what to do about it."""

from enum import StrEnum
from typing import NamedTuple


class Verdict(StrEnum):
    """How it stands."""

    ok = "ok"
    warning = "warning"
    """It works, and could be better."""
    problem = "problem"
    """Something will fail."""


class Finding(NamedTuple):
    """One line of the report."""

    check: str
    """What was looked at, in a word or two."""
    verdict: Verdict
    message: str
    advice: str = ""
    """What to do next; nothing where all is well or the message says it."""


def ok(check: str, message: str) -> Finding:
    """All is well."""
    return Finding(check, Verdict.ok, message)


def warning(check: str, message: str, advice: str = "") -> Finding:
    """It works, and could be better."""
    return Finding(check, Verdict.warning, message, advice)


def problem(check: str, message: str, advice: str = "") -> Finding:
    """Something will fail."""
    return Finding(check, Verdict.problem, message, advice)
