"""Definition mode: where the names of a question are defined."""

import difflib
import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from asterism.search.filters import SYMBOL_KINDS
from asterism.search.query.text import STOP_WORDS, words
from asterism.search.ranking.options import RankOptions
from asterism.search.ranking.priors import Company, file_priors
from asterism.search.recall import FileKey, Sources
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import ChunkKey, ChunkSnapshot
from asterism.store.filters import predicate
from asterism.types.errors import UsageError
from asterism.types.index import Chunk, FoundSymbol, Role, SymbolQuery, symbol_query
from asterism.types.search import NO_FILTER, Filter, Hit, Question, Signal

# Hints are read by people; more of them are a list to search through.
MAX_HINTS = 5
# Similar spellings to look for in the scope that the query names.
_LIKE = 20
# Every match is wanted; SQLite takes a limit all the same.
_ALL = 1_000_000_000
# Rows whose chunks are compared with a filter at once.
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolAnswer:
    """The definitions of a name, by path and line."""

    name: str
    """As it was asked for."""
    found: tuple[FoundSymbol, ...] = ()
    """All of them."""
    filtered_out: int = 0
    """How many more there are that do not pass the filter."""
    other_case: bool = False
    """Whether these are spelt with other capitals, because nothing was spelt as asked."""
    did_you_mean: tuple[str, ...] = ()
    """Names that exist and look like this one; only where nothing has its name."""

    @property
    def total_matches(self) -> int:
        """How many there are; exact."""
        return len(self.found)


def look_up(
    catalogue: Catalogue, snapshot: ChunkSnapshot, name: str, where: Filter = NO_FILTER
) -> SymbolAnswer:
    """Find a name as a user writes it, `A.x` or `path > A > x`; none is an answer with hints."""
    rows = definitions_named(catalogue, name)
    found = passing(snapshot, rows, where)
    return SymbolAnswer(
        name=name,
        found=tuple(found),
        filtered_out=len(rows) - len(found),
        did_you_mean=() if rows else hints(catalogue, name),
    )


def definitions_named(catalogue: Catalogue, name: str) -> list[FoundSymbol]:
    """Every definition of a name, by path and line."""
    wanted = SymbolQuery(name, roles=(Role.DEFINITION,), by_end=True, limit=_ALL)
    query = symbol_query(name, wanted)
    return list(catalogue.find_symbols(query).rows)


def passing(
    snapshot: ChunkSnapshot, rows: Sequence[FoundSymbol], where: Filter
) -> list[FoundSymbol]:
    """Those that pass a filter; kind and export are the symbol's, all else is its chunk's."""
    if where == NO_FILTER:
        return list(rows)
    passes = predicate(where)
    found: list[FoundSymbol] = []
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        for row, chunk in zip(some, chunks_of(snapshot, some), strict=True):
            if chunk is None:
                continue
            symbol = row.row
            if passes(chunk._replace(node_kind=symbol.kind, is_exported=symbol.is_exported)):
                found.append(row)
    return found


def chunks_of(snapshot: ChunkSnapshot, rows: Sequence[FoundSymbol]) -> list[Chunk | None]:
    """The chunk that holds each symbol, where there is one."""
    keys = [ChunkKey(row.repo, row.row.chunk_id or "") for row in rows]
    chunks = {
        ChunkKey(chunk.repo, chunk.id): chunk for chunk in snapshot.chunks([*dict.fromkeys(keys)])
    }
    return [chunks.get(key) for key in keys]


def hints(catalogue: Catalogue, name: str) -> tuple[str, ...]:
    """What the name may have been meant to be, the likeliest first.

    Where its last part exists in other places, those; else names that are spelt like that part,
    first those inside the scope that the query names before it.
    """
    readings = symbol_query(name).readings
    last = readings[-1].name
    query = SymbolQuery(last, roles=(Role.DEFINITION,), limit=_ALL)
    elsewhere = dict.fromkeys(
        found.row.qualified_name for found in catalogue.find_symbols(query).rows
    )
    if elsewhere:
        plain = name.replace(" > ", ".").replace("::", ".")
        return tuple(difflib.get_close_matches(plain, elsewhere, n=MAX_HINTS, cutoff=0.0))
    like = catalogue.similar_names(last, _LIKE)
    inside = dict.fromkeys(
        found.row.qualified_name
        for path, container in dict.fromkeys((each.path, each.container) for each in readings)
        for word in (like if path or container else ())
        for found in definitions_named(catalogue, " > ".join(filter(None, (path, container, word))))
    )
    return tuple([*dict.fromkeys([*inside, *like])][:MAX_HINTS])


def in_other_case(catalogue: Catalogue, name: str) -> list[FoundSymbol]:
    """Every definition whose name differs in capitals alone."""
    found: dict[FoundSymbol, None] = {}
    spelt = {
        last: [word for word in catalogue.similar_names(last, _ALL) if word.lower() == last.lower()]
        for last in {reading.name for reading in symbol_query(name).readings}
    }
    for reading in symbol_query(name).readings:
        ends = f".{reading.container}.{reading.name}" if reading.container else f".{reading.name}"
        for spelling in (reading.name, *spelt[reading.name]):
            query = SymbolQuery(spelling, roles=(Role.DEFINITION,), limit=_ALL)
            for row in catalogue.find_symbols(query).rows:
                qualified = f".{row.row.qualified_name}".casefold()
                path = f"/{row.row.filepath}".casefold()
                if qualified.endswith(ends.casefold()) and path.endswith(
                    f"/{reading.path}".casefold() if reading.path else ""
                ):
                    found[row] = None
    return sorted(found, key=lambda row: (row.row.filepath, row.repo, row.row.line))


# Uses that are counted; a name with more is used everywhere.
MOST_USES = 2_000
# Chunks that are read: some times the largest limit, so that duplicates leave enough.
READ_AT_MOST = 300
# The name is used there; whether that is the one meant, names do not tell.
SCORE = 0.85
# What does not use the name is rarely asked for beside what does.
BESIDE = 0.3


def led_by_uses(hits: Sequence[Hit], question: Question, sources: Sources) -> list[Hit]:
    """The hits behind the chunks that use the name the question asks about, if it does so.

    A chunk counts by how often it uses the name and by the kind of its file; those that are among
    the hits keep their reasons.
    """
    uses = _uses(question, sources)
    known = {ChunkKey(hit.chunk.repo, hit.chunk.id): hit for hit in hits}
    passes = predicate(sources.where)
    first = [
        known.get(ChunkKey(chunk.repo, chunk.id), Hit(chunk, 0.0))
        for chunk in sources.chunks.chunks([key for key, _ in uses.most_common(READ_AT_MOST)])
        if passes(chunk)
    ]
    if not first:
        return [*hits]
    company = Company([FileKey(hit.chunk.repo, hit.chunk.relative_path) for hit in first])
    placed = sorted((_placed(hit, uses, question, company) for hit in first), key=_order)
    rest = [
        hit._replace(score=min(hit.score, BESIDE)) for key, hit in known.items() if key not in uses
    ]
    return [hit._replace(score=SCORE) for _, hit in placed] + rest


def _uses(question: Question, sources: Sources) -> Counter[ChunkKey]:
    """How often each chunk uses the name."""
    if question.used is None:
        return Counter()
    repos = tuple(sources.where.repos)
    query = SymbolQuery(question.used, roles=(Role.USAGE,), repos=repos, limit=MOST_USES)
    return Counter(
        ChunkKey(symbol.repo, symbol.row.chunk_id)
        for symbol in sources.catalogue.find_symbols(query).rows
        if symbol.row.chunk_id is not None
    )


def _placed(
    hit: Hit, uses: Counter[ChunkKey], question: Question, company: Company
) -> tuple[float, Hit]:
    chunk = hit.chunk
    count = uses[ChunkKey(chunk.repo, chunk.id)]
    priors = file_priors(FileKey(chunk.repo, chunk.relative_path), company, question, RankOptions())
    weight = (1.0 + math.log2(count)) * math.prod(prior.value for prior in priors)
    own = [signal for signal in hit.why if not signal.name.startswith("prior:")]
    return weight, hit._replace(why=(Signal("uses", float(count)), *own, *priors))


def _order(placed: tuple[float, Hit]) -> tuple[float, str, str, int]:
    weight, hit = placed
    return -weight, hit.chunk.repo, hit.chunk.relative_path, hit.chunk.start_line


_Item = TypeVar("_Item", bound=Hashable)
# A question in prose is full of words; names come first in it, or are few.
MAX_NAMES = 10
# What people say around the name they look for.
_AROUND = (
    words("code constant declaration declared define defined defines definition file find")
    | words("implementation implemented implements located location named source symbol")
    | frozenset(SYMBOL_KINDS)
    | STOP_WORDS
)


def find_definitions(
    catalogue: Catalogue, snapshot: ChunkSnapshot, question: Question, where: Filter = NO_FILTER
) -> SymbolAnswer:
    """The definitions of every name in a question, in the order in which it names them.

    Where none is spelt so, those that differ in capitals alone are found, and the answer says so.
    """
    names = names_wanted(question)
    rows = _unique(row for name in names for row in definitions_named(catalogue, name))
    other_case = not rows
    if other_case:
        rows = _unique(row for name in names for row in in_other_case(catalogue, name))
    found = passing(snapshot, rows, where)
    like = _unique(hint for name in names for hint in hints(catalogue, name)) if not rows else []
    return SymbolAnswer(
        name=", ".join(names),
        found=tuple(found),
        filtered_out=len(rows) - len(found),
        other_case=other_case and bool(rows),
        did_you_mean=tuple(like[:MAX_HINTS]),
    )


def names_wanted(question: Question) -> list[str]:
    """The names a question asks about: what looks like one, else every word that may be one."""
    if question.symbol is not None:
        return [question.symbol]
    if question.pattern is not None:
        raise UsageError(
            "Definition mode looks for names; use mode exact for a pattern, or leave `regex:` out."
        )
    names = [name for name in question.identifiers if not name.startswith("--")]
    if not names:
        spoken = dict.fromkeys(re.findall(r"[^\W\d]\w*", question.text))
        names = [word for word in spoken if word.lower() not in _AROUND] or [*spoken]
    if not names:
        raise UsageError("Definition mode needs a name, such as `Parser.parse`.")
    return names[:MAX_NAMES]


def _unique(items: Iterable[_Item]) -> list[_Item]:
    return [*dict.fromkeys(items)]
