"""The connection graph: how the results relate to each other and to the rest, as plain text.

The first line has the real numbers. Each result follows with what is known of it and cannot be
read from its code: callers, and calls and types of other files of the repository. `★` marks a
symbol that is among the results, `◆` one of the repository that two or more results use and that
is not among them. Connections that are known by name only are in separate lines that say so, each
 with its confidence where it is not certain; where all connections are known so, a line at the
end says it once. What is not known is said with the reason; a list that is too long ends with how
many more there are. Of callers in tests only the number is given.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from asterism.reply.marks import CALLABLE, IN_RESULTS, SHARED, Marks, Shared, told_of, used_by
from asterism.types.deadlines import check_deadline
from asterism.types.files import display_name, display_path
from asterism.types.search import Detail, Lines
from asterism.types.structure import (
    Connections,
    Edge,
    Fact,
    Gap,
    Known,
    Member,
    SymbolPlace,
    TypeFlow,
)

LONGEST_LINE = 120
"""Characters of a signature in the line of a weak result."""
# From so many connections on, how all of them are known is said once.
ALL_FROM = 3

_LABELS = {
    Fact.signature: "Signature",
    Fact.extends: "Extends",
    Fact.implements: "Implements",
    Fact.subtypes: "Subtypes",
    Fact.calls: "Calls",
    Fact.callers: "Called by",
    Fact.references: "refs",
    Fact.types_in: "Types in",
    Fact.types_out: "Types out",
    Fact.members: "Members",
    Fact.value: "Value",
}
_TOLD = (Detail.full, Detail.collapsed)
_SIGNED = (Detail.lines, Detail.signature)
_LEGEND = {IN_RESULTS: "in results", SHARED: "shared across 2+ results"}
_SHOWN = {Detail.collapsed: "without the code of its members"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOptions:
    """How much a graph says."""

    max_listed: int = 8
    """Names in one list; a hub with hundreds of callers would fill the budget by itself."""
    max_weak: int = 3
    """Names in one list of a weak result."""
    max_members: int = 12
    """Names in a list of members."""
    max_query: int = 120
    """Characters of the query that are repeated in the first line."""
    is_test: Callable[[str], bool] = lambda _path: False
    """Whether a path is that of a test file."""


class GraphEntry(NamedTuple):
    """One result: what is known of it, how much of it is shown, and where it stands."""

    connections: Connections
    detail: Detail = Detail.full
    lines: Lines | None = None
    """Its first and last line."""
    score: float | None = None
    """None for one that was not ranked."""
    overloads: tuple[int, ...] = ()
    """The lines of all its declarations, where it has several."""
    matches: tuple[tuple[int, str], ...] = ()
    """Its lines that say what the query asks for, with their numbers; shown at `lines`."""
    is_weak: bool = False
    """Whether it is far behind the best: of its connections few are shown."""


class Numbers(NamedTuple):
    """What the first line says beside the question."""

    used: int
    budget: int


_DEFAULT = GraphOptions()


def first_line(
    query: str, entries: Sequence[GraphEntry], numbers: Numbers, options: GraphOptions = _DEFAULT
) -> str:
    """The question, how many results there are, and what the reply costs."""
    asked = " ".join(query.split())
    if len(asked) > options.max_query:
        asked = asked[: options.max_query - 1] + "…"
    files = len({entry.connections.symbol.path for entry in entries})
    found = f"{_count(len(entries), 'result')} across {_count(files, 'file')}"
    return f'Search: "{asked}" | {found} | {numbers.used:,}/{numbers.budget:,} tokens'


def graph_body(entries: Sequence[GraphEntry], options: GraphOptions = _DEFAULT) -> str:
    """What follows the first line: the entries, the legend, what several results share."""
    results = [entry.connections for entry in entries]
    shown = (entry for entry in entries if entry.detail in _TOLD and not entry.is_weak)
    told = [entry.connections for entry in shown]
    overloads = (
        entry.connections.symbol._replace(line=line)
        for entry in entries
        for line in entry.overloads
    )
    marks = Marks(results, told, overloads)
    entries = [
        entry._replace(connections=told_of(entry.connections, marks, entry.is_weak))
        for entry in entries
    ]
    numbered = [(at, one.connections) for at, one in enumerate(entries, 1) if one.detail in _TOLD]
    remarks = _Remarks(numbered)
    lines = _Lines(marks, remarks, options)
    blocks = [""]
    for number, entry in enumerate(entries, 1):
        check_deadline()
        title = display_name(entry.connections.symbol.name)
        heading = f"[{number}] {title}" if len(entries) > 1 else title
        blocks.append("\n".join([heading, *(f" {line}" for line in lines.of(entry))]))
    legend = [f"{mark} = {meaning}" for mark, meaning in _LEGEND.items() if mark in lines.seen]
    closing = ["  ".join(legend)] if legend else []
    closing.extend(remarks.once())
    if closing:
        blocks.append("\n".join(closing))
    shared = marks.shared()
    if shared:
        blocks.append("\n".join(_shared(shared, len(results), options.max_listed)))
    return "\n\n".join(blocks)


class _Remarks:
    """Remarks that apply to several results, which are said once behind them."""

    def __init__(self, told: Sequence[tuple[int, Connections]]) -> None:
        """`told` are the results whose connections are shown, with their numbers."""
        self._told = len(told)
        self._numbers: dict[Gap, list[int]] = {}
        """By what is not known, the numbers of the results."""
        for number, known in told:
            for gap in known.gaps:
                self._numbers.setdefault(gap, []).append(number)
        edges = [edge for _number, known in told for edge in _all_edges(known)]
        self.confidence: float | None = None
        self.by_name = len(edges) >= ALL_FROM and all(edge.known is Known.by_name for edge in edges)
        if self.by_name:
            ((self.confidence, _count),) = Counter(edge.confidence for edge in edges).most_common(1)

    def is_said_once(self, gap: Gap) -> bool:
        """Whether something is not known of several results."""
        return len(self._numbers[gap]) > 1

    def once(self) -> Iterator[str]:
        """The remarks, a line each."""
        if self.by_name:
            sure = self.confidence if self.confidence is not None else 1.0
            how = f" with confidence {sure:.2g} where none is given" if sure < 1 else ""
            yield f"All connections are known by name{how}."
        for gap, numbers in self._numbers.items():
            if len(numbers) > 1:
                of = ", ".join(f"[{number}]" for number in numbers)
                results = "any result" if len(numbers) == self._told else of
                yield f"Not known of {results}: {_facts(gap)} ({gap.why})"


def _all_edges(result: Connections) -> Iterator[Edge]:
    yield from used_by(result)
    yield from result.subtypes
    yield from result.callers


def _shared(shared: Sequence[Shared], total: int, most: int) -> Iterator[str]:
    yield "Shared dependencies not in results:"
    for symbol, users in shared[:most]:
        kind = f"{symbol.kind}, " if symbol.kind else ""
        yield f" {display_name(symbol.name)}{_place(symbol)}: {kind}used by {users}/{total} results"
    if len(shared) > most:
        yield f" and {len(shared) - most:,} more"


class _Lines:
    """The lines of entries, and which marks they contain."""

    def __init__(self, marks: Marks, remarks: _Remarks, options: GraphOptions) -> None:
        self._marks = marks
        self._remarks = remarks
        self._options = options
        self._home: str | None = None
        self._limit = options.max_listed
        self.seen: set[str] = set()

    def of(self, entry: GraphEntry) -> Iterator[str]:
        """What is known of a result; only its place if that is its level of detail."""
        known = entry.connections
        self._home = known.symbol.path
        self._limit = self._options.max_weak if entry.is_weak else self._options.max_listed
        yield _place_line(entry)
        if entry.detail not in _TOLD:
            matches = entry.matches if entry.detail is Detail.lines else ()
            yield from (f"{number}: {text}" for number, text in matches)
            return
        if known.references is not None and not _is_gap(known, Fact.references):
            yield f"refs: {_count(len(known.references), 'other file')}"
        if known.type or known.value:
            yield _type_line(known)
        yield from self._edges(Fact.extends, known.extends)
        yield from self._edges(Fact.implements, known.implements)
        yield from self._edges(Fact.subtypes, known.subtypes)
        yield from self._edges(Fact.calls, known.calls)
        yield from self._callers(known)
        yield from self._flows(known)
        if known.members and entry.detail is Detail.collapsed:
            names = [self._member(known.symbol, member) for member in known.members]
            yield f"Members: {_listed(names, self._options.max_members)}"
        for gap in known.gaps:
            if not self._remarks.is_said_once(gap):
                yield f"Not known: {_facts(gap)} ({gap.why})"
        if entry.detail in _SHOWN:
            yield f"Shown: {_SHOWN[entry.detail]}"

    def _edges(self, fact: Fact, edges: Sequence[Edge], more: str = "") -> Iterator[str]:
        label = _LABELS[fact]
        resolved = [self._edge(edge) for edge in edges if edge.known is Known.resolved]
        by_name = [self._edge(edge) for edge in edges if edge.known is Known.by_name]
        how = "" if self._remarks.by_name else " (by name)"
        if resolved:
            yield f"{label}: {self._list(resolved)}{more}"
            more = ""
        if by_name:
            yield f"{label}{how}: {self._list(by_name)}{more}"

    def _callers(self, known: Connections) -> Iterator[str]:
        """Callers in the code itself, results among them, and the number of those in tests."""
        is_test = self._options.is_test
        named: list[Edge] = []
        tests: list[Edge] = []
        for edge in known.callers:
            path = edge.target.path
            in_test = path is not None and is_test(path) and not self._marks.of_edge(edge)
            (tests if in_test else named).append(edge)
        files = len({edge.target.path for edge in tests})
        count = f"{len(tests):,} in {_count(files, 'test file')}" if tests else ""
        if named:
            yield from self._edges(Fact.callers, named, f" and {count}" if count else "")
        elif count:
            yield f"Called by: {count}"
        elif known.kind in CALLABLE and not _is_gap(known, Fact.callers):
            yield "Called by: none"

    def _flows(self, known: Connections) -> Iterator[str]:
        parts = []
        for fact, flows in ((Fact.types_in, known.types_in), (Fact.types_out, known.types_out)):
            known_flows = [self._flow(flow) for flow in flows]
            if known_flows:
                parts.append(f"{_LABELS[fact]}: {self._list(known_flows)}")
        if parts:
            yield " | ".join(parts)

    def _flow(self, flow: TypeFlow) -> str:
        head = f"{flow.name}: " if flow.name else ""
        says_how = not self._remarks.by_name
        if len(flow.origins) == 1 and flow.origins[0].target.name == flow.type:
            return head + self._edge(flow.origins[0], says_how)
        origins = ", ".join(self._edge(edge, says_how) for edge in flow.origins)
        return f"{head}{flow.type}" + (f" [{origins}]" if origins else "")

    def _edge(self, edge: Edge, says_how: bool = False) -> str:
        mark = self._marks.of_edge(edge)
        self.seen.update(mark)
        notes = [] if mark else [note for note in (self._elsewhere(edge.target),) if note]
        if edge.known is Known.by_name and edge.confidence != self._remarks.confidence:
            sure = f"{edge.confidence:.2g}" if edge.confidence < 1 else ""
            how = f"by name {sure}".strip() if says_how else sure
            notes.extend([how] if how else [])
        # What a file calls at its top is called by the file, and files may have any name.
        name = display_name(edge.target.name)
        return _marked(name, mark) + (f" ({', '.join(notes)})" if notes else "")

    def _elsewhere(self, symbol: SymbolPlace) -> str | None:
        """Where a symbol is declared, if not in the file of the result."""
        return None if symbol.path == self._home and symbol.path is not None else _home(symbol)

    def _member(self, owner: SymbolPlace, member: Member) -> str:
        place = SymbolPlace(f"{owner.name}.{member.name}", owner.path, member.line)
        shown = f"{member.name}()" if member.kind in CALLABLE else member.name
        return _marked(shown, self._mark(place))

    def _mark(self, symbol: SymbolPlace) -> str:
        mark = self._marks.of(symbol)
        self.seen.update(mark)
        return mark

    def _list(self, names: Sequence[str]) -> str:
        return _listed(names, self._limit)


def _listed(names: Sequence[str], limit: int) -> str:
    """The names with commas between; of too many the marked and the first ones."""
    if len(names) <= limit:
        return ", ".join(names)
    marked = [at for at, name in enumerate(names) if IN_RESULTS in name or SHARED in name]
    others = [at for at in range(len(names)) if at not in set(marked)]
    chosen = sorted([*marked, *others][: max(limit, len(marked))])
    listed = ", ".join(names[at] for at in chosen)
    left = len(names) - len(chosen)
    return f"{listed} and {left} more" if left else listed


def _place_line(entry: GraphEntry) -> str:
    """`file_path:start-end · kind · score 0.87`; the signature behind it where that is all."""
    known = entry.connections
    parts = [_location(known.symbol, entry.lines), known.kind]
    if entry.score is not None:
        parts.append(f"score {entry.score:.2f}")
    if entry.detail in _SIGNED and known.signature:
        parts.append(_shortened(known.signature))
    return " · ".join(parts)


def _shortened(signature: str) -> str:
    one_line = " ".join(signature.split())
    return one_line if len(one_line) <= LONGEST_LINE else one_line[: LONGEST_LINE - 1] + "…"


def _facts(gap: Gap) -> str:
    return ", ".join(_LABELS[fact] for fact in gap.facts)


def _type_line(known: Connections) -> str:
    if known.type is None:
        return f"Value: {known.value}"
    return f"Type: {known.type}" + (f" (value: {known.value})" if known.value else "")


def _location(symbol: SymbolPlace, lines: Lines | None) -> str:
    home = _home(symbol) or "outside of the repository"
    if lines is None:
        return home if symbol.line is None else f"{home}:{symbol.line}"
    return f"{home}:{lines.first}" + (f"-{lines.last}" if lines.last > lines.first else "")


def _is_gap(known: Connections, fact: Fact) -> bool:
    return any(fact in gap.facts for gap in known.gaps)


def _place(symbol: SymbolPlace) -> str:
    where = _home(symbol)
    return f" ({where})" if where else ""


def _home(symbol: SymbolPlace) -> str | None:
    """Where a symbol is declared, on one line: its file, or its module outside."""
    return symbol.module if symbol.path is None else display_path(symbol.path)


def _marked(name: str, mark: str) -> str:
    return f"{name} {mark}" if mark else name


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")
