"""What a program gets back: answers, hits, symbols, contexts and states as plain records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from asterism.engine.chat.requests import Answered
from asterism.engine.context_reply import ContextReply
from asterism.engine.lookups import Lookup
from asterism.engine.relations import RelatedSymbol, RelationsReply
from asterism.engine.search import SearchReply
from asterism.engine.status import Status
from asterism.operations.limits import TextPart
from asterism.operations.search_reply import RowOptions, SearchRow, search_found
from asterism.operations.symbols import LookupRow, symbols_found
from asterism.store.registry import Registered
from asterism.types.chat import TurnStatus
from asterism.types.errors import AsterismError
from asterism.types.search import Account


class Cited(NamedTuple):
    """A place in the code that an answer rests on."""

    file_path: str
    start_line: int
    end_line: int
    qualified_name: str
    repo: str
    distance: float | None
    """Lower is better; nothing where no vector was compared."""
    exists: bool
    """Whether the file has these lines now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was answered, by whom, and on which grounds."""

    text: str
    citations: tuple[Cited, ...]
    model: str
    """`extractive` where no model answered."""
    provider: str
    agent: str
    conversation: str
    """Its id; give it with the next question to go on."""
    turn: str
    status: str
    """`done`; `stopped`; or `awaiting_approval`, where a tool may only be called with consent."""
    notes: tuple[str, ...]
    input_tokens: int
    output_tokens: int

    def __bool__(self) -> bool:
        """Whether something was said."""
        return bool(self.text.strip())

    def __str__(self) -> str:
        """What was said."""
        return self.text


def answer_of(answered: Answered) -> Answer:
    """The record; a turn that failed is an error."""
    turn = answered.turn
    if turn.status is TurnStatus.failed and turn.error is not None:
        raise AsterismError(turn.error.message)
    return Answer(
        text=turn.answer,
        citations=tuple(
            Cited(
                found.citation.path,
                found.citation.first_line,
                found.citation.last_line,
                found.citation.name,
                found.citation.repo,
                found.citation.distance,
                found.exists,
            )
            for found in answered.citations
        ),
        model=turn.model_id,
        provider=turn.provider,
        agent=turn.agent_name,
        conversation=turn.conversation_id,
        turn=turn.id,
        status=turn.status.value,
        notes=turn.notes,
        input_tokens=turn.usage.input_tokens,
        output_tokens=turn.usage.output_tokens,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The hits of a search, best first, and an account of what is not among them.

    A reply can be iterated, measured with `len` and indexed like a sequence of its hits.
    """

    hits: tuple[SearchRow, ...]
    total: int
    """How many matches there are."""
    total_is_exact: bool
    """Whether there are no more; a ranked search knows only those it looked at."""
    account: Account
    """How many hits were left out for which reason, and what the size limits did."""
    filters: Mapping[str, object]
    """What the search was narrowed to."""
    cursor: str | None = None
    """Give it to the same search for the next page; nothing on the last."""
    did_you_mean: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What there is to know about how the answer came about."""
    behind: int = 0
    """How many files changed that the answer does not know of yet."""
    seconds: float = 0.0

    def __iter__(self) -> Iterator[SearchRow]:
        """The hits, best first."""
        return iter(self.hits)

    def __len__(self) -> int:
        """How many hits there are; one without any is false."""
        return len(self.hits)

    def __getitem__(self, place: int) -> SearchRow:
        """The hit at a place, from 0."""
        return self.hits[place]


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbols:
    """The places of a name, definitions first."""

    symbols: tuple[LookupRow, ...]
    counts: Mapping[str, int]
    """How many there are of each role, whatever the limit."""
    did_you_mean: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many places there are."""
        return sum(self.counts.values())

    def __iter__(self) -> Iterator[LookupRow]:
        """The places, definitions first."""
        return iter(self.symbols)

    def __len__(self) -> int:
        """How many places were returned."""
        return len(self.symbols)


class IndexStatus(NamedTuple):
    """What state an index is in."""

    state: str
    """`equal` if a fresh index would be the same; else why not: `missing`, `content`, `model` …"""
    sentence: str
    """The same in words, with what to do."""
    behind: int = 0
    files: int = 0
    chunks: int = 0
    is_building: bool = False
    upgrade: str = ""
    """Progress of the encoder vectors and the model that answers, if the settings select any."""


def reply_of(found: SearchReply, registered: Registered) -> Reply:
    """A search's reply as programs see it."""
    message = (found.state.message,) if found.state.message else ()
    record = search_found(found, registered, RowOptions(explain=True, is_local=True))
    return Reply(
        hits=record.results,
        total=record.total_matches,
        total_is_exact=record.total_is_exact,
        account=found.selection.account,
        filters=record.filters_applied,
        cursor=found.cursor,
        did_you_mean=found.did_you_mean,
        notes=(*found.notes, *message),
        behind=found.state.behind,
        seconds=found.seconds,
    )


def symbols_of(found: Lookup) -> Symbols:
    """A lookup as programs see it."""
    record = symbols_found(found, counts=found.counts, filters_applied={})
    return Symbols(
        symbols=record.symbols,
        counts={role.value: count for role, count in found.counts.items()},
        did_you_mean=found.did_you_mean,
    )


def status_record(found: Status) -> IndexStatus:
    """A status as programs see it."""
    held = found.statistics
    return IndexStatus(
        found.verdict.staleness.value,
        found.verdict.message,
        found.verdict.behind,
        held.files if held else 0,
        held.chunks if held else 0,
        found.running,
        f"{found.upgrade.sentence}." if found.upgrade is not None else "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """How the hits of a question connect, and their code, inside a token budget."""

    parts: tuple[TextPart, ...]
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """Every definition of a name with what was asked about it."""

    related: tuple[RelatedSymbol, ...]
    total: int
    """How many definitions there are."""
    did_you_mean: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    behind: int = 0

    def __iter__(self) -> Iterator[RelatedSymbol]:
        """The definitions."""
        return iter(self.related)

    def __len__(self) -> int:
        """How many definitions are here."""
        return len(self.related)


def context_of(reply: ContextReply) -> Context:
    """Context as programs see it."""
    state = reply.search.state
    return Context(
        parts=tuple(TextPart(part.text, part.priority) for part in reply.assembly.parts),
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
        related=reply.related,
        total=reply.total,
        did_you_mean=reply.did_you_mean,
        notes=(*reply.notes, *([state.message] if state.message else [])),
        behind=state.behind,
    )
