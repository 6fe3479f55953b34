"""Graph, snapshots and candidates inside one token budget: what does not fit has less detail."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from asterism.reply.graph import GraphEntry, GraphOptions, Numbers, first_line, graph_body
from asterism.reply.names import Resolver
from asterism.reply.snapshots import Snapshot, snapshot
from asterism.types.deadlines import check_deadline
from asterism.types.files import display_path
from asterism.types.outline import Outline
from asterism.types.search import Detail, Lines
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
    is_head: bool = False
    """Only its head is shown, because a member of it is a result."""
    is_ranked: bool = True
    """Whether the score says anything; what was looked up by name has none."""


class OtherCandidate(NamedTuple):
    """What was found and is not among the results."""

    path: str
    lines: Lines
    name: str
    score: float

    def line(self) -> str:
        """`file_path:start-end  qualified name  score`."""
        place = f"{display_path(self.path)}:{self.lines.first}"
        if self.lines.last > self.lines.first:
            place += f"-{self.lines.last}"
        return f"{place}  {display_path(self.name)}  {self.score:.2f}"


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
    candidates: int = 0
    """How many of the candidates are named."""
    is_over: bool = False
    """Whether everything in full would have been over the budget."""

    @property
    def dropped(self) -> int:
        """How many results the budget had no place for."""
        return sum(detail is None for detail in self.details)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssemblyOptions:
    """What a reply consists of beside its results, and how large it should be."""

    graph: GraphOptions = field(default_factory=GraphOptions)
    goal: int | None = None
    """Tokens that a reply should not exceed, except by the code of the best result."""
    candidates: Sequence[OtherCandidate] = ()
    left_out: int = 0
    """How many hits are not among the results; the candidates are the best of them."""


class _Draft(NamedTuple):
    parts: tuple[ReplyPart, ...]
    snapshots: tuple[Snapshot, ...]
    used: int


_CODELESS = 2
"""The first of the levels without code."""


def assemble(
    query: str,
    files: Sequence[FileSource],
    results: Sequence[ReplyResult],
    budget: int,
    count: Counter,
    options: AssemblyOptions | None = None,
) -> Assembly:
    """The graph, one snapshot per file in order of score, and the candidates, within the budget.

    If everything does not fit, the result with the least value per token gives up detail first: the
    code of its members, then its code, then all but its name and location. The best is the last.
    Only when all are down to that do candidates go, and then results. Tokens left in the end
    restore detail, best first. Beyond the goal, which is less than the budget, only the best result
    has code. `used_tokens` and the first line's number are what `count` says of all parts together.
    """
    options = options or AssemblyOptions()
    writer = _Writer(query, files, results, budget, count, options)
    goal = budget if options.goal is None else min(options.goal, budget)
    order = sorted(range(len(results)), key=lambda at: (-results[at].score, at))
    levels: list[int | None] = [_CODELESS if one.is_head else 0 for one in results]
    draft = writer.write(levels)
    whole = draft.used
    draft = _degrade(writer, levels, order[1:], draft, _Limits(goal, _CODELESS))
    draft = _degrade(writer, levels, order[:1], draft, _Limits(goal, 1))
    draft = _degrade(writer, levels, order[1:], draft, _Limits(budget, len(LEVELS) - 1))
    draft = _degrade(writer, levels, order[:1], draft, _Limits(budget, len(LEVELS) - 1))
    while draft.used > budget and writer.named:
        writer.named -= 1
        draft = writer.write(levels)
    for at in reversed(order):
        if draft.used > budget:
            levels[at] = None
            draft = writer.write(levels)
    if whole > goal:
        draft = _refill(writer, levels, order, draft, goal)
    if draft.used > budget:
        draft = _Draft((), (), 0)
    return Assembly(
        parts=draft.parts,
        details=tuple(None if level is None else LEVELS[level] for level in levels),
        used_tokens=draft.used,
        budget=budget,
        snapshots=draft.snapshots,
        candidates=writer.named if draft.parts else 0,
        is_over=whole > budget,
    )


class _Limits(NamedTuple):
    """How far results may lose detail, until how many tokens are used."""

    tokens: int
    level: int


def _degrade(
    writer: "_Writer", levels: list[int | None], chosen: Sequence[int], draft: _Draft, to: _Limits
) -> _Draft:
    """Take detail from the chosen results, from the one with the least value per token first."""
    for at in sorted(chosen, key=lambda at: (writer.value_per_token(at), -at)):
        check_deadline()
        while draft.used > to.tokens and (level := levels[at]) is not None and level < to.level:
            levels[at] = level + 1
            draft = writer.write(levels)
    return draft


def _refill(
    writer: "_Writer",
    levels: list[int | None],
    order: Sequence[int],
    draft: _Draft,
    most: int,
) -> _Draft:
    """Restore detail where it fits after all, because a large result was dropped."""
    for at in order:
        before = levels[at]
        least = _CODELESS if writer.is_head(at) else 0
        for better in range(least, before if before is not None else len(LEVELS)):
            levels[at] = better
            tried = writer.write(levels)
            if tried.used <= most:
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
        options: AssemblyOptions,
    ) -> None:
        self.budget = budget
        self.named = len(options.candidates)
        """How many candidates are named."""
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
        closing = self._closing(bool(order))
        sizes = sum(self._size(shot.text) for shot, _score in shots)
        sizes += self._size(closing) if closing else 0
        entries = [self._entry(at, levels[at] or 0) for at in order]
        text, used = self._graph(entries, sizes)
        ceiling = 1.0
        parts = [ReplyPart(text, ceiling)]
        for shot, score in shots:
            ceiling = min(ceiling, score)
            parts.append(ReplyPart(shot.text, ceiling))
        if closing:
            parts.append(ReplyPart(closing, ceiling / 2))
        return _Draft(tuple(parts), tuple(shot for shot, _score in shots), used)

    def value_per_token(self, at: int) -> float:
        """What a result's score is for each token of its code."""
        result = self._results[at]
        items = self._files[result.file].outline.items
        size = sum(items[target].span.end - items[target].span.start for target in result.targets)
        return result.score / max(1, size)

    def is_head(self, at: int) -> bool:
        """Whether only the head of a result may be shown."""
        return self._results[at].is_head

    def _closing(self, has_results: bool) -> str:
        """The best of what is not among the results, and how much that is."""
        shown = self._options.candidates[: self.named]
        if not shown:
            return ""
        more = self._options.left_out - len(shown)
        least = shown[-1].score
        count = f" ({more:,} more below {least:.2f})" if more > 0 else ""
        title = "Other candidates" if has_results else "Nothing certain. Other candidates"
        return "\n".join([f"{title}{count}:", *(f" {one.line()}" for one in shown)])

    def _entry(self, at: int, level: int) -> GraphEntry:
        result = self._results[at]
        items = self._files[result.file].outline.items
        name = result.connections.symbol.name
        declared = [items[target] for target in result.targets]
        overloads = [item.start_line for item in declared if item.qualified_name == name]
        first = min((item.first_line for item in declared), default=None)
        last = max((item.end_line for item in declared), default=None)
        return GraphEntry(
            result.connections,
            LEVELS[level],
            None if first is None or last is None else Lines(first, last),
            result.score if result.is_ranked else None,
            tuple(overloads),
        )

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
        body = graph_body(entries, self._options.graph)
        used = others
        text = ""
        for padding in range(_ROUNDS):
            for _round in range(_ROUNDS):
                numbers = Numbers(used, self.budget)
                line = first_line(self._query, entries, numbers, self._options.graph)
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
