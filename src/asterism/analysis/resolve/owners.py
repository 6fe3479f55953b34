"""What a member is looked for in, and how text names it: chains, modules, types, aliases."""

import re
from typing import NamedTuple

from asterism.analysis.resolve.candidates import Meaning
from asterism.analysis.resolve.scopes import FileScope
from asterism.languages.registry import facets_of
from asterism.types.outline import Item

_TYPEDEF = re.compile(
    r"^typedef\s+(?:const\s+)?(?:struct\s+|enum\s+|union\s+)?(\w+)\s*\**\s*\w+;?$"
)
_EQUALS = re.compile(r"=\s*([A-Za-z_][\w.:\\]*)\s*;?\s*$")
_THIS = re.compile(r"=\s*@This\(\)\s*;?\s*$")


class Owner(NamedTuple):
    """A type, or else a module or a folder as a whole."""

    path: str
    container: tuple[str, ...] = ()
    folder: bool = False
    confidence: float = 1.0


def alias_of(item: Item, language: str) -> str | None:
    """The other type that a name stands for, as written."""
    signature = item.signature
    facets = facets_of(language).types
    if facets.typedefs and signature.startswith("typedef"):
        found = _TYPEDEF.match(signature)
        return found.group(1) if found and found.group(1) != item.name else None
    if item.kind == "type" or facets.alias_values:
        found = _EQUALS.search(signature)
        return found.group(1) if found and found.group(1) != item.name else None
    return None


def is_this(item: Item) -> bool:
    """Whether a constant of Zig stands for the type around it."""
    return _THIS.search(item.signature) is not None


def returned_table(scope: FileScope) -> tuple[str, ...]:
    """What a file of Lua returns: the table whose members its importers see."""
    for entry in scope.outline.exports:
        if entry.module is None:
            return (entry.local,)
    return ()


def around(scope: FileScope, enclosing: int | None) -> list[str]:
    """The namespaces around a place, innermost first, each as a prefix of names."""
    prefixes: list[str] = []
    at = enclosing
    while at is not None:
        item = scope.outline.items[at]
        if item.path:
            prefixes.append(item.qualified_name + ".")
            lengths = range(len(item.path) - 1, 0, -1)
            prefixes += [".".join(item.path[:length]) + "." for length in lengths]
        at = item.parent
    if scope.package:
        outer = scope.package
        prefixes = [f"{outer}.{prefix}" for prefix in prefixes]
        while outer:
            prefixes.append(outer + ".")
            outer = outer.rpartition(".")[0]
    for prefix in [*prefixes]:
        # A namespace may be written with its dots in one: `namespace Harbor.Inner`.
        outer = prefix.rstrip(".")
        while outer:
            prefixes.append(outer + ".")
            outer = outer.rpartition(".")[0]
    return [*dict.fromkeys([*prefixes, ""])]


def foreign(confidence: float, module: str | None) -> Meaning:
    """What belongs to no file of the repository."""
    return Meaning(None, confidence, module)


def at_most(owner: Owner | Meaning | None, confidence: float) -> Owner | Meaning | None:
    """The same owner, no surer than what led to it."""
    if owner is None or owner.confidence <= confidence:
        return owner
    return owner._replace(confidence=confidence)
