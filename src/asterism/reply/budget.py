"""Graph, snapshots and candidates inside one token budget: what does not fit has less detail."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from asterism.reply.graph import GraphEntry, GraphOptions, Numbers, first_line, graph_body
from asterism.reply.names import Resolver
from asterism.reply.snapshots import FUNCTIONS, WHOLE_LINES, Shortened, Snapshot, snapshot
from asterism.types.deadlines import check_deadline
from asterism.types.files import display_name, display_path
from asterism.types.outline import Outline
from asterism.types.search import Detail, Lines
from asterism.types.structure import Connections

Counter = Callable[[str], int]
"""How many tokens a text has."""

LEVELS = (Detail.full, Detail.collapsed, Detail.lines, Detail.signature, Detail.location)
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
    is_weak: bool = False
    """Whether it is far behind the best: what it uses of its file is left out."""
    matches: tuple[tuple[int, str], ...] = ()
    """The lines of it that say what the query asks for, with their numbers."""


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
        return f"{place}  {display_name(self.name)}  {self.score:.2f}"


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
    most_code: int | None = None
    """How many results have code, the best first."""
    candidates: Sequence[OtherCandidate] = ()
    left_out: int = 0
    """How many hits are not among the results; the candidates are the best of them."""


class _Draft(NamedTuple):
    parts: tuple[ReplyPart, ...]
    snapshots: tuple[Snapshot, ...]
    used: int


_CODELESS = 2
"""The first of the levels without code."""
_HEAD = 3
"""That of a type of which a member is a result."""


def assemble(
    query: str,
    files: Sequence[FileSource],
    results: Sequence[ReplyResult],
    budget: int,
    count: Counter,
    options: AssemblyOptions | None = None,
) -> Assembly:
    """The graph, one snapshot per file in order of score, and the candidates, within the budget.

    If everything does not fit, results have their code in order of score, each if it fits: a long
    one leaves its place to the next, and has its signature and the lines that match. The best is
    the last to lose detail: the code of its members, then its code, then all but its name and
    location. Only when all are down to that do candidates go, and then results. Beyond the goal,
    which is less than the budget, only the best result has code. `used_tokens` and the first line's
    number are what `count` says of all parts together.
    """
    options = options or AssemblyOptions()
    writer = _Writer(query, files, results, budget, count, options)
    goal = budget if options.goal is None else min(options.goal, budget)
    most = len(results) if options.most_code is None else options.most_code
    order = sorted(range(len(results)), key=lambda at: (-results[at].score, at))
    last = len(LEVELS) - 1
    levels: list[int | None] = [writer.first_level(at) for at in range(len(results))]
    draft = writer.write(levels)
    whole = draft.used
    if results and (whole > goal or len(results) > most):
        levels = [last] * len(results)
        levels[order[0]] = writer.first_level(order[0])
        draft = writer.write(levels)
        draft = _degrade(writer, levels, order[:1], draft, _Limits(goal, 1))
        draft = _refill(writer, levels, order[:most], draft, _Room(goal, 0, _CODELESS))
        draft = _refill(writer, levels, order, draft, _Room(goal, _CODELESS, len(LEVELS)))
    draft = _degrade(writer, levels, order[:0:-1], draft, _Limits(budget, last))
    draft = _degrade(writer, levels, order[:1], draft, _Limits(budget, last))
    while draft.used > budget and writer.named:
        writer.named -= 1
        draft = writer.write(levels)
    for at in reversed(order):
        if draft.used > budget:
            levels[at] = None
            draft = writer.write(levels)
    if draft.used < goal < whole:
        draft = _refill(writer, levels, order[:most], draft, _Room(goal, 0, len(LEVELS)))
    if draft.used > budget:
        draft = _Draft((), (), 0)
    return Assembly(
        parts=draft.parts,
        details=tuple(map(writer.detail, range(len(results)), levels)),
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


class _Room(NamedTuple):
    """How many tokens there are, and the levels that a result may get."""

    tokens: int
    first: int
    end: int


def _degrade(
    writer: "_Writer", levels: list[int | None], chosen: Sequence[int], draft: _Draft, to: _Limits
) -> _Draft:
    """Take detail from the chosen results, one after the other."""
    for at in chosen:
        check_deadline()
        while draft.used > to.tokens and (level := levels[at]) is not None and level < to.level:
            levels[at] = level + 1
            draft = writer.write(levels)
    return draft


def _refill(
    writer: "_Writer", levels: list[int | None], order: Sequence[int], draft: _Draft, room: _Room
) -> _Draft:
    """Give results the most detail that fits, the best first."""
    for at in order:
        check_deadline()
        before = levels[at]
        first = max(room.first, writer.first_level(at))
        end = len(LEVELS) if before is None else before
        for better in range(first, min(room.end, end)):
            levels[at] = better
            tried = writer.write(levels)
            if tried.used <= room.tokens:
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
        self._snapshots: dict[tuple[tuple[int, ...], frozenset[int]], Snapshot] = {}
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

    def detail(self, at: int, level: int | None) -> Detail | None:
        """What a level means for a result: without lines that match, its signature is all."""
        if level is None:
            return None
        detail = LEVELS[level]
        is_bare = detail is Detail.lines and not self._results[at].matches
        return Detail.signature if is_bare else detail

    def first_level(self, at: int) -> int:
        """The level with the most detail that a result may have.

        Only the head of a type is shown whose member is a result. A weak result that is long and no
        function is read member by member.
        """
        result = self._results[at]
        if result.is_head:
            return _HEAD
        items = self._files[result.file].outline.items
        first, last = items[result.targets[0]], items[result.targets[-1]]
        is_long = last.end_line - first.start_line >= WHOLE_LINES
        return _CODELESS if result.is_weak and is_long and first.kind not in FUNCTIONS else 0

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
            self.detail(at, level) or Detail.location,
            None if first is None or last is None else Lines(first, last),
            result.score if result.is_ranked else None,
            tuple(overloads),
            result.matches,
            result.is_weak,
        )

    def _write_snapshots(
        self, order: Sequence[int], levels: Sequence[int | None]
    ) -> list[tuple[Snapshot, float]]:
        """One per file that has code to show, the file with the best result first."""
        shown: dict[int, list[int]] = {}
        for at in order:
            if (levels[at] or 0) < _CODELESS:
                shown.setdefault(self._results[at].file, []).append(at)
        return [
            (self._snapshot(tuple(some), levels), self._results[some[0]].score)
            for some in shown.values()
        ]

    def _snapshot(self, shown: tuple[int, ...], levels: Sequence[int | None]) -> Snapshot:
        """That of one file with these results."""
        whole = {at for at in shown if not levels[at]}
        key = (shown, frozenset(whole))
        if key not in self._snapshots:
            results, file = self._results, self._files[self._results[shown[0]].file]
            full = self._targets(whole)
            strong = self._targets(at for at in shown if not results[at].is_weak)
            self._snapshots[key] = snapshot(
                file.outline,
                file.source,
                sorted(full),
                collapsed=sorted(self._targets(shown) - full),
                shortened=Shortened(
                    plain=self._targets(shown) - strong,
                    brief=self._targets(at for at in shown if results[at].is_ranked),
                ),
                resolver=file.resolver,
            )
        return self._snapshots[key]

    def _targets(self, chosen: Iterable[int]) -> set[int]:
        return {target for at in chosen for target in self._results[at].targets}

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
