"""What a file offers to those who import it: one rule for outlines and for what is stored."""

from collections.abc import Iterable
from posixpath import basename
from typing import NamedTuple

from asterism.languages.registry import facets_of
from asterism.types.index import Signatures

EVERYTHING = "*"
DEFAULT = "default"
# A script may be one thing as a whole: `module.exports = f`, `export = f`.
WHOLE = "="


class Declared(NamedTuple):
    """The facts that decide what a file offers, in the order of the source."""

    definitions: Iterable[tuple[str, str]]
    """Name and signature of each top-level symbol."""
    exports: Iterable[tuple[str, str, str | None]]
    """Exported name, local name, and the module that it comes from if it is only passed on."""
    imports: Iterable[tuple[str, str, str]]
    """Local name, module, and the name there; `*` for the module itself."""


def offered(path: str, language: str, declared: Declared) -> Signatures:
    """Signatures by exported name, and the names that are only passed on.

    Of several definitions with one name the first counts. A module that is one thing as a whole
    offers it under `*` and as its default.
    """
    known: dict[str, str] = {}
    for name, signature in declared.definitions:
        known.setdefault(name, signature)
    again = passes_imports_on(path, language)
    imported: dict[str, tuple[str, str]] = {}
    all_of: dict[str, None] = {}
    for local, module, name in declared.imports:
        if local != EVERYTHING:
            imported.setdefault(local, (module, name))
        elif again:
            all_of[module] = None
    own = {} if facets_of(language).imports.only_exports else known
    passed_on = dict(imported) if again else {}
    for name, local, origin in declared.exports:
        if origin is not None and local == EVERYTHING and name in (EVERYTHING, WHOLE):
            all_of[origin] = None
        for exported in _names(name):
            if origin is not None:
                passed_on[exported] = (origin, local)
            elif local in known:
                own.setdefault(exported, known[local])
            elif local in imported:
                passed_on[exported] = imported[local]
    for name in own:
        passed_on.pop(name, None)
    return Signatures(own, passed_on, tuple(all_of))


def passes_imports_on(path: str, language: str) -> bool:
    """Whether a file's imports are there to be imported again, by convention."""
    prefix = facets_of(language).imports.passing_files
    return bool(prefix) and basename(path).startswith(prefix)


def _names(name: str) -> tuple[str, ...]:
    """Under which names importers ask for an export; `export *` has none of its own."""
    if name == WHOLE:
        return (EVERYTHING, DEFAULT)
    return () if name == EVERYTHING else (name,)
