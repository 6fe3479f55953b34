"""What names mean and who uses them, as a language server says, over the outlines of files."""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote

from asterism.analysis.resolve.candidates import Declaration, Meaning
from asterism.analysis.resolve.receivers import bases_of
from asterism.analysis.resolve.scopes import CONTAINERS, FileScope
from asterism.languages.registry import facets_of
from asterism.lsp.connection import to_path
from asterism.structure.positions import Enclosing
from asterism.structure.servers.session import ServerSession
from asterism.structure.shapes import NAMELESS
from asterism.structure.uses import OF_USES, Use, Uses
from asterism.types.errors import ServerRefused
from asterism.types.outline import Reference
from asterism.types.structure import Fact, Gap, Known


def module_of(uri: str, language: str) -> str | None:
    """The package or the header of a file, as far as its address tells."""
    place = unquote(uri)
    facets = facets_of(language)
    for pattern in facets.outside_packages:
        if found := re.search(pattern, place):
            return found.group(1)
    return place.rpartition("/")[2] or None if facets.outside_headers else None


def offset_at(scope: FileScope, line: int, character: int) -> int:
    """The byte at a line and a UTF-16 column, both from 0; the end for what is beyond it."""
    if line >= len(scope.line_starts):
        return len(scope.source)
    start, text = _line(scope, line)
    if text.isascii():
        return start + min(character, len(text))
    units = text.decode("utf-8", "replace").encode("utf-16-le", "surrogatepass")
    before = units[: 2 * character].decode("utf-16-le", "replace")
    return start + min(len(before.encode("utf-8", "replace")), len(text))


def position_of(scope: FileScope, offset: int) -> tuple[int, int]:
    """The line and the UTF-16 column of a byte, both from 0."""
    line = scope.source.count(b"\n", 0, offset)
    start, _ = _line(scope, line)
    before = scope.source[start:offset]
    if before.isascii():
        return line, len(before)
    return line, len(before.decode("utf-8", "replace").encode("utf-16-le")) // 2


def _line(scope: FileScope, line: int) -> tuple[int, bytes]:
    start = scope.line_starts[line]
    is_last = line + 1 == len(scope.line_starts)
    return start, scope.source[
        start : len(scope.source) if is_last else scope.line_starts[line + 1]
    ]


_SURE = 1.0
_WORD = re.compile(rb"\w+")
_FACTS: Mapping[str, tuple[Fact, ...]] = {
    "definition": (Fact.calls, Fact.extends, Fact.types_in, Fact.types_out),
    "references": OF_USES,
    "implementation": (Fact.implements, Fact.subtypes),
}
_Base: TypeAlias = tuple[Meaning | None, Reference, bool]


class Spot(NamedTuple):
    """A place in a file of the repository."""

    scope: FileScope
    offset: int

    @property
    def named(self) -> int | None:
        """The symbol whose name begins here."""
        items = self.scope.outline.items
        found = self.scope.by_name.get(self.word, ())
        return next((n for n in found if items[n].name_offset == self.offset), None)

    @property
    def word(self) -> str:
        """The name that stands here."""
        found = _WORD.match(self.scope.source, self.offset)
        return found.group().decode("utf-8", "replace") if found else ""

    @property
    def line(self) -> int:
        """The line, from 1."""
        return 1 + self.scope.source.count(b"\n", 0, self.offset)


class ServerSense:
    """One moment of a repository, asked of a server; what it was asked once is kept."""

    known = Known.resolved

    def __init__(self, session: ServerSession, seconds: float) -> None:
        """`seconds` is how long all questions together may take."""
        self._session = session
        self._end = time.monotonic() + seconds
        self._seconds = seconds
        self._meanings: dict[tuple[str, int], Meaning | None] = {}
        self._enclosing: dict[str, Enclosing] = {}
        self._at: dict[str, dict[tuple[int, int], Reference]] = {}
        self.gaps: dict[Gap, None] = {}
        """What could not be asked, in order."""
        self.refusal: str | None = None
        """Why the server says nothing of who uses a symbol, nor of anything else then."""
        self.unknown: dict[str, None] = {}
        """Names of which the server knows nothing."""

    @property
    def limits(self) -> str:
        """What the server cannot see in this repository; nothing where it sees all."""
        return self._session.limits

    def forget(self) -> None:
        """Begin with another symbol: gaps are of one."""
        self.gaps, self.unknown, self.refusal = {}, {}, None

    def scope(self, path: str) -> FileScope | None:
        """A file as it is now."""
        return self._session.scope(path)

    def resolve(self, scope: FileScope, reference: Reference) -> Meaning | None:
        """What a name means where it stands; None for what is local or not known."""
        if reference.local:
            return None
        offset = scope.offset(reference.line, reference.column)
        key = (scope.path, offset)
        if key not in self._meanings:
            self._meanings[key] = self._resolve(Spot(scope, offset), reference)
        return self._meanings[key]

    def bases(self, declaration: Declaration) -> list[_Base]:
        """What a type extends and implements, as its header says."""
        scope = self.scope(declaration.path)
        if scope is None:
            return []
        return [
            (self.resolve(scope, base.reference), base.reference, base.implements)
            for base in bases_of(scope, declaration.number)
        ]

    def uses(self, declaration: Declaration) -> Uses:
        """Who uses a symbol; a file that only imports it is among the importers."""
        scope = self.scope(declaration.path)
        item = scope.outline.items[declaration.number] if scope else None
        if scope is None or item is None or item.name.endswith(NAMELESS):
            return Uses()
        spot = Spot(scope, item.name_offset)
        uses: dict[tuple[str, int], Use] = {}
        importers: dict[str, None] = {}
        for found in self._locations("references", spot, context={"includeDeclaration": False}):
            if found.named is not None:
                continue
            if _is_import(found):
                importers[found.scope.path] = None
                continue
            use = Use(found.scope, self._reference(found), Meaning(declaration, _SURE))
            uses[found.scope.path, found.offset] = use
        if not uses and not importers and not self._ask("definition", spot):
            # What it knows has a definition at least: its own.
            self.refusal = self.refusal or "the language server does not know this symbol"
        ordered = tuple(uses[key] for key in sorted(uses))
        return Uses(ordered, tuple(importers), tuple(g for g in self.gaps if g.facts == OF_USES))

    def implementations(self, declaration: Declaration) -> Iterator[Declaration]:
        """Types that implement this one, or that it implements, as the server has it."""
        scope = self.scope(declaration.path)
        if scope is None or not self._session.offers("implementationProvider"):
            return
        spot = Spot(scope, scope.outline.items[declaration.number].name_offset)
        for found in self._locations("implementation", spot):
            number = found.named if found.named is not None else self._around(found)
            if number is not None and Declaration(found.scope.path, number) != declaration:
                yield Declaration(found.scope.path, number)

    def outgoing(self, declaration: Declaration) -> Iterator[tuple[Meaning, str, Spot]]:
        """Calls that the server knows of, with the name and the place of each."""
        scope = self.scope(declaration.path)
        if scope is None or not self._session.offers("callHierarchyProvider"):
            return
        spot = Spot(scope, scope.outline.items[declaration.number].name_offset)
        for item in self._ask("prepareCallHierarchy", spot):
            for call in self._request("callHierarchy/outgoingCalls", {"item": item}):
                there = {"uri": call["to"]["uri"], "range": call["to"]["selectionRange"]}
                meaning = self._meaning([there], scope.language)
                for place in call["fromRanges"] if meaning else ():
                    start = place["start"]
                    at = offset_at(scope, start["line"], start["character"])
                    if meaning is not None:
                        yield meaning, str(call["to"]["name"]), Spot(scope, at)

    def _resolve(self, spot: Spot, reference: Reference) -> Meaning | None:
        found = self._ask("definition", spot)
        if not found:
            self.unknown[reference.name] = None
            return None
        meaning = self._meaning(found, spot.scope.language)
        if meaning is None or meaning.declaration is None:
            return meaning
        return meaning._replace(declaration=self._made(meaning.declaration, reference.name))

    def _made(self, declaration: Declaration, name: str) -> Declaration:
        """A type, where its constructor is called by the type's name."""
        scope = self.scope(declaration.path)
        item = scope.outline.items[declaration.number] if scope else None
        if scope is None or item is None or item.name != name or len(item.path) < 2:
            return declaration
        if item.path[-2] != name:
            return declaration
        owners = scope.by_path.get(item.path[:-1], ())
        types = (n for n in owners if scope.outline.items[n].kind in CONTAINERS)
        return Declaration(declaration.path, next(types, declaration.number))

    def _meaning(self, locations: Sequence[Any], language: str) -> Meaning | None:
        """What is declared at the first place that says something."""
        foreign: Meaning | None = None
        for location in locations:
            spot = self._spot(location)
            if spot is None:
                foreign = foreign or Meaning(None, _SURE, module_of(location["uri"], language))
            elif spot.named is not None:
                return Meaning(Declaration(spot.scope.path, spot.named), _SURE)
        return foreign

    def _spot(self, location: Any) -> Spot | None:
        """A place in a file of the repository; None for others."""
        path = to_path(location["uri"])
        own = self._session.own(path) if path else None
        scope = self.scope(own) if own is not None else None
        if scope is None:
            return None
        start = location["range"]["start"]
        return Spot(scope, offset_at(scope, start["line"], start["character"]))

    def _locations(self, method: str, spot: Spot, **more: Any) -> Iterator[Spot]:
        for location in self._ask(method, spot, **more):
            found = self._spot(location)
            if found is not None:
                yield found

    def _reference(self, spot: Spot) -> Reference:
        """The use of a name at a place, also one that the outline has not, as inside a macro."""
        path = spot.scope.path
        if path not in self._at:
            known = spot.scope.outline.references
            self._at[path] = {(reference.line, reference.column): reference for reference in known}
        line = spot.line
        column = spot.offset - spot.scope.offset(line, 0)
        made = Reference(spot.word, line, column, None, self._around(spot), local=False)
        return self._at[path].get((line, column), made)

    def _around(self, spot: Spot) -> int | None:
        path = spot.scope.path
        if path not in self._enclosing:
            self._enclosing[path] = Enclosing(spot.scope.outline.items)
        return self._enclosing[path].at(spot.offset)

    def _ask(self, method: str, spot: Spot, **more: Any) -> list[Any]:
        """The answers about a place, as a list."""
        self._session.show(spot.scope)
        line, column = position_of(spot.scope, spot.offset)
        place = {"line": line, "character": column}
        document = {"uri": self._session.uri(spot.scope.path)}
        params = {"textDocument": document, "position": place, **more}
        return self._request(f"textDocument/{method}", params)

    def _request(self, method: str, params: Any) -> list[Any]:
        kind = method.rpartition("/")[2]
        facts = _FACTS.get(kind, (Fact.calls,))
        if time.monotonic() > self._end:
            late = f"the language server took more than {self._seconds:g} seconds"
            self.gaps[Gap(facts, late)] = None
            return []
        try:
            answer = self._session.client.request(method, params)
        except ServerRefused as error:
            # Calls are found by definitions too, so a server without this is no less sure.
            if kind == "references":
                self.refusal = f"the language server refused: {error}"
            elif kind in _FACTS:
                self.gaps[Gap(facts, f"the language server refused: {error}")] = None
            return []
        if not answer:
            return []
        return answer if isinstance(answer, list) else [answer]


def _is_import(spot: Spot) -> bool:
    line = spot.line
    return any(one.start_line <= line <= one.end_line for one in spot.scope.outline.imports)
