"""Graph and snapshots inside one token budget: what does not fit is shown with less detail."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from asterism.reply.graph import GraphEntry, GraphOptions, Numbers, first_line, graph_body
from asterism.reply.names import Resolver
from asterism.reply.snapshots import Snapshot, snapshot
from asterism.types.deadlines import check_deadline
from asterism.types.outline import Outline
from asterism.types.search import Detail
from asterism.types.structure import Connections

Counter = Callable[[str], int]
"""How many tokens a text has."""

LEVELS = (Detail.full, Detail.collapsed, Detail.signature, Detail.location)
"""In the order in which detail is given up."""

# The first line names its own length. A number that fits is found within a few steps; where the
# digits flip to and fro, a line break more at the end settles it.
_ROUNDS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSource:
    """A file that holds results: its outline, and the decoded text it was read from."""

    outline: Outline
    source: bytes
    resolver: Resolver | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyResult:
    """One result: where it is in its file, how good it is, what is known of it."""

    file: int
    """Which of the files."""
    targets: tuple[int, ...]
    """Its items in that file's outline."""
    score: float
    connections: Connections


class ReplyPart(NamedTuple):
    """One text of the reply; a higher priority matters more."""

    text: str
    priority: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """The parts of a reply, the graph first, and the account of what each result was given."""

    parts: tuple[ReplyPart, ...]
    details: tuple[Detail | None, ...]
    """In the order of the results as they came; None for those that had no place at all."""
    used_tokens: int
    budget: int
    snapshots: tuple[Snapshot, ...] = ()

    @property
    def dropped(self) -> int:
        """How many results the budget had no place for."""
        return sum(detail is None for detail in self.details)


class _Draft(NamedTuple):
    parts: tuple[ReplyPart, ...]
    snapshots: tuple[Snapshot, ...]
    used: int


def assemble(
    query: str,
    files: Sequence[FileSource],
    results: Sequence[ReplyResult],
    budget: int,
    count: Counter,
    options: GraphOptions | None = None,
) -> Assembly:
    """The graph and one snapshot per file in order of score, never over the budget.

    If everything does not fit, the result with the least score gives up detail first: the code of
    its members, then its code, then all but its name and location. Only when all are down to that
    do results lose their place. Tokens left in the end restore detail, best first. `used_tokens`
    and the first line's number are what `count` says of all parts together.
    """
    writer = _Writer(query, files, results, budget, count, options or GraphOptions())
    order = sorted(range(len(results)), key=lambda at: (-results[at].score, at))
    levels: list[int | None] = [0] * len(results)
    draft = writer.write(levels)
    for at in reversed(order):
        check_deadline()
        for less in range(1, len(LEVELS)):
            if draft.used > budget:
                levels[at] = less
                draft = writer.write(levels)
    for at in reversed(order):
        if draft.used > budget:
            levels[at] = None
            draft = writer.write(levels)
    if any(level != 0 for level in levels):
        draft = _refill(writer, levels, order, draft)
    if draft.used > budget:
        draft = _Draft((), (), 0)
    return Assembly(
        parts=draft.parts,
        details=tuple(None if level is None else LEVELS[level] for level in levels),
        used_tokens=draft.used,
        budget=budget,
        snapshots=draft.snapshots,
    )


def _refill(
    writer: "_Writer", levels: list[int | None], order: Sequence[int], draft: _Draft
) -> _Draft:
    """Restore detail where it fits after all, because a large result was dropped."""
    for at in order:
        before = levels[at]
        for better in range(before if before is not None else len(LEVELS)):
            levels[at] = better
            tried = writer.write(levels)
            if tried.used <= writer.budget:
                draft = tried
                break
            levels[at] = before
    return draft


class _Writer:
    """Writes a reply at given levels; texts that were made before are not made again."""

    def __init__(
        self,
        query: str,
        files: Sequence[FileSource],
        results: Sequence[ReplyResult],
        budget: int,
        count: Counter,
        options: GraphOptions,
    ) -> None:
        self.budget = budget
        self._query = query
        self._files = files
        self._results = results
        self._count = count
        self._options = options
        self._snapshots: dict[tuple[int, tuple[int, ...], tuple[int, ...]], Snapshot] = {}
        self._sizes: dict[str, int] = {}

    def write(self, levels: Sequence[int | None]) -> _Draft:
        """The reply in which each result has the detail of its level; None leaves it out."""
        order = [at for at, level in enumerate(levels) if level is not None]
        order.sort(key=lambda at: (-self._results[at].score, at))
        shots = self._write_snapshots(order, levels)
        sizes = sum(self._size(shot.text) for shot, _score in shots)
        entries = [self._entry(at, levels[at] or 0) for at in order]
        text, used = self._graph(entries, sizes)
        ceiling = 1.0
        parts = [ReplyPart(text, ceiling)]
        for shot, score in shots:
            ceiling = min(ceiling, score)
            parts.append(ReplyPart(shot.text, ceiling))
        return _Draft(tuple(parts), tuple(shot for shot, _score in shots), used)

    def _entry(self, at: int, level: int) -> GraphEntry:
        result = self._results[at]
        items = self._files[result.file].outline.items
        last = max((items[target].end_line for target in result.targets), default=None)
        name = result.connections.symbol.name
        declared = [items[target] for target in result.targets]
        overloads = [item.start_line for item in declared if item.qualified_name == name]
        return GraphEntry(result.connections, LEVELS[level], last, tuple(overloads))

    def _write_snapshots(
        self, order: Sequence[int], levels: Sequence[int | None]
    ) -> list[tuple[Snapshot, float]]:
        """One per file that has code to show, the file with the best result first."""
        whole: dict[int, set[int]] = {}
        collapsed: dict[int, set[int]] = {}
        best: dict[int, float] = {}
        for at in order:
            result, level = self._results[at], LEVELS[levels[at] or 0]
            if level in (Detail.full, Detail.collapsed):
                kind = whole if level is Detail.full else collapsed
                kind.setdefault(result.file, set()).update(result.targets)
                best.setdefault(result.file, result.score)
        return [
            (self._snapshot(file, whole.get(file, set()), collapsed.get(file, set())), score)
            for file, score in best.items()
        ]

    def _snapshot(self, file: int, whole: set[int], collapsed: set[int]) -> Snapshot:
        key = (file, tuple(sorted(whole)), tuple(sorted(collapsed - whole)))
        if key not in self._snapshots:
            at = self._files[file]
            self._snapshots[key] = snapshot(
                at.outline, at.source, key[1], collapsed=key[2], resolver=at.resolver
            )
        return self._snapshots[key]

    def _graph(self, entries: Sequence[GraphEntry], others: int) -> tuple[str, int]:
        """The graph whose first line has the right number, and that number."""
        body = graph_body(entries, self._options)
        used = others
        text = ""
        for padding in range(_ROUNDS):
            for _round in range(_ROUNDS):
                numbers = Numbers(used, self.budget)
                line = first_line(self._query, entries, numbers, self._options)
                text = line + body + "\n" * padding
                real = self._count(text) + others
                if real == used:
                    return text, used
                used = real
        return text, used

    def _size(self, text: str) -> int:
        if text not in self._sizes:
            self._sizes[text] = self._count(text)
        return self._sizes[text]
