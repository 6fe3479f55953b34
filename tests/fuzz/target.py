"""What is fuzzed: one kind of input, how cases are made from a seed, and what checks one case."""

import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from random import Random
from typing import cast

Check = Callable[[bytes], list[str]]
"""Gives the complaints about one case; an exception is a complaint too."""

Cases = Callable[[str, int], Iterator[bytes]]
"""Makes so many cases from a seed: the same seed gives the same cases on every machine."""

NAMES = (
    "sources",
    "agents",
    "configs",
    "ignores",
    "manifests",
    "calls",
    "http",
    "frames",
    "wire",
    "indexes",
    "names",
)
"""One module of this package for each, with a `TARGET`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One kind of input."""

    name: str
    about: str
    cases: Cases
    opened: Callable[[Path], AbstractContextManager[Check]]
    """Prepares what the check needs, in an empty folder."""
    batch: int = 200
    """Cases made from one seed. A killed run loses the unfinished batches only."""
    tries: int = 2_000
    """Checks that making a case smaller may take."""
    deadline: float = 60.0
    """CPU seconds after which one case counts as a hang; the slowest takes some ten."""
    memory_mb: int = 2_000
    """The most resident memory that a worker may reach."""
    case_mb: int = 400
    """The most by which one case may raise the memory that its worker has reached."""


def target_of(name: str) -> Target:
    """The target of this name; its module is imported here, since some bring a server."""
    return cast("Target", import_module(f"tests.fuzz.{name}").TARGET)


def one_by_one(make: Callable[[Random], bytes]) -> Cases:
    """Cases that do not depend on each other."""

    def cases(seed: str, count: int) -> Iterator[bytes]:
        for number in range(count):
            yield make(Random(f"{seed}-{number}"))

    return cases


_DETAILS = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\d+")
SIGNATURE_LENGTH = 160


def signature_of(complaint: str) -> str:
    """The complaint without its details, so that equal mistakes count as one."""
    return _DETAILS.sub("#", complaint.split("\n", 1)[0])[:SIGNATURE_LENGTH]


def mishap(error: BaseException) -> str:
    """An exception as a complaint, with the place in Asterism where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/asterism/" in frame.filename] or frames
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "nowhere"
    return f"raised {type(error).__name__} in {place}: {error}"
