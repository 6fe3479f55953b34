"""A target that goes wrong in every way, to test the driver with.

A case is its number and what goes wrong.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fuzz.target import Check, Target

WRONG = {3: "raise", 7: "crash", 12: "print", 23: "hang", 31: "raise"}


def _cases(seed: str, count: int) -> Iterator[bytes]:
    first = int(seed.rpartition("-")[2]) * TARGET.batch
    is_bad = "-1-" in seed
    for number in range(first, first + count):
        yield f"{number} {WRONG.get(number, '') if is_bad else ''}".strip().encode()


@contextmanager
def _opened(_place: Path) -> Iterator[Check]:
    yield _check


def _check(case: bytes) -> list[str]:
    if b"raise" in case:
        raise ValueError("no good")
    if b"crash" in case:
        os._exit(3)
    if b"print" in case:
        sys.stderr.write("Traceback (most recent call last)\n")
    while b"hang" in case:
        pass
    return []


TARGET = Target(
    name="selftest",
    about="what the driver must notice",
    cases=_cases,
    opened=_opened,
    batch=5,
    deadline=2,
)
