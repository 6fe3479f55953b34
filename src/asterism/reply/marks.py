"""What a connection graph shows of results, and marks: which are results, which several use."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from asterism.types.structure import Connections, Edge, Fact, Gap, Known, SymbolPlace, TypeFlow

CALLABLE = frozenset({"function", "method", "constructor"})
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
                if self._is_named(edge) or edge.target.path is None:
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


def told_of(known: Connections, marks: Marks, is_weak: bool) -> Connections:
    """The connections of a result that its code does not show.

    Calls of libraries, and types that the file itself or a library declares, are read in the code,
    Of a weak result only its callers count, and
    which other results it calls.
    """
    calls = tuple(edge for edge in known.calls if edge.target.path is not None)
    if is_weak:
        return Connections(
            symbol=known.symbol,
            kind=known.kind,
            signature=known.signature,
            calls=tuple(edge for edge in calls if marks.of_edge(edge) == IN_RESULTS),
            callers=known.callers,
            gaps=_gaps(known, {*Fact} - {Fact.callers}),
        )
    is_called = known.kind in CALLABLE
    return replace(
        known,
        calls=calls,
        types_in=_from_elsewhere(known.types_in, known.symbol.path),
        types_out=_from_elsewhere(known.types_out, known.symbol.path),
        references=None if is_called else known.references,
        gaps=_gaps(known, {Fact.references} if is_called else set()),
    )


def _gaps(known: Connections, untold: set[Fact]) -> tuple[Gap, ...]:
    facts = ((tuple(fact for fact in gap.facts if fact not in untold), gap) for gap in known.gaps)
    return tuple(gap._replace(facts=left) for left, gap in facts if left)


def _from_elsewhere(flows: Sequence[TypeFlow], home: str | None) -> tuple[TypeFlow, ...]:
    return tuple(
        flow for flow in flows if any(edge.target.path not in (None, home) for edge in flow.origins)
    )
