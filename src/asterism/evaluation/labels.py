"""What is looked for, and what was found: the records that every part of an evaluation shares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple, TypeAlias


class PathMatch(StrEnum):
    """When a found path is the path of a target."""

    suffix = "suffix"
    """Equal, or either ends in the other: `utils.py` is `x/utils.py`."""
    strict = "strict"
    """The same file only."""


class Target(NamedTuple):
    """A place that answers a query: lines of a file, or all of it."""

    path: str
    """From the top of the checkout."""
    start_line: int | None = None
    end_line: int | None = None
    label: str | None = None
    """The path as whoever labelled it wrote it, where that is not `path`."""


class Query(NamedTuple):
    """A question with the places that answer it; without any, the repository cannot answer it."""

    id: str
    query: str
    repo: str
    targets: tuple[Target, ...]
    language: str = ""
    category: str = ""
    given: tuple[Target, ...] = ()
    """Where the question's own words come from; to find these places again earns no rank."""


Shown: TypeAlias = Literal["code", "lines", "name"]


class Found(NamedTuple):
    """A place that a tool found; its path is below the directory that was indexed."""

    path: str
    start_line: int | None = None
    """None for the whole file."""
    end_line: int | None = None
    tokens: int | None = None
    """What it costs to read; None to count the lines of the file."""
    name: str = ""
    """The symbol, where the tool names one."""
    score: float | None = None
    """How sure the tool is, 0 to 1; None where it does not say."""
    shown: Shown = "code"
    """Whether its code is given out, some of its lines, or only what it is called and where."""


class Checkout(NamedTuple):
    """A repository of a dataset."""

    name: str
    language: str = ""
    root: str = ""
    """The part that is indexed, from the top of the checkout; nothing for all of it."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """Queries with their repositories, and how their paths are to be compared."""

    name: str
    queries: Sequence[Query]
    checkouts: Mapping[str, Checkout]
    match: PathMatch = PathMatch.strict
