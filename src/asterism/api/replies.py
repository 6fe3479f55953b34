"""What a program gets back: hits, symbols and states as plain records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from asterism.api.arguments import text, whole
from asterism.engine.chat.requests import Answered, AskRequest
from asterism.engine.lookups import Lookup
from asterism.engine.status import Status
from asterism.store.chunk_table import ChunkKey
from asterism.types.chat import TurnStatus
from asterism.types.errors import AsterismError
from asterism.types.files import wire_path
from asterism.types.index import FoundSymbol
from asterism.types.search import Account, Kept, Signal

if TYPE_CHECKING:
    from asterism.engine.search import SearchReply


class Cited(NamedTuple):
    """A place in the code that an answer rests on."""

    path: str
    start_line: int
    end_line: int
    name: str
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


def ask_request(
    question: object,
    conversation: object,
    agent: object,
    model: object,
    request_id: object,
    retries: object,
) -> AskRequest:
    """What a program asks, checked."""
    return AskRequest(
        question=text("question", question),
        conversation=text("conversation", conversation),
        agent=text("agent", agent),
        model=text("model", model),
        request_id=text("request_id", request_id),
        retries=None if retries is None else whole("retries", retries),
    )


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
class Hit:
    """A piece of code that was found."""

    path: str
    """From the repository's root."""
    start_line: int
    """From 1; `end_line` belongs to the hit as well."""
    end_line: int
    name: str
    """With what it stands in: `TokenService.validate`."""
    kind: str
    """`function`, `class`, `method` …"""
    language: str
    signature: str
    score: float
    """0 to 1: how likely this is what was asked for."""
    text: str
    """The code, as far as `detail` says."""
    detail: str
    """`full`, `collapsed`, `signature`, `location` …; less than full where a limit was met."""
    why: tuple[Signal, ...] = ()
    """What each channel and prior says: `name`, `value`, `rank`."""
    distance: float | None = None
    """Between vectors, 2 − 2·cosine, lower is nearer; nothing where none was compared."""
    lines: tuple[int, ...] = ()
    """The lines that match, where each match is known."""
    before: tuple[str, ...] = ()
    """Lines of the file above the hit, as many as were asked for; `after` has those below."""
    after: tuple[str, ...] = ()
    repo: str = ""
    file: Path = Path()
    """Where the file is on this machine."""
    id: str = ""
    """Of the chunk; it stays while the symbol stays."""
    below_threshold: bool = False
    """It is among the best of what did not pass, and nothing passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The hits of a search, best first, and an account of what is not among them.

    A reply can be iterated, measured with `len` and indexed like a sequence of its hits.
    """

    hits: tuple[Hit, ...]
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

    def __iter__(self) -> Iterator[Hit]:
        """The hits, best first."""
        return iter(self.hits)

    def __len__(self) -> int:
        """How many hits there are; one without any is false."""
        return len(self.hits)

    def __getitem__(self, place: int) -> Hit:
        """The hit at a place, from 0."""
        return self.hits[place]


class Symbol(NamedTuple):
    """A place where a name stands."""

    name: str
    qualified_name: str
    kind: str
    role: str
    """`definition`, `export`, `import` or `usage`."""
    path: str
    line: int
    is_exported: bool
    signature: str | None = None
    """Of a definition."""
    module: str | None = None
    """What an import names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbols:
    """The places of a name, definitions first."""

    symbols: tuple[Symbol, ...]
    counts: Mapping[str, int]
    """How many there are of each role, whatever the limit."""
    did_you_mean: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many places there are."""
        return sum(self.counts.values())

    def __iter__(self) -> Iterator[Symbol]:
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
    """How far the second vectors are and which model answers, where the settings want any."""


def reply_of(found: SearchReply, filters: Mapping[str, object]) -> Reply:
    """A search's reply as programs see it."""
    message = (found.state.message,) if found.state.message else ()
    return Reply(
        hits=tuple(_hit(kept, found) for kept in found.selection.kept),
        total=found.total.matches,
        total_is_exact=found.total.exact,
        account=found.selection.account,
        filters=filters,
        cursor=found.cursor,
        did_you_mean=found.did_you_mean,
        notes=(*found.notes, *message),
        behind=found.state.behind,
        seconds=found.seconds,
    )


def symbols_of(found: Lookup) -> Symbols:
    """A lookup as programs see it."""
    return Symbols(
        symbols=tuple(map(_symbol, found.symbols)),
        counts={role.value: count for role, count in found.counts.items()},
        did_you_mean=found.did_you_mean,
    )


def status_record(found: Status) -> IndexStatus:
    """A status as programs see it."""
    held = found.statistics
    return IndexStatus(
        found.judgement.staleness.value,
        found.judgement.message,
        found.judgement.behind,
        held.files if held else 0,
        held.chunks if held else 0,
        found.running,
        f"{found.upgrade.sentence}." if found.upgrade is not None else "",
    )


def _hit(kept: Kept, found: SearchReply) -> Hit:
    chunk = kept.hit.chunk
    around = found.around.get(ChunkKey(chunk.repo, chunk.id))
    return Hit(
        path=wire_path(chunk.relative_path),
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        name=chunk.qualified_name,
        kind=chunk.node_kind,
        language=chunk.language,
        signature=chunk.signature,
        score=kept.hit.score,
        text=kept.text,
        detail=kept.detail.value,
        why=kept.hit.why,
        distance=kept.hit.distance,
        lines=kept.hit.lines,
        before=around.before if around else (),
        after=around.after if around else (),
        repo=chunk.repo,
        file=Path(chunk.file_path),
        id=chunk.id,
        below_threshold=kept.below_threshold,
    )


def _symbol(found: FoundSymbol) -> Symbol:
    row = found.row
    return Symbol(
        row.name,
        row.qualified_name,
        row.kind,
        row.role.value,
        row.filepath,
        row.line,
        row.is_exported,
        row.signature,
        row.module,
    )
