"""A repository as the resolver sees it: files as they are now, definitions from the index."""

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from asterism.analysis.resolve.candidates import MAX_CANDIDATES, NamedDefinition
from asterism.analysis.resolve.offers import module_file, package_roots
from asterism.analysis.resolve.scopes import FileScope
from asterism.analysis.source.text import is_binary, read
from asterism.analysis.syntax.language import detect
from asterism.analysis.syntax.outlines import outline, text_of
from asterism.languages.facets import FileSet
from asterism.store.catalogue.catalogue import Catalogue
from asterism.structure.positions import Enclosing, SourceUnits
from asterism.types.errors import InputError
from asterism.types.index import Role, SymbolQuery
from asterism.types.outline import Item, Outline

OutlineOf: TypeAlias = Callable[[str, bytes], Outline]

# Some 50 KB each; a symbol that is used everywhere leads to hundreds of files.
KEPT_OUTLINES = 1000


class KeptOutlines:
    """Makes each outline once while it is kept; any thread may ask."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, bytes], Outline] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, path: str, source: bytes) -> Outline:
        """What a file says."""
        key = (path, hashlib.blake2b(source, digest_size=16).digest())
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        made = outline(path, source)
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > KEPT_OUTLINES:
                self._kept.popitem(last=False)
        return made


class OutlinedFile:
    """A file as a compiler sees it, with our outline of the very same text."""

    def __init__(self, path: str, source: SourceUnits, outline_of: OutlineOf) -> None:
        self.path = path
        """Relative to the repository."""
        self.source = source
        self._outline_of = outline_of

    @cached_property
    def outline(self) -> Outline:
        """What the file says, by our own rules."""
        return self._outline_of(self.path, self.source.decoded)

    @cached_property
    def _enclosing(self) -> Enclosing:
        return Enclosing(self.outline.items)

    @cached_property
    def _named(self) -> dict[int, int]:
        return {item.name_offset: index for index, item in self.outline.symbols()}

    def item(self, index: int) -> Item:
        """An item of the outline."""
        return self.outline.items[index]


# Outlines kept in memory; the files around a few hits, with those that mention them.
KEPT_FILES = 1000


class FileRead(NamedTuple):
    """A file's text at one time."""

    mark: tuple[int, int]
    scope: FileScope
    digest: str


class FileReader:
    """Files below a directory, read when they are asked for and again when they have changed."""

    def __init__(self, root: str, outline_of: OutlineOf = outline) -> None:
        self._root = root.rstrip("/")
        self._outline_of = outline_of
        self._kept: OrderedDict[str, FileRead] = OrderedDict()

    def scope(self, path: str) -> FileScope | None:
        """A file as it is now; None where it is gone or cannot be read as text."""
        found = self.read(path)
        return None if found is None else found.scope

    def read(self, path: str) -> FileRead | None:
        """The same, with what its bytes were."""
        try:
            stat = os.stat(f"{self._root}/{path}")  # noqa: PTH116 - thousands of times a question
        except (OSError, ValueError):
            return None
        mark = (stat.st_mtime_ns, stat.st_size)
        kept = self._kept.get(path)
        if kept is not None and kept.mark == mark:
            self._kept.move_to_end(path)
            return kept
        found = self._read(path, mark)
        if found is None:
            return None
        self._kept[path] = found
        while len(self._kept) > KEPT_FILES:
            self._kept.popitem(last=False)
        return found

    def _read(self, path: str, mark: tuple[int, int]) -> FileRead | None:
        try:
            data = read(f"{self._root}/{path}")
        except InputError:
            return None
        if is_binary(data):
            return None
        source = text_of(path, data)
        digest = hashlib.sha256(data).hexdigest()
        return FileRead(mark, FileScope(self._outline_of(path, source), source), digest)


class FilesOnce:
    """Files during one query: each is read once, whatever happens to it meanwhile."""

    def __init__(self, files: FileReader) -> None:
        self._files = files
        self._read: dict[str, FileRead | None] = {}

    def scope(self, path: str) -> FileScope | None:
        """A file as it was when it was first asked for; None where it could not be read as text."""
        read = self._once(path)
        return None if read is None else read.scope

    def digest(self, path: str) -> str | None:
        """The hash of the bytes that the scope was read from, as chunks have it."""
        read = self._once(path)
        return None if read is None else read.digest

    def _once(self, path: str) -> FileRead | None:
        if path not in self._read:
            self._read[path] = self._files.read(path)
        return self._read[path]


class IndexedRepository:
    """The resolver's world; valid for one state of the catalogue."""

    def __init__(self, name: str, files: FileReader | FilesOnce, catalogue: Catalogue) -> None:
        self.name = name
        self.catalogue = catalogue
        self._files = files
        self._roots: dict[str, Mapping[str, str]] = {}
        self._modules: dict[tuple[str, str], str | None] = {}
        self._defined: dict[str, list[NamedDefinition]] = {}

    @cached_property
    def paths(self) -> FileSet:
        """Every path that is indexed."""
        return FileSet(self.catalogue.files(self.name))

    def _package_roots(self, language: str) -> Mapping[str, str]:
        if language not in self._roots:
            self._roots[language] = package_roots(language, self.paths, self._text)
        return self._roots[language]

    def _text(self, path: str) -> bytes | None:
        scope = self._files.scope(path)
        return scope.source if scope else None

    def scope(self, path: str) -> FileScope | None:
        """A file as it is now."""
        return self._files.scope(path)

    def module(self, importer: str, language: str, module: str) -> str | None:
        """The file that a module means."""
        key = (importer, module)
        if key not in self._modules:
            self._modules[key] = module_file(
                importer, language, module, self.paths, lambda: self._package_roots(language)
            )
        return self._modules[key]

    def defined(self, name: str) -> Sequence[NamedDefinition]:
        """Where a name is defined, one more than the resolver cares for at most."""
        if name not in self._defined:
            page = self.catalogue.find_symbols(
                SymbolQuery(
                    name, roles=(Role.DEFINITION,), repos=(self.name,), limit=MAX_CANDIDATES + 1
                )
            )
            self._defined[name] = [
                NamedDefinition(
                    row.filepath, row.qualified_name, row.line, detect(row.filepath).language
                )
                for _, row in page.rows
            ]
        return self._defined[name]

    def mentions(self, name: str) -> list[str]:
        """The files that use a name, in order."""
        return self.catalogue.using_files(self.name, name)

    def importers(self, path: str) -> list[tuple[str, tuple[str, ...]]]:
        """The files that import a file, each with the names that it takes from there."""
        found = self.catalogue.importers(self.name, [path])
        return [(importer, tuple(link.names)) for importer, link in found.get(path, ())]


class Moment:
    """A repository during one question: each file is looked at once, whatever happens to it."""

    def __init__(self, repository: IndexedRepository) -> None:
        self.repository = repository
        self.unread: set[str] = set()
        """Files that are indexed and could not be read now."""
        self._scopes: dict[str, FileScope | None] = {}

    def scope(self, path: str) -> FileScope | None:
        """A file as it is now."""
        if path not in self._scopes:
            scope = self._scopes[path] = self.repository.scope(path)
            if scope is None and path in self.repository.paths:
                self.unread.add(path)
        return self._scopes[path]

    def module(self, importer: str, language: str, module: str) -> str | None:
        """The file that a module means."""
        return self.repository.module(importer, language, module)

    def defined(self, name: str) -> Sequence[NamedDefinition]:
        """Where a name is defined."""
        return self.repository.defined(name)
