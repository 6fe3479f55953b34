"""What a file offers to its importers, what it wants of others, and how the two meet."""

from collections.abc import Callable, Iterator, Mapping
from posixpath import dirname
from typing import NamedTuple, TypeAlias

from asterism.analysis.chunks.embedding_text import cut
from asterism.analysis.chunks.units import ChunkOptions
from asterism.languages.facets import FileSet, Roots
from asterism.languages.registry import code_of, facets_of
from asterism.types.index import Signatures
from asterism.types.outline import (
    DEFAULT,
    EVERYTHING,
    Declared,
    Import,
    Outline,
    offered,
    passes_imports_on,
)

# How many files an import is followed through. Barrels of barrels are three deep in practice.
MAX_HOPS = 8

SignaturesOf: TypeAlias = Callable[[str], Signatures | None]
Resolve: TypeAlias = Callable[[str, str], str | None]


class Want(NamedTuple):
    """What a file imports of one module, as `resolve_module` understands it."""

    module: str
    names: tuple[tuple[str, str], ...]
    """The local name, empty where the file cannot use it, and the name there; `*` for all."""
    reexports: bool
    """Whether others may import something of it through this file."""


def exported_signatures(outline: Outline, options: ChunkOptions) -> Signatures:
    """What a file offers: signatures by exported name, cut like quotes, and what it passes on."""
    limit = options.max_quote_chars
    definitions = (
        (item.name, cut(item.signature, limit))
        for _, item in outline.symbols()
        if len(item.path) == 1
    )
    exports = ((entry.name, entry.local, entry.module) for entry in outline.exports)
    imports = (
        (name.local, entry.module, name.name)
        for entry in outline.imports
        if entry.binds
        for name in entry.names
    )
    return offered(outline.path, outline.language, Declared(definitions, exports, imports))


def wanted_names(outline: Outline) -> list[Want]:
    """Each module that a file imports, with the names; a type of Java or PHP is a module here."""
    exported = {entry.local for entry in outline.exports if entry.module is None}
    origins = {entry.module for entry in outline.exports}
    passes_on = passes_imports_on(outline.path, outline.language)
    wants: list[Want] = []
    for entry in outline.imports:
        again = passes_on or entry.reexport or entry.module in origins
        again = again or any(name.local in exported for name in entry.names)
        wants.extend(Want(*found, again) for found in _modules(outline, entry))
    return wants


def follow(
    path: str, name: str, signatures: SignaturesOf, resolve: Resolve, hops: int = MAX_HOPS
) -> str | None:
    """The signature of what `path` exports under a name, wherever it is defined.

    `resolve` tells which file a module means in another. Where several modules that are passed on
    as a whole offer different things under the name, none is meant.
    """
    return _Search(signatures, resolve).find(path, name, hops)


class _Search:
    def __init__(self, signatures: SignaturesOf, resolve: Resolve) -> None:
        self._signatures = signatures
        self._resolve = resolve
        self._seen: set[tuple[str, str]] = set()

    def find(self, path: str, name: str, hops: int) -> str | None:
        offers = self._signatures(path) if (path, name) not in self._seen else None
        self._seen.add((path, name))
        if offers is None:
            return None
        if name in offers.own:
            return offers.own[name]
        if name in offers.passed_on:
            module, there = offers.passed_on[name]
            return self._behind(path, module, there, hops)
        if name in (DEFAULT, EVERYTHING):
            return None
        found = {self._behind(path, module, name, hops) for module in offers.all_of} - {None}
        return found.pop() if len(found) == 1 else None

    def _behind(self, path: str, module: str, name: str, hops: int) -> str | None:
        target = self._resolve(path, module) if hops > 0 else None
        return None if target is None else self.find(target, name, hops - 1)


def _modules(outline: Outline, entry: Import) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """The modules of one import statement, with their names."""
    names = tuple(
        (name.local if entry.binds and name.local != EVERYTHING else "", name.name)
        for name in entry.names
    )
    form = facets_of(outline.language).imports.form
    if form == "namespace":
        namespace = entry.module.strip("\\")
        for local, name in names:
            yield f"{namespace}\\{name}", ((local, name),)
    elif form == "package" and not _is_type(entry.module):
        for local, name in names:
            yield f"{entry.module}.{name}", ((local, name),)
    elif form == "path":
        module = _from_file(outline, entry)
        if module is not None:
            yield module, names
    else:
        yield entry.module, names


def _is_type(module: str) -> bool:
    """Whether the import is of a type's members: packages have small initials."""
    return module.rpartition(".")[2][:1].isupper()


def _from_file(outline: Outline, entry: Import) -> str | None:
    """A Rust module as the file's own level would write it, from inside `mod tests { … }`."""
    inside, at = 0, entry.enclosing
    while at is not None:
        inside += outline.items[at].kind == "namespace"
        at = outline.items[at].parent
    steps = entry.module.split("::")
    if not inside or steps[0] not in ("self", "super"):
        return entry.module
    while inside and steps and steps[0] == "super":
        del steps[0]
        inside -= 1
    if inside:
        return None
    return "::".join(steps if steps[:1] == ["super"] else ["self", *steps])


def resolve_module(importer: str, language: str, module: str, files: FileSet) -> str | None:
    """The path of the file that `module` means in a file of that language.

    Modules are as `wanted_names` gives them. Those of other packages and of the languages whose
    imports bind no plain names (Go, C#, Ruby, C …) mean no file.
    """
    finder = facets_of(language).imports.file
    found: str | None = code_of(finder)(importer, module, files) if finder and module else None
    return found


def module_file(
    importer: str, language: str, module: str, files: FileSet, roots: Roots = dict
) -> str | None:
    """The file that a module means, in every language in which one file is one module."""
    found = resolve_module(importer, language, module, files)
    finder = facets_of(language).imports.other_file
    if found is None and finder and module:
        found = code_of(finder)(importer, module, files, roots)
    return found


def package_roots(
    language: str, files: FileSet, text_of: Callable[[str], bytes | None]
) -> Mapping[str, str]:
    """The first file of each package that manifests name, by the name that code has for it."""
    reader = facets_of(language).imports.roots
    found: Mapping[str, str] = code_of(reader)(files, text_of) if reader else {}
    return found


def is_in_folder(path: str, folder: str) -> bool:
    """Whether a file is in a folder as an import names it."""
    own = dirname(path)
    return own == folder or (folder.startswith("…/") and own != "" and folder.endswith(f"/{own}"))
