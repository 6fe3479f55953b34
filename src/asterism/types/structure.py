"""How a symbol is connected to others: what files say of each other, and how that is known."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple

CALLABLE = frozenset({"function", "method", "constructor", "macro", "signature"})
"""Kinds of symbols that can be called."""


class Known(StrEnum):
    """How a connection is known."""

    resolved = "resolved"
    """A compiler or a type checker says so."""
    by_name = "by_name"
    """Names, scopes and imports say so; see the confidence."""


class Fact(StrEnum):
    """What can be said of a symbol, and what can be missing."""

    signature = "signature"
    extends = "extends"
    implements = "implements"
    subtypes = "subtypes"
    calls = "calls"
    callers = "callers"
    references = "references"
    types_in = "types_in"
    types_out = "types_out"
    members = "members"
    value = "value"


class SymbolPlace(NamedTuple):
    """A symbol and where it is declared."""

    name: str
    """Qualified, as `TokenService.validateToken`."""
    path: str | None
    """Relative to the repository; None for what is declared outside of it."""
    line: int | None = None
    """The line of its name, from 1."""
    kind: str | None = None
    module: str | None = None
    """The package or module of what is declared outside, as `express`."""


class Edge(NamedTuple):
    """A connection to another symbol."""

    target: SymbolPlace
    known: Known
    confidence: float = 1.0
    lines: tuple[int, ...] = ()
    """Where it is made, in the file of the symbol that makes it: the calls, the heritage clause."""


class CallTree(NamedTuple):
    """A symbol, with what it calls or who calls it, so far as was asked."""

    edge: Edge
    """The call that leads here; at the root, the symbol itself."""
    children: tuple["CallTree", ...] = ()
    mark: Literal["cycle", "depth"] | None = None
    """Why it has no children: it is its own ancestor, or the depth limit was reached."""
    left_out: int = 0
    """Further calls that were found and are not among the children."""


class TypeFlow(NamedTuple):
    """A type that goes into a symbol or comes out of it, and where it is declared."""

    name: str | None
    """The parameter; None for what comes out."""
    type: str
    origins: tuple[Edge, ...] = ()


class Member(NamedTuple):
    """One member of a class, an interface or a module."""

    name: str
    kind: str
    signature: str
    line: int
    path: str | None = None
    """Where another file declares it, by declaration merging; None for the symbol's own."""


class Gap(NamedTuple):
    """Facts that are not known, and why: a dead helper process never looks like an empty answer."""

    facts: tuple[Fact, ...]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """Everything that is known of one symbol; what is not known is among the gaps."""

    symbol: SymbolPlace
    kind: str
    signature: str
    modifiers: tuple[str, ...] = ()
    is_exported: bool = False
    extends: tuple[Edge, ...] = ()
    implements: tuple[Edge, ...] = ()
    subtypes: tuple[Edge, ...] = ()
    calls: tuple[Edge, ...] = ()
    callers: tuple[Edge, ...] = ()
    users: tuple[Edge, ...] = ()
    """Symbols that mention it without calling it: a constant has these instead of callers."""
    references: tuple[str, ...] | None = None
    """The other files that refer to it; None if unknown."""
    types_in: tuple[TypeFlow, ...] = ()
    types_out: tuple[TypeFlow, ...] = ()
    members: tuple[Member, ...] = ()
    """In source order."""
    type: str | None = None
    """Of a constant or variable."""
    value: str | None = None
    """Of a constant, as written, where it is short."""
    gaps: tuple[Gap, ...] = ()
