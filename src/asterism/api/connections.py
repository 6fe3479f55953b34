"""What a program gets back of how code connects: context to read, and relations of a symbol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from asterism.types.search import Account
from asterism.types.structure import CallTree, Connections, SymbolPlace

if TYPE_CHECKING:
    # They bring what searches and what talks to compilers.
    from asterism.engine.context_reply import ContextReply
    from asterism.engine.relations import RelationsReply


class Part(NamedTuple):
    """One text to read: first the connection graph, then the code, file by file."""

    text: str
    priority: float
    """1 for the graph, else the best score of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """How the hits of a question connect, and their code, inside a token budget."""

    parts: tuple[Part, ...]
    found: int
    """How many hits have a place in it; a context without any is false."""
    used_tokens: int
    budget: int
    account: Account
    """How many hits were left out for which reason, and what the size limits did."""
    did_you_mean: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    behind: int = 0
    """How many files changed that the answer does not know of yet."""
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """All parts, a blank line between them."""
        return "\n\n".join(part.text.rstrip("\n") for part in self.parts)

    def __len__(self) -> int:
        """How many hits there are."""
        return self.found


class Related(NamedTuple):
    """One definition of a name: what is known of it, and the calls that were asked for."""

    connections: Connections
    """Callers, callees, files that refer to it, types; what is not known is among its `gaps`."""
    tree: CallTree | None
    """Of callers or callees; nothing for references."""
    unknown: Mapping[SymbolPlace, tuple[str, ...]]
    """Places in the tree of which not everything is known, with the reasons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """Every definition of a name with what was asked about it."""

    related: tuple[Related, ...]
    total: int
    """How many definitions there are."""
    did_you_mean: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    behind: int = 0

    def __iter__(self) -> Iterator[Related]:
        """The definitions."""
        return iter(self.related)

    def __len__(self) -> int:
        """How many definitions are here."""
        return len(self.related)


def context_of(reply: ContextReply) -> Context:
    """Context as programs see it."""
    state = reply.search.state
    return Context(
        parts=tuple(Part(*part) for part in reply.assembly.parts),
        found=reply.shown,
        used_tokens=reply.assembly.used_tokens,
        budget=reply.assembly.budget,
        account=reply.account,
        did_you_mean=reply.search.did_you_mean,
        notes=(*reply.notes, *([state.message] if state.message else [])),
        behind=state.behind,
        seconds=reply.seconds,
    )


def relations_of(reply: RelationsReply) -> Relations:
    """Relations as programs see them."""
    state = reply.state
    return Relations(
        related=tuple(Related(one.connections, one.tree, one.unknown) for one in reply.related),
        total=reply.total,
        did_you_mean=reply.did_you_mean,
        notes=(*reply.notes, *([state.message] if state.message else [])),
        behind=state.behind,
    )
