"""Types in TypeScript: as written where written, inferred where not, and where they come from."""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from asterism.structure.typescript.places import LANGUAGE_MODULE, Places
from asterism.structure.typescript.session import Session, SourceFile, is_unresolved, to_symbol
from asterism.structure.typescript.tree import Kind, Tree
from asterism.types.structure import Edge, Known, SymbolPlace

# How sure an import alone makes us of what it names, no file declaring it.
IMPORT_CONFIDENCE = 0.9

# Types inside types that are followed to find what an inferred type is made of.
MOST_INNER_TYPES = 24

_UNION_OR_INTERSECTION = (1 << 27) | (1 << 28)
_ANY = 1
_REFERENCE = 1 << 2
_ANONYMOUS = 1 << 4
_FIRST_TYPE, _LAST_TYPE = 183, 206
# any, boolean, never, number, object, string, symbol, undefined, unknown, void, bigint
_TYPE_KEYWORDS = frozenset({132, 135, 146, 150, 151, 154, 155, 157, 159, 115, 163})
_FOREIGN = re.compile(r'(?:typeof )?import\("[^"]*"(?:, \{[^}]*\})?\)\.')
_SPACE = re.compile(r"\s+")


def is_type(kind: int) -> bool:
    """Whether a node of this kind is a type annotation."""
    return _FIRST_TYPE <= kind <= _LAST_TYPE or kind in _TYPE_KEYWORDS


def is_any(found: Any) -> bool:
    """Whether nothing is known of a type: `any`, written or for want of a declaration."""
    return bool(found["flags"] & _ANY)


def annotation_of(tree: Tree, declaration: int) -> int | None:
    """The type that a declaration is given, or that a function returns, where it is written."""
    for child in tree.children(declaration):
        if is_type(tree.kind(child)):
            return child
    return None


def one_line(text: str) -> str:
    """Text with every stretch of space as one blank."""
    return _SPACE.sub(" ", text).strip()


class Types:
    """Asks for types in one project of a session."""

    def __init__(self, session: Session, project: str, places: Places) -> None:
        self._session = session
        self._project = project
        self._places = places

    def at(self, handles: Sequence[str]) -> list[Any]:
        """The types of names or expressions, as the compiler answers."""
        if not handles:
            return []
        answer = self._session.ask(self._project, "getTypeAtLocations", locations=list(handles))
        return list(answer)

    def returned(self, handle: str) -> Any:
        """The type that a function returns."""
        signature = self._session.ask(self._project, "getSignatureFromDeclaration", location=handle)
        if not signature:
            return None
        return self._session.ask(
            self._project, "getReturnTypeOfSignature", signature=signature["id"]
        )

    def text(self, found: Any, location: str) -> str:
        """A type as one would write it at a place."""
        shown = self._session.ask(
            self._project, "typeToString", type=found["id"], location=location
        )
        return one_line(_FOREIGN.sub("", shown))

    def widened(self, found: Any) -> Any:
        """`number` for `3600`."""
        wide = self._session.ask(self._project, "getBaseTypeOfLiteralType", type=found["id"])
        return wide or found

    def written_origins(self, file: SourceFile, annotation: int) -> tuple[Edge, ...]:
        """Where the types that an annotation names are declared."""
        tree = file.tree
        names = [
            name
            for node in (annotation, *tree.below(annotation))
            if (name := _type_name(tree, node)) is not None
        ]
        symbols = self._session.symbols(self._project, [tree.handle(name) for name in names])
        return _edges(
            (place, not is_unresolved(symbol))
            for symbol in symbols
            if symbol is not None and (place := self._places.of_type(symbol)) is not None
        )

    def inferred_origins(self, found: Any) -> tuple[Edge, ...]:
        """Where the types that an inferred type is made of are declared."""
        places: list[tuple[SymbolPlace, bool]] = []
        pending = [found]
        seen: set[int] = set()
        while pending and len(seen) < MOST_INNER_TYPES:
            kind = pending.pop(0)
            if not kind or kind["id"] in seen:
                continue
            seen.add(kind["id"])
            alias = kind.get("aliasSymbol")
            if alias or kind.get("symbol"):
                method = "getAliasSymbolOfType" if alias else "getSymbolOfType"
                symbol = to_symbol(self._about(method, kind))
                is_named = symbol is not None and symbol.name[:2] != "__"
                place = self._places.of_type(symbol) if symbol and is_named else None
                if place is not None:
                    places.append((place, True))
            pending += self._parts(kind, bool(alias))
        return _edges(places)

    def _parts(self, kind: Any, is_alias: bool) -> list[Any]:
        if is_alias:
            wanted = "getAliasTypeArgumentsOfType" if kind.get("aliasTypeArguments") else None
            return self._about(wanted, kind) or [] if wanted else []
        if kind["flags"] & _UNION_OR_INTERSECTION:
            return self._about("getTypesOfType", kind) or []
        shape = kind.get("objectFlags") or 0
        if shape & _REFERENCE:
            return self._session.ask(self._project, "getTypeArguments", type=kind["id"]) or []
        if shape & _ANONYMOUS:
            return self._property_types(kind)
        return []

    def _property_types(self, kind: Any) -> list[Any]:
        """The types of what an object without a name has."""
        properties = self._session.ask(self._project, "getPropertiesOfType", type=kind["id"])
        numbers = [found["id"] for found in properties or ()][:MOST_INNER_TYPES]
        if not numbers:
            return []
        return self._session.ask(self._project, "getTypesOfSymbols", symbols=numbers) or []

    def _about(self, method: str, kind: Any) -> Any:
        return self._session.ask(self._project, method, objectId=kind["id"])


def _type_name(tree: Tree, node: int) -> int | None:
    """The name in a reference to a type, its last part where it has several."""
    if tree.kind(node) in (Kind.type_reference, Kind.type_query):
        name = tree.first_child(node)
        if name is not None and tree.kind(name) == Kind.qualified_name:
            return tree.last_child(name)
        return name if name is not None and tree.kind(name) == Kind.identifier else None
    if tree.kind(node) == Kind.import_type:
        names = [n for n in tree.children(node) if tree.kind(n) == Kind.identifier]
        return names[0] if names else None
    return None


def _edges(places: Iterable[tuple[SymbolPlace, bool]]) -> tuple[Edge, ...]:
    """Edges to places, each once, what the language itself brings left out."""
    found: dict[SymbolPlace, Edge] = {}
    for place, is_resolved in places:
        if place.path is None and place.module == LANGUAGE_MODULE:
            continue
        known = Known.resolved if is_resolved else Known.by_name
        found.setdefault(place, Edge(place, known, 1.0 if is_resolved else IMPORT_CONFIDENCE))
    return tuple(found.values())


class View(NamedTuple):
    """Where to ask, and which files count as the repository's own."""

    session: Session
    project: str
    files: AbstractSet[str]
    """By absolute path."""
    places: Places
    types: Types
    projects: Sequence[tuple[str, AbstractSet[str]]]
    """Every project with the files whose references it is right about."""
