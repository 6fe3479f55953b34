"""The connection graph: how the results relate to each other and to the rest, as plain text.

The first line has the real numbers. Each result follows with what is known of it. `★` marks a
symbol that is among the results, `◆` one that two or more results use and that is not among them.
Connections that are known by name only are in separate lines that say so, each with its
confidence where it is not certain. What is not known is said with the reason; a list that is too
long ends with how many more there are.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from asterism.types.deadlines import check_deadline
from asterism.types.files import display_path
from asterism.types.search import Detail
from asterism.types.structure import Connections, Edge, Fact, Known, Member, SymbolPlace, TypeFlow

IN_RESULTS = "★"
SHARED = "◆"

# A symbol that one result uses is not shared.
SHARED_FROM = 2


class SymbolIdentity(NamedTuple):
    """What makes two mentions the same symbol: where it is declared, or its module outside."""

    home: str | None
    name: str
    line: int | None


class Shared(NamedTuple):
    """A symbol outside of the results that two or more of them use."""

    symbol: SymbolPlace
    users: int


class Marks:
    """The marks of one graph.

    A result uses what it calls, extends and implements, and the types that go in and come out.
    Who calls a result or derives from it is not used by it.

    Names do not tell overloads apart: a connection that is known by name leads to a result if it
    leads to any declaration of that name and kind in its file.
    """

    def __init__(
        self,
        results: Sequence[Connections],
        users: Sequence[Connections],
        overloads: Iterable[SymbolPlace] = (),
    ) -> None:
        """`users` are the results whose connections are shown; each `◆` is seen to be used.

        `overloads` are further declarations of results.
        """
        self._results = {identity(result.symbol) for result in results}
        # A mention without a line is the result of that name, unless there are two.
        names = [(key.home, key.name) for key in self._results]
        self._unlined = {name for name in names if names.count(name) == 1}
        self._results |= {identity(place) for place in overloads}
        self._kinds = {_kind_of(result.symbol) for result in results}
        self._users: dict[SymbolIdentity, set[int]] = {}
        self._symbols: dict[SymbolIdentity, SymbolPlace] = {}
        for number, result in enumerate(users):
            for edge in used_by(result):
                if self._is_named(edge):
                    continue
                key = identity(edge.target)
                self._users.setdefault(key, set()).add(number)
                self._symbols.setdefault(key, edge.target)

    def of(self, symbol: SymbolPlace) -> str:
        """The mark of a symbol, or nothing."""
        key = identity(symbol)
        if self._is_result(key):
            return IN_RESULTS
        return SHARED if len(self._users.get(key, ())) >= SHARED_FROM else ""

    def of_edge(self, edge: Edge) -> str:
        """The mark of what a connection leads to, or nothing."""
        return IN_RESULTS if self._is_named(edge) else self.of(edge.target)

    def _is_named(self, edge: Edge) -> bool:
        is_by_name = edge.known is Known.by_name and edge.target.path is not None
        return is_by_name and _kind_of(edge.target) in self._kinds

    def shared(self) -> list[Shared]:
        """What two or more results use and is not among them, the most used first."""
        found = [
            Shared(self._symbols[key], len(users))
            for key, users in self._users.items()
            if len(users) >= SHARED_FROM and not self._is_result(key)
        ]
        return sorted(found, key=lambda entry: -entry.users)

    def _is_result(self, key: SymbolIdentity) -> bool:
        if key in self._results:
            return True
        return key.line is None and (key.home, key.name) in self._unlined


def _kind_of(symbol: SymbolPlace) -> tuple[str | None, str, str | None]:
    return symbol.path, symbol.name, symbol.kind


def identity(symbol: SymbolPlace) -> SymbolIdentity:
    """Path, name and line in the repository; module and name outside."""
    if symbol.path is not None:
        return SymbolIdentity(symbol.path, symbol.name, symbol.line)
    return SymbolIdentity(f"\0{symbol.module}" if symbol.module else None, symbol.name, None)


def used_by(result: Connections) -> Iterator[Edge]:
    """Everything a result refers to."""
    yield from result.extends
    yield from result.implements
    yield from result.calls
    for flow in (*result.types_in, *result.types_out):
        yield from flow.origins


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
_CALLABLE = frozenset({"function", "method", "constructor"})
_LEGEND = {IN_RESULTS: "in results", SHARED: "shared across 2+ results"}
_SHOWN = {
    Detail.collapsed: "without the code of its members",
    Detail.signature: "signature only",
    Detail.location: "name and location only",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOptions:
    """How much a graph says."""

    max_listed: int = 12
    """Names in one list; a hub with hundreds of callers would fill the budget by itself."""
    max_query: int = 200
    """Characters of the question that are repeated in the first line."""


class GraphEntry(NamedTuple):
    """One result: what is known of it, how much of it is shown, and where it stands."""

    connections: Connections
    detail: Detail = Detail.full
    last_line: int | None = None
    """The last line of its declaration, for those of which only the location is given."""
    overloads: tuple[int, ...] = ()
    """The lines of all its declarations, where it has several."""


class Numbers(NamedTuple):
    """What the first line says beside the question."""

    used: int
    budget: int


_DEFAULT = GraphOptions()


def graph(
    query: str, entries: Sequence[GraphEntry], numbers: Numbers, options: GraphOptions = _DEFAULT
) -> str:
    """The text of a connection graph."""
    return first_line(query, entries, numbers, options) + graph_body(entries, options)


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
    told = [entry.connections for entry in entries if entry.detail is not Detail.location]
    overloads = (
        entry.connections.symbol._replace(line=line)
        for entry in entries
        for line in entry.overloads
    )
    marks = Marks(results, told, overloads)
    lines = _Lines(marks, options)
    blocks = [""]
    for number, entry in enumerate(entries, 1):
        check_deadline()
        title = display_path(entry.connections.symbol.name)
        heading = f"[{number}] {title}" if len(entries) > 1 else title
        blocks.append("\n".join([heading, *(f" {line}" for line in lines.of(entry))]))
    legend = [f"{mark} = {meaning}" for mark, meaning in _LEGEND.items() if mark in lines.seen]
    if legend:
        blocks.append("  ".join(legend))
    shared = marks.shared()
    if shared:
        blocks.append("\n".join(_shared(shared, len(results))))
    return "\n\n".join(blocks)


def _shared(shared: Sequence[Shared], total: int) -> Iterator[str]:
    yield "Shared dependencies not in results:"
    for symbol, users in shared:
        kind = f"{symbol.kind}, " if symbol.kind else ""
        yield f" {display_path(symbol.name)}{_place(symbol)}: {kind}used by {users}/{total} results"


class _Lines:
    """The lines of entries, and which marks they contain."""

    def __init__(self, marks: Marks, options: GraphOptions) -> None:
        self._marks = marks
        self._limit = options.max_listed
        self.seen: set[str] = set()

    def of(self, entry: GraphEntry) -> Iterator[str]:
        known = entry.connections
        if entry.detail is Detail.location:
            yield _location(known.symbol, entry.last_line)
            return
        yield _home(known.symbol) or "outside of the repository"
        yield _kind_line(known)
        if known.signature:
            yield f"Signature: {known.signature}"
        if known.type or known.value:
            yield _type_line(known)
        yield from self._edges(Fact.extends, known.extends)
        yield from self._edges(Fact.implements, known.implements)
        yield from self._edges(Fact.subtypes, known.subtypes)
        yield from self._edges(Fact.calls, known.calls)
        yield from self._edges(Fact.callers, known.callers)
        if not known.callers and known.kind in _CALLABLE and not _is_gap(known, Fact.callers):
            yield "Called by: none"
        yield from self._flows(known)
        if known.members:
            names = [self._member(known.symbol, member) for member in known.members]
            yield f"Members: {self._list(names)}"
        for gap in known.gaps:
            yield f"Not known: {', '.join(_LABELS[fact] for fact in gap.facts)} ({gap.why})"
        if entry.detail in _SHOWN:
            yield f"Shown: {_SHOWN[entry.detail]}"

    def _edges(self, fact: Fact, edges: Sequence[Edge]) -> Iterator[str]:
        label = _LABELS[fact]
        resolved = [self._edge(edge) for edge in edges if edge.known is Known.resolved]
        if resolved:
            yield f"{label}: {self._list(resolved)}"
        by_name = [self._edge(edge) for edge in edges if edge.known is Known.by_name]
        if by_name:
            yield f"{label} (by name): {self._list(by_name)}"

    def _flows(self, known: Connections) -> Iterator[str]:
        parts = []
        for fact, flows in ((Fact.types_in, known.types_in), (Fact.types_out, known.types_out)):
            if flows:
                parts.append(f"{_LABELS[fact]}: {self._list([self._flow(flow) for flow in flows])}")
        if parts:
            yield " | ".join(parts)

    def _flow(self, flow: TypeFlow) -> str:
        head = f"{flow.name}: " if flow.name else ""
        if len(flow.origins) == 1 and flow.origins[0].target.name == flow.type:
            return head + self._edge(flow.origins[0], says_how=True)
        origins = ", ".join(self._edge(edge, says_how=True) for edge in flow.origins)
        return f"{head}{flow.type}" + (f" [{origins}]" if origins else "")

    def _edge(self, edge: Edge, says_how: bool = False) -> str:
        mark = self._marks.of_edge(edge)
        self.seen.update(mark)
        notes = [] if mark else [note for note in (_home(edge.target),) if note]
        if edge.known is Known.by_name:
            sure = f"{edge.confidence:.2g}" if edge.confidence < 1 else ""
            how = f"by name {sure}".strip() if says_how else sure
            notes.extend([how] if how else [])
        # What a file calls at its top is called by the file, and files may have any name.
        name = display_path(edge.target.name)
        return _marked(name, mark) + (f" ({', '.join(notes)})" if notes else "")

    def _member(self, owner: SymbolPlace, member: Member) -> str:
        place = SymbolPlace(f"{owner.name}.{member.name}", owner.path, member.line)
        shown = f"{member.name}()" if member.kind in _CALLABLE else member.name
        return _marked(shown, self._mark(place))

    def _mark(self, symbol: SymbolPlace) -> str:
        mark = self._marks.of(symbol)
        self.seen.update(mark)
        return mark

    def _list(self, names: Sequence[str]) -> str:
        """The names with commas between; of too many the marked and the first ones."""
        if len(names) <= self._limit:
            return ", ".join(names)
        marked = [at for at, name in enumerate(names) if IN_RESULTS in name or SHARED in name]
        others = [at for at in range(len(names)) if at not in set(marked)]
        chosen = sorted([*marked, *others][: max(self._limit, len(marked))])
        listed = ", ".join(names[at] for at in chosen)
        left = len(names) - len(chosen)
        return f"{listed} and {left} more" if left else listed


def _kind_line(known: Connections) -> str:
    parts = [known.kind]
    said = {known.kind, "export", "exported"}
    modifiers = " ".join(word for word in known.modifiers if word not in said)
    if modifiers:
        parts.append(modifiers)
    if known.is_exported:
        parts.append("exported")
    if known.references or (known.references == () and not _is_gap(known, Fact.references)):
        parts.append(f"refs: {_count(len(known.references), 'file')}")
    return " | ".join(parts)


def _type_line(known: Connections) -> str:
    if known.type is None:
        return f"Value: {known.value}"
    return f"Type: {known.type}" + (f" (value: {known.value})" if known.value else "")


def _location(symbol: SymbolPlace, last_line: int | None) -> str:
    lines = "" if symbol.line is None else f":{symbol.line}"
    if lines and last_line is not None and last_line != symbol.line:
        lines += f"-{last_line}"
    return f"{_home(symbol) or 'outside of the repository'}{lines}"


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
