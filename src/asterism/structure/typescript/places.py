"""Source positions and types, as the TypeScript compiler reports them."""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from asterism.structure.typescript.session import (
    MODULE,
    TYPE_PARAMETER,
    CompilerSession,
    CompilerSymbol,
    SourceFile,
    is_unresolved,
    to_symbol,
)
from asterism.structure.typescript.tree import SyntaxKind, Tree
from asterism.types.structure import Edge, Known, SymbolPlace

# What the language itself brings: `Promise`, `Array`, `console`.
LANGUAGE_MODULE = "lib"

_MODULES_FOLDER = "node_modules/"
_TYPES_SCOPE = "@types/"
_LOCAL = frozenset({SyntaxKind.parameter, SyntaxKind.binding_element, SyntaxKind.type_parameter})
_TYPES = frozenset(
    {
        SyntaxKind.interface_declaration,
        SyntaxKind.type_alias,
        SyntaxKind.class_declaration,
        SyntaxKind.class_expression,
        SyntaxKind.enum_declaration,
    }
)
_FUNCTIONS = frozenset(
    {
        SyntaxKind.function_declaration,
        SyntaxKind.function_expression,
        SyntaxKind.arrow_function,
        SyntaxKind.method_declaration,
        SyntaxKind.constructor,
        SyntaxKind.get_accessor,
        SyntaxKind.set_accessor,
    }
)
_NAMELESS = frozenset({"default", "export=", "__function", "__class", "__object", "__type"})
# A variable is an import where JavaScript gives it what `require` returns.
_IMPORTS = frozenset(
    {
        SyntaxKind.import_declaration,
        SyntaxKind.import_equals,
        SyntaxKind.export_declaration,
        SyntaxKind.variable_declaration,
    }
)


class SymbolPlaces:
    """Finds the places of symbols for one project of a session."""

    def __init__(self, session: CompilerSession, project: str, files: AbstractSet[str]) -> None:
        """`files` are the repository's own, by absolute path."""
        self._session = session
        self._project = project
        self._files = files
        self._known: dict[int, SymbolPlace | None] = {}

    def of(self, symbol: CompilerSymbol) -> SymbolPlace | None:
        """The symbol's place; None for what has none: parameters, locals, type parameters."""
        if symbol.id not in self._known:
            self._known[symbol.id] = self._find(symbol)
        return self._known[symbol.id]

    def of_type(self, symbol: CompilerSymbol) -> SymbolPlace | None:
        """The place where a type is declared, a value of the same name left aside."""
        types = [handle for handle in symbol.declarations if split(handle)[1] in _TYPES]
        if not types or types[0] == symbol.declarations[0]:
            return self.of(symbol)
        return self._find(symbol._replace(declarations=tuple(types)))

    def is_local(self, symbol: CompilerSymbol) -> bool:
        """Whether it is a variable inside of a function, and none that our index knows."""
        node, kind, path = split(symbol.declarations[0]) if symbol.declarations else (0, 0, "")
        file = self._session.file(self._project, path) if path in self._files else None
        if file is None or kind != SyntaxKind.variable_declaration or file.named(node) is not None:
            return False
        return any(file.tree.kind(above) in _FUNCTIONS for above in file.tree.ancestors(node))

    def _find(self, symbol: CompilerSymbol) -> SymbolPlace | None:
        if symbol.flags & TYPE_PARAMETER or not symbol.declarations:
            return None
        if is_unresolved(symbol):
            return self._imported(symbol)
        # Of merged declarations the repository's own say more.
        own = [handle for handle in symbol.declarations if split(handle)[2] in self._files]
        node, _, path = split((own or symbol.declarations)[0])
        if own:
            file = self._session.file(self._project, path)
            return self._inside(file, node, symbol) if file else None
        return self._outside(symbol, path)

    def _inside(self, file: SourceFile, node: int, symbol: CompilerSymbol) -> SymbolPlace | None:
        tree = file.tree
        if tree.kind(node) == SyntaxKind.source_file:
            return module_place(file)
        index = file.named(node)
        if index is not None:
            return item_place(file, index)
        if tree.kind(node) in _LOCAL:
            return None
        if (meant := self._module_value(file, node)) is not None:
            return meant
        name = file.name_of(node)
        line = tree.line(node if name is None else name)
        around = file.around(node)
        shown = tree.text(name) if name is not None else symbol.name
        if around is None:
            return SymbolPlace(shown, file.path, line)
        owner = file.item(around)
        if shown in _NAMELESS or owner.name == shown:
            return item_place(file, around)
        return SymbolPlace(f"{owner.qualified_name}.{shown}", file.path, line)

    def _module_value(self, file: SourceFile, node: int) -> SymbolPlace | None:
        """What `module.exports = …` has on its right, by its name or through `require`."""
        tree = file.tree
        if tree.kind(node) != SyntaxKind.binary:
            return None
        left, right = tree.first_child(node), tree.last_child(node)
        if left is None or right is None or tree.text(left) != "module.exports":
            return None
        if tree.kind(right) not in (SyntaxKind.identifier, SyntaxKind.call):
            return None
        kinds = self._session.ask(
            self._project, "getTypeAtLocations", locations=[tree.handle(right)]
        )
        if not kinds or not kinds[0] or not kinds[0].get("symbol"):
            return None
        symbol = self._session.ask(self._project, "getSymbolOfType", objectId=kinds[0]["id"])
        meant = to_symbol(symbol)
        # An object without a name is nowhere but here.
        return self.of(meant) if meant is not None and meant.name not in _NAMELESS else None

    def _outside(self, symbol: CompilerSymbol, path: str) -> SymbolPlace:
        name = symbol.name
        parent = self._session.parent(self._project, symbol)
        if parent is not None and not parent.flags & MODULE and parent.name not in _NAMELESS:
            name = f"{parent.name}.{name}"
        is_library = path.startswith(self._session.library + "/")
        module = LANGUAGE_MODULE if is_library else package_of(path)
        if module is None and path.startswith(self._session.root + "/"):
            # Built or ignored files of the repository: not indexed, but in it.
            return SymbolPlace(name, path.removeprefix(self._session.root + "/"))
        return SymbolPlace(name, None, module=module or LANGUAGE_MODULE)

    def _imported(self, symbol: CompilerSymbol) -> SymbolPlace | None:
        """The place of something imported that no file declares: its module, by the import."""
        node, _, path = split(symbol.declarations[0])
        file = self._session.file(self._project, path)
        if file is None:
            return None
        tree = file.tree
        module = None
        for above in (node, *tree.ancestors(node)):
            if tree.kind(above) in _IMPORTS:
                literals = [
                    n for n in tree.below(above) if tree.kind(n) == SyntaxKind.string_literal
                ]
                module = tree.text(literals[-1])[1:-1] if literals else None
                break
        if module is None:
            return None
        exported = symbol.name
        if tree.kind(node) == SyntaxKind.import_specifier:
            # `import { verify as check }`: the module knows it as `verify`.
            first = tree.first_child(node)
            exported = tree.text(first) if first is not None else exported
        return SymbolPlace(exported, None, module=module)


def split(handle: str) -> tuple[int, int, str]:
    """The index, the kind and the path in the compiler's name of a node."""
    index, kind, path = handle.split(".", 2)
    return int(index), int(kind), path


def item_place(file: SourceFile, index: int) -> SymbolPlace:
    """The place of an outline's symbol."""
    item = file.item(index)
    line = 1 + file.tree.source.decoded.count(b"\n", 0, item.name_offset)
    return SymbolPlace(item.qualified_name, file.path, line, item.kind)


def module_place(file: SourceFile) -> SymbolPlace:
    """The place of a file's own top level."""
    return SymbolPlace(file.path.rpartition("/")[2], file.path, 1, "module")


def package_of(path: str) -> str | None:
    """The package that an installed file belongs to, as one imports it."""
    _, folder, rest = path.rpartition(_MODULES_FOLDER)
    if not folder:
        return None
    rest = rest.removeprefix(_TYPES_SCOPE)
    parts = rest.split("/")
    if parts[0].startswith("@") and len(parts) > 1:
        return "/".join(parts[:2])
    # `@types/scope__name` declares `@scope/name`.
    return "@" + parts[0].replace("__", "/") if "__" in parts[0] else parts[0]


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

    def __init__(self, session: CompilerSession, project: str, places: SymbolPlaces) -> None:
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
    if tree.kind(node) in (SyntaxKind.type_reference, SyntaxKind.type_query):
        name = tree.first_child(node)
        if name is not None and tree.kind(name) == SyntaxKind.qualified_name:
            return tree.last_child(name)
        return name if name is not None and tree.kind(name) == SyntaxKind.identifier else None
    if tree.kind(node) == SyntaxKind.import_type:
        names = [n for n in tree.children(node) if tree.kind(n) == SyntaxKind.identifier]
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


class CompilerView(NamedTuple):
    """Where to ask, and which files count as the repository's own."""

    session: CompilerSession
    project: str
    files: AbstractSet[str]
    """By absolute path."""
    places: SymbolPlaces
    types: Types
    projects: Sequence[tuple[str, AbstractSet[str]]]
    """Every project with the files whose references it is right about."""
