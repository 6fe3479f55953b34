"""What one file declares and imports, arranged so that the names in it find their declarations."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from asterism.analysis.resolve.offers import wanted_names
from asterism.analysis.resolve.parameters import Header, header_of
from asterism.analysis.resolve.variables import Local, locals_of
from asterism.languages.facets import Facets
from asterism.languages.registry import code_of, facets_of
from asterism.types.outline import DEFAULT, EVERYTHING, WHOLE, Item, Outline, Reference, Span

# Kinds whose members are reached through a name or an instance of it.
CONTAINERS = frozenset(
    {
        *("class", "interface", "struct", "trait", "enum", "object", "record", "impl", "extension"),
        *("module", "namespace", "protocol", "union", "actor", "type", "instance", "annotation"),
        *("table", "view"),
    }
)
# Kinds that add to a type which is declared elsewhere.
ADDITIONS = frozenset({"impl", "extension", "instance"})
# Enough of a line to see what a variable is set to.
_LONGEST_LINE = 300


class Binding(NamedTuple):
    """What an imported name means."""

    module: str
    """As `resolve_module` understands it."""
    name: str
    """The name there; `*` for the module itself."""


class FileScope:
    """One file's outline and text, with its declarations by name; everything is made on demand."""

    def __init__(self, outline: Outline, source: bytes) -> None:
        self.outline = outline
        self.source = source
        self._locals: dict[int, dict[str, list[Local]]] = {}
        self._headers: dict[int, Header] = {}
        self._attributes: dict[int, dict[str, list[Local]]] = {}

    @property
    def path(self) -> str:
        """The file's path in the repository."""
        return self.outline.path

    @property
    def language(self) -> str:
        """The file's language."""
        return self.outline.language

    @cached_property
    def facets(self) -> Facets:
        """What is particular to the file's language."""
        return facets_of(self.language)

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of each line."""
        starts, at = [0], self.source.find(b"\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.source.find(b"\n", at + 1)
        return starts

    def offset(self, line: int, column: int) -> int:
        """Where a place is in the text; lines from 1, columns from 0."""
        return self.line_starts[line - 1] + column if line <= len(self.line_starts) else 0

    @cached_property
    def package(self) -> str:
        """The package or namespace that the whole file says it belongs to."""
        pattern = self.facets.scopes.package_line
        found = re.search(pattern, self.source, re.MULTILINE) if pattern else None
        return found.group(1).decode("utf-8", "replace") if found else ""

    @cached_property
    def by_path(self) -> dict[tuple[str, ...], list[int]]:
        """Symbols by their whole path; several where a name is overloaded or merged."""
        found: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        for index, item in self.outline.symbols():
            found[item.path].append(index)
        return dict(found)

    @cached_property
    def by_name(self) -> dict[str, list[int]]:
        """Symbols by their own name, in source order."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for index, item in self.outline.symbols():
            found[item.name].append(index)
        return dict(found)

    @cached_property
    def by_qualified_name(self) -> dict[str, list[int]]:
        """Symbols by their path joined by dots."""
        return {".".join(path): indices for path, indices in self.by_path.items()}

    @cached_property
    def references_to(self) -> dict[str, list[Reference]]:
        """References by name, in source order."""
        found: defaultdict[str, list[Reference]] = defaultdict(list)
        for reference in self.outline.references:
            found[reference.name].append(reference)
        return dict(found)

    @cached_property
    def references_in(self) -> dict[int | None, list[Reference]]:
        """References by their innermost item."""
        found: defaultdict[int | None, list[Reference]] = defaultdict(list)
        for reference in self.outline.references:
            found[reference.enclosing].append(reference)
        return dict(found)

    @cached_property
    def bindings(self) -> dict[str, Binding]:
        """Imported names that the file can use."""
        found: dict[str, Binding] = {}
        for want in wanted_names(self.outline):
            for local, there in want.names:
                if local:
                    found.setdefault(local, Binding(want.module, there))
        for entry in self.outline.imports:
            if entry.binds and not entry.names and not entry.side_effect and entry.module:
                # A module bound by its own last word: Java, Haskell.
                found.setdefault(last_word(entry.module), Binding(entry.module, EVERYTHING))
        if self.facets.imports.local_name:
            name_of = code_of(self.facets.imports.local_name)
            for binding in [*found.values()]:
                found.setdefault(name_of(binding.module), binding)
        return found

    @cached_property
    def starred(self) -> tuple[str, ...]:
        """Modules of which every name is meant."""
        wants = wanted_names(self.outline)
        whole = self.facets.imports.whole_names
        found = [
            want.module
            for want in wants
            if any(there == EVERYTHING and not local for local, there in want.names)
            or (whole and not want.names)
        ]
        # Of `pkg.*` the words before the star are meant.
        return tuple(dict.fromkeys(module.removesuffix(".*") for module in found))

    def exported(self, name: str) -> Iterator[Binding | str]:
        """What importers get under a name: a local name, or a name of another module."""
        for entry in self.outline.exports:
            if entry.name == name or (name == DEFAULT and entry.name == WHOLE):
                yield Binding(entry.module, entry.local) if entry.module else entry.local
        if name not in (DEFAULT, EVERYTHING):
            for entry in self.outline.exports:
                if entry.name == EVERYTHING and entry.module:
                    yield Binding(entry.module, name)

    def top_level(self, name: str) -> int | None:
        """The declaration of a name at the file's own level."""
        found = self.by_path.get((name,))
        if found:
            return self.head(found)
        kinds = self.facets.scopes.free_members
        for index in self.by_name.get(name, ()) if kinds else ():
            item = self.outline.items[index]
            above = item.parent
            inside = above is not None and self.outline.items[above].kind == "instance"
            if item.kind in kinds and not inside:
                return index
        return None

    def member(self, container: tuple[str, ...], name: str) -> int | None:
        """A member by the path of what it belongs to, wherever in the file that is."""
        found = self.by_path.get((*container, name))
        return self.head(found) if found else None

    def head(self, same: list[int]) -> int:
        """Of several declarations of one name, the one that is used for all.

        The type rather than additions to it, and the body rather than earlier declarations.
        """
        if len(same) == 1:
            return same[0]
        items = self.outline.items
        whole = [index for index in same if items[index].kind not in ADDITIONS]
        if self.facets.scopes.one_symbol == "header":
            whole = [index for index in whole if items[index].body is not None] or whole
        return (whole or same)[0]

    def lexical(self, name: str, enclosing: int | None) -> int | None:
        """The declaration that a bare name means by the scopes around it."""
        implicit = self.facets.scopes.implicit_members
        at = enclosing
        while at is not None:
            item = self.outline.items[at]
            if item.kind in CONTAINERS:
                found = self.member(item.path, name) if implicit or _is_space(item) else None
                # A constructor is called like its class, and the class is what is meant.
                if found is not None and self.outline.items[found].kind != "constructor":
                    return found
            else:
                for child in item.children:
                    if self.outline.items[child].name == name:
                        return child
                if implicit and item.parent is None and len(item.path) > 1:
                    # A method beside its type sees the members like one inside.
                    found = self.member(item.path[:-1], name)
                    if found is not None and self.outline.items[found].kind != "constructor":
                        return found
            at = item.parent
        # A method of Go or Rust is declared outside of its type.
        return self.top_level(name)

    def container_of(self, enclosing: int | None) -> tuple[str, ...] | None:
        """The path of the innermost class, or the equivalent of one, around a place."""
        at = enclosing
        while at is not None:
            item = self.outline.items[at]
            if item.kind in CONTAINERS:
                return item.path
            above = self.outline.items[item.parent].path if item.parent is not None else ()
            if item.path[:-1] != above:
                # Its receiver is its container, wherever that is declared.
                return item.path[:-1] or None
            at = item.parent
        return None

    def header(self, number: int) -> Header:
        """A function's parameters and what it returns; offsets count from its header's start."""
        if number not in self._headers:
            item = self.outline.items[number]
            start, end = self.header_span(item)
            # Byte for character, so that offsets in the text are offsets in the file.
            text = self.source[start:end].decode("latin-1")
            self._headers[number] = header_of(text, item.name_offset - start, self.language)
        return self._headers[number]

    def header_span(self, item: Item) -> tuple[int, int]:
        """From a declaration's first line, the comment above left out, to its body."""
        start = min(self.offset(item.start_line, 0), item.name_offset)
        end = item.body.start if item.body else item.span.end
        return start, max(end, item.name_offset)

    def locals(self, number: int) -> dict[str, list[Local]]:
        """The variables of a function's body, by name; offsets count from `body_start`."""
        if number not in self._locals:
            item = self.outline.items[number]
            start = self.body_start(number)
            text = self.source[start : item.span.end].decode("latin-1")
            inner = [self.outline.items[child].span for child in item.children]
            self._locals[number] = {
                name: [_within(local, start, inner) for local in places]
                for name, places in locals_of(text, self.language).items()
            }
        return self._locals[number]

    def locals_in(self, text: str) -> dict[str, list[Local]]:
        """The variables of some text of the file."""
        return locals_of(text, self.language)

    def body_start(self, number: int) -> int:
        """Where the text begins that `locals` reads."""
        item = self.outline.items[number]
        return item.body.start if item.body else item.name_offset

    def attributes(self, number: int) -> dict[str, list[Local]]:
        """What an object's own variables are set to inside its class, by name."""
        if number not in self._attributes:
            pattern = self.facets.types.attribute_set
            item = self.outline.items[number]
            text = self.source[item.span.start : item.span.end].decode("latin-1")
            found: dict[str, list[Local]] = {}
            for match in re.finditer(pattern, text) if pattern else ():
                line = text[match.end() : match.end() + _LONGEST_LINE].partition("\n")[0]
                for name, places in locals_of(line, self.language).items():
                    at = item.span.start + match.start()
                    kept = [place._replace(at=at) for place in places if place.at == 0]
                    found.setdefault(name.lstrip("@"), []).extend(kept)
            self._attributes[number] = found
        return self._attributes[number]

    def function_at(self, offset: int, within: int) -> int:
        """The innermost item around an offset, inside a given one."""
        at = within
        while True:
            inner = next(
                (
                    child
                    for child in self.outline.items[at].children
                    if self.outline.items[child].span.start
                    <= offset
                    < self.outline.items[child].span.end
                ),
                None,
            )
            if inner is None:
                return at
            at = inner


def last_word(module: str) -> str:
    """The last part of a module's name, however its parts are joined."""
    for mark in ("/", "\\", "::", "."):
        module = module.rstrip(mark).rpartition(mark)[2] if mark in module else module
    return module


def _is_space(item: Item) -> bool:
    return item.kind in ("namespace", "module")


def _within(local: Local, start: int, inner: Sequence[Span]) -> Local:
    """A variable that a function inside declares ends with that function."""
    if local.declares:
        for span in inner:
            if span.start <= start + local.at < span.end:
                return local._replace(until=min(local.until, span.end - start))
    return local
