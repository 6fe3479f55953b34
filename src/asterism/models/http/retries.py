"""How long to wait before a request is sent again."""

import random
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import NamedTuple

FIRST_WAIT_SECONDS = 1.0


class Patience(NamedTuple):
    """How much waiting is worth an answer."""

    attempts: int
    longest_wait: float
    """Seconds between two attempts; a server that asks for more is given up."""


# An index may take its time: the waits add up to a minute, after which limits that are counted
# by the minute let requests through again.
FOR_DOCUMENTS = Patience(attempts=7, longest_wait=60.0)

# Somebody waits for the reply to a question.
FOR_QUERIES = Patience(attempts=2, longest_wait=2.0)


class PassingFailure(Exception):
    """An attempt failed in a way that another may not."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        """The reason for the final message; the seconds that the server asked for, if it did."""
        super().__init__(reason)
        self.wait = wait


def wait_before(attempt: int, longest: float) -> float:
    """Seconds before an attempt (the second is 1): doubling, and spread so that clients part."""
    full = min(FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1), longest)
    return full * random.uniform(0.5, 1.0)


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds a `Retry-After` asks for; a date is read against the server's own clock."""
    value = headers.get("retry-after", "").strip()
    if value.replace(".", "", 1).isdecimal():
        return float(value)
    try:
        then = parsedate_to_datetime(value)
        now = parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError):
        return None
