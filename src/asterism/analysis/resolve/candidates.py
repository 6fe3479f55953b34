"""Declarations by their name alone, narrowed by what a file can see."""

import re
from collections.abc import Iterable, Sequence
from posixpath import dirname
from typing import NamedTuple, Protocol

from asterism.analysis.resolve.scopes import ADDITIONS, CONTAINERS, FileScope
from asterism.languages.registry import facets_of

# How sure each way is. Everything above GUESS is meant to be right in 97 of 100 cases; a name that
# is unique in the repository and nothing more is right in about two of three.
IN_SCOPE = 0.95
IMPORTED = 0.95
OF_TYPE = 0.85
IN_FOLDER = 0.85
GLOBAL = 0.8
GUESS = 0.6

# A name with more definitions than this says nothing about which is meant.
MAX_CANDIDATES = 40
_TESTS = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|testdata|test_suite)/|[_.](?:test|spec)\.\w+$"
)


class NamedDefinition(NamedTuple):
    """A definition of a name somewhere in the repository."""

    path: str
    qualified_name: str
    line: int
    language: str


class World(Protocol):
    """What the resolver may ask about other files."""

    def scope(self, path: str) -> FileScope | None:
        """A file as it is now."""
        ...

    def module(self, importer: str, language: str, module: str) -> str | None:
        """The file that a module means."""
        ...

    def defined(self, name: str) -> Sequence[NamedDefinition]:
        """Where a name is defined."""
        ...


class Declaration(NamedTuple):
    """A symbol by its file and its place in the file's outline."""

    path: str
    number: int


class Meaning(NamedTuple):
    """What a name means, and how sure that is."""

    declaration: Declaration | None
    """None for what belongs to another package."""
    confidence: float
    module: str | None = None
    """The other package."""

    def at_most(self, confidence: float) -> "Meaning":
        """The same, no surer than what led to it."""
        return self if self.confidence <= confidence else self._replace(confidence=confidence)


class NameLookup:
    """Looks for the one declaration that a name can mean."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._visible: dict[tuple[str, str, bool, str], Meaning | None] = {}
        self._member: dict[tuple[str, bool, str], Meaning | None] = {}

    def visible(self, scope: FileScope, name: str) -> Meaning | None:
        """What a bare name means that is neither declared around it nor imported."""
        by_folder = "folder" in scope.facets.scopes.reach
        near = dirname(scope.path) if by_folder else scope.package
        key = (scope.language, near, _is_test(scope.path), name)
        if key not in self._visible:
            self._visible[key] = self._find_visible(scope, name)
        return self._visible[key]

    def macro(self, name: str) -> Meaning | None:
        """The one macro of a name: functions have names of their own, and imports name neither."""
        found = []
        for candidate in self._world.defined(name)[:MAX_CANDIDATES]:
            scope = self._world.scope(candidate.path)
            index = index_of(scope, candidate) if scope else None
            if scope and index is not None and scope.outline.items[index].kind == "macro":
                found.append(Declaration(candidate.path, index))
        return Meaning(found[0], GLOBAL) if len(found) == 1 else None

    def _find_visible(self, scope: FileScope, name: str) -> Meaning | None:
        found = [c for c in self._in_reach(scope, name) if self._is_free(c)]
        if not found:
            return None
        facets = scope.facets.scopes
        if "folder" in facets.reach:
            near = [c for c in found if dirname(c.path) == dirname(scope.path)]
            if near:
                return self.only(near, IN_FOLDER)
        if "package" in facets.reach:
            near = [c for c in found if self._package(c) == scope.package]
            if near:
                return self.only(near, IN_FOLDER)
            if facets.global_fallback:
                return self.only([c for c in found if not self._package(c)], IN_FOLDER)
        if "global" in facets.reach:
            shared = [c for c in found if not self._is_hidden(c)]
            if facets.headers:
                # A name of C that no header declares is the system's: of 40 such, 32 were.
                declared = any(c.path.endswith(facets.headers) for c in shared)
                return self.only(shared, GLOBAL) if declared else None
            return self.only(shared, GLOBAL)
        if facets.global_types and name[:1].isupper():
            return self.only(found, GLOBAL)
        return self.only(found, GUESS) if "loose" in facets.reach else None

    def member(self, scope: FileScope, name: str) -> Meaning | None:
        """A member of whatever type, if there is only one of its name."""
        if name in scope.facets.scopes.builtin_members:
            return None
        key = (scope.language, _is_test(scope.path), name)
        if key not in self._member:
            found = [c for c in self._in_reach(scope, name) if "." in c.qualified_name]
            self._member[key] = self.only(found, GUESS)
        return self._member[key]

    def qualified(
        self, scope: FileScope, names: Iterable[str], last: str, confidence: float
    ) -> Meaning | None:
        """The declaration that has one of these whole names, the first that fits."""
        found = self.candidates(scope, last)
        for name in names if found else ():
            fitting = [c for c in found if self.full_name(c) == name]
            if "folder" in scope.facets.scopes.reach and scope.facets.scopes.namespaced:
                # The folder is the module: another one's names are not in reach.
                fitting = [c for c in fitting if dirname(c.path) == dirname(scope.path)]
            if fitting:
                return self.only(fitting, confidence)
        return None

    def in_package(
        self, scope: FileScope, package: str, name: str, confidence: float
    ) -> Meaning | None:
        """A name of a package that its files say they belong to."""
        found = [
            c
            for c in self.candidates(scope, name)
            if "." not in c.qualified_name and self._package(c) == package
        ]
        return self.only(found, confidence)

    def named(self, name: str) -> Sequence[NamedDefinition]:
        """Definitions of a name; none where there are too many to tell them apart."""
        found = self._world.defined(name)
        return found if len(found) <= MAX_CANDIDATES else ()

    def candidates(self, scope: FileScope, name: str) -> list[NamedDefinition]:
        """Definitions of a name in files of the same language."""
        family = family_of(scope.language)
        return [
            found
            for found in self.named(name)
            if family_of(found.language) == family and not _is_constructor(found)
        ]

    def full_name(self, candidate: NamedDefinition) -> str:
        """The qualified name with the namespace that the whole file belongs to."""
        if not facets_of(candidate.language).scopes.package_in_names:
            return candidate.qualified_name
        package = self._package(candidate)
        return f"{package}.{candidate.qualified_name}" if package else candidate.qualified_name

    def only(self, found: Iterable[NamedDefinition], confidence: float) -> Meaning | None:
        """The one that is meant, if it is one; of several that are one symbol, its head."""
        declared: list[tuple[Declaration, str]] = []
        weak: list[tuple[Declaration, str]] = []
        for candidate in found:
            scope = self._world.scope(candidate.path)
            index = index_of(scope, candidate) if scope else None
            if scope is None or index is None:
                continue
            item = scope.outline.items[index]
            how = scope.facets.scopes.one_symbol
            # Of a header and its source, the one with a body is meant.
            bodyless = how == "header" and item.body is None
            # Platform-specific declarations count as the common one that other files see.
            is_actual = how == "actual" and "actual" in item.modifiers
            is_weak = bodyless or is_actual or item.kind in ADDITIONS
            entry = (Declaration(candidate.path, index), candidate.qualified_name)
            (weak if is_weak else declared).append(entry)
        chosen = [*dict.fromkeys(declared or weak)]
        if len(chosen) > 1 and self._is_one(chosen):
            chosen = chosen[:1]
        return Meaning(chosen[0][0], confidence) if len(chosen) == 1 else None

    def _is_one(self, chosen: Sequence[tuple[Declaration, str]]) -> bool:
        """Whether these are one symbol: overloads in a file, or a type that is opened again."""
        if len({name for _, name in chosen}) > 1:
            return False
        if len({declaration.path for declaration, _ in chosen}) == 1:
            return True
        folders = {dirname(declaration.path) for declaration, _ in chosen}
        if len(folders) == 1 and all(self._one_symbol(d) == "folder" for d, _ in chosen):
            # Files of one package for different systems.
            return True
        return all(self._is_reopened(declaration) for declaration, _ in chosen)

    def _one_symbol(self, declaration: Declaration) -> str:
        scope = self._world.scope(declaration.path)
        return scope.facets.scopes.one_symbol if scope else ""

    def _is_reopened(self, declaration: Declaration) -> bool:
        """Whether other files may go on with what is declared here."""
        scope = self._world.scope(declaration.path)
        if scope is None:
            return False
        item = scope.outline.items[declaration.number]
        if item.kind == "namespace":
            return True
        reopens = self._one_symbol(declaration) == "reopened"
        return item.kind in CONTAINERS and (reopens or "partial" in item.modifiers)

    def _in_reach(self, scope: FileScope, name: str) -> list[NamedDefinition]:
        """Code does not call its tests: a name that only tests define is of another package."""
        found = self.candidates(scope, name)
        return found if _is_test(scope.path) else [c for c in found if not _is_test(c.path)]

    def _package(self, candidate: NamedDefinition) -> str:
        scope = self._world.scope(candidate.path)
        return scope.package if scope else ""

    def _is_free(self, candidate: NamedDefinition) -> bool:
        """Whether a bare name can mean it: nothing around it but modules and namespaces."""
        scope = self._world.scope(candidate.path)
        index = index_of(scope, candidate) if scope else None
        if scope is None or index is None:
            return False
        item = scope.outline.items[index]
        if item.kind in scope.facets.scopes.global_members:
            return True
        at = item.parent
        if at is None:
            # A method of Go has a receiver before its name and no parent.
            return len(item.path) == 1
        while at is not None:
            if scope.outline.items[at].kind not in ("namespace", "module", "package"):
                return False
            at = scope.outline.items[at].parent
        return True

    def _is_hidden(self, candidate: NamedDefinition) -> bool:
        """Whether only its own file sees it."""
        scope = self._world.scope(candidate.path)
        index = index_of(scope, candidate) if scope else None
        if scope is None or index is None:
            return True
        item = scope.outline.items[index]
        headers = scope.facets.scopes.headers
        in_source = bool(headers) and not candidate.path.endswith(headers)
        hidden = in_source and ("static" in item.modifiers or item.kind == "macro")
        return hidden or "private" in item.modifiers or "fileprivate" in item.modifiers


def index_of(scope: FileScope, candidate: NamedDefinition) -> int | None:
    """The item of a candidate; of several of one name, the one at its line."""
    found = scope.by_qualified_name.get(candidate.qualified_name, ())
    items = scope.outline.items
    return min(found, key=lambda index: abs(items[index].start_line - candidate.line), default=None)


def _is_constructor(candidate: NamedDefinition) -> bool:
    """Whether it is called like its class: the class is what such a name means."""
    *_, above, last = ("", *candidate.qualified_name.split("."))
    return above == last and not facets_of(candidate.language).scopes.values_named_as_types


def family_of(language: str) -> str:
    """Languages that call each other in one program."""
    return facets_of(language).scopes.family or language


def _is_test(path: str) -> bool:
    return _TESTS.search(path) is not None
