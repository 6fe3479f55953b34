"""What the names in one file mean: uses to declarations of the same file."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from asterism.languages.registry import facets_of
from asterism.types.outline import Item, Outline, Reference

Resolver = Callable[[Reference], int | None]
"""A better answer than names give: the byte offset of the declared name in this file.

An offset at which this file declares nothing, as -1, means that the name is declared elsewhere; it
may still be imported. None means that nothing better is known.
"""

_SELVES = frozenset({"this", "self", "cls", "Self", "$this", "static", "@", "__MODULE__"})
"""Receivers that mean the type or the module around."""

_FUNCTIONS = frozenset({"function", "method", "constructor"})

_TYPES = frozenset(
    {"class", "interface", "protocol", "trait", "struct", "record", "union", "enum", "object"}
    | {"actor", "annotation", "impl", "instance", "extension", "type"}
)

_ADDITIONS = frozenset({"impl", "instance", "extension"})
"""What adds to a type that is declared elsewhere, and does not declare its name."""

_SEPARATORS = (".", "::", "->", "\\")


class FileMeaning(NamedTuple):
    """What a name means: items of the file, or imports by their number."""

    items: tuple[int, ...] = ()
    imports: tuple[int, ...] = ()


_NOTHING = FileMeaning()


class FileNames:
    """The declarations of one file by scope, and what its references mean.

    A name without receiver is looked up from the innermost scope outwards, then among imports.
    Members of a type are found through `this` and its like, through the type's own name, and in
    languages that allow it without any receiver. A local means nothing outside its function. On
    any other receiver only a resolver can tell, because the answer is that receiver's type.
    """

    def __init__(self, outline: Outline, resolver: Resolver | None = None) -> None:
        self._items = outline.items
        self._facets = facets_of(outline.language)
        self._resolver = resolver
        self._scopes: dict[tuple[str, ...], dict[str, list[int]]] = defaultdict(
            lambda: defaultdict(list)
        )
        self._kinds: dict[tuple[str, ...], set[str]] = defaultdict(set)
        self._offsets: dict[int, int] = {}
        for index, item in enumerate(outline.items):
            if item.is_symbol:
                self._declare(index, item)
        self._imports: dict[str, list[int]] = defaultdict(list)
        for number, entry in enumerate(outline.imports):
            if entry.binds:
                for name in entry.names:
                    self._imports[name.local].append(number)
        self._imports.pop("*", None)
        self._homes = [self._home(entry.enclosing) for entry in outline.imports]

    def meaning(self, reference: Reference) -> FileMeaning:
        """The declarations a reference means; nothing for locals and for what is elsewhere."""
        if self._resolver is not None:
            offset = self._resolver(reference)
            if offset is not None and offset in self._offsets:
                return FileMeaning((self._offsets[offset],))
            if offset is not None:
                return FileMeaning(imports=self._imported(reference.name, reference.enclosing))
        if reference.local:
            return _NOTHING
        enclosing = reference.enclosing
        path = self._items[enclosing].path if enclosing is not None else ()
        if reference.receiver is None:
            found: Sequence[int] = self._bare(reference.name, path)
        else:
            found = self._member(reference.name, reference.receiver, path)
        if found:
            return FileMeaning(tuple(found))
        if reference.receiver is None or self._facets.imports.used_as_members:
            return FileMeaning(imports=self._imported(reference.name, enclosing))
        return _NOTHING

    def _declare(self, index: int, item: Item) -> None:
        path = _plain(item.path)
        self._offsets.setdefault(item.name_offset, index)
        self._kinds[path].add(item.kind)
        if item.kind in _ADDITIONS:
            return
        scope = path[:-1]
        name = path[-1] if path else item.name
        self._scopes[scope][name].append(index)
        parent = self._items[item.parent] if item.parent is not None else None
        if parent is None or not scope:
            return
        if parent.kind == "constructor" and item.kind == "property":
            # A parameter of the constructor that is a property of the class.
            self._scopes[scope[:-1]][name].append(index)
        while parent is not None and parent.kind in (*self._facets.scopes.lifted, "constructor"):
            scope = scope[:-1]
            self._scopes[scope][name].append(index)
            parent = self._items[parent.parent] if parent.parent is not None else None

    def _home(self, enclosing: int | None) -> int | None:
        """The symbol inside which an import counts; None for one that counts in the whole file."""
        while enclosing is not None and not self._items[enclosing].is_symbol:
            enclosing = self._items[enclosing].parent
        return enclosing

    def _imported(self, name: str, enclosing: int | None) -> tuple[int, ...]:
        numbers = self._imports.get(name)
        if not numbers:
            return ()
        around: set[int | None] = {None}
        while enclosing is not None:
            around.add(enclosing)
            enclosing = self._items[enclosing].parent
        return tuple(number for number in numbers if self._homes[number] in around)

    def _bare(self, name: str, path: tuple[str, ...]) -> Sequence[int]:
        for scope in _outwards(_plain(path)):
            if scope and not self._is_open(scope, path):
                continue
            if found := self._in_scope(scope, (name,)):
                return found
        return ()

    def _is_open(self, scope: tuple[str, ...], path: tuple[str, ...]) -> bool:
        """Whether names of the scope are seen without a receiver from inside `path`."""
        kinds = self._kinds.get(scope, set())
        open_types = self._facets.scopes.open_types
        if open_types == "yes" or not kinds & _TYPES:
            return True
        if open_types != "body":
            return False
        # In the type's own body, not in a function of it.
        within = _plain(path)
        return len(within) <= len(scope) + 1 and not self._kinds.get(within, set()) & _FUNCTIONS

    def _member(self, name: str, receiver: str, path: tuple[str, ...]) -> Sequence[int]:
        names = (name, f"@{name}", name.removeprefix("$"))
        if receiver in _SELVES or receiver == "(*this)":
            for scope in _outwards(_plain(path)):
                if scope and (found := self._in_scope(scope, names)):
                    return found
            return ()
        words = _words(receiver)
        if not words:
            return ()
        if words[0] in _SELVES:
            return ()
        for scope in _outwards(_plain(path)):
            target = (*scope, *words)
            if target in self._kinds:
                return self._in_scope(target, names)
            # A name with dots in it, as Elixir's modules have.
            if found := self._in_scope(scope, (f"{receiver}.{name}",)):
                return found
        return ()

    def _in_scope(self, scope: tuple[str, ...], names: Sequence[str]) -> Sequence[int]:
        members = self._scopes.get(scope, {})
        return next((members[name] for name in names if members.get(name)), ())


def _plain(path: tuple[str, ...]) -> tuple[str, ...]:
    """The path without nameless scopes: what they declare is seen around them."""
    if not any(part.startswith("(anonymous") for part in path[:-1]):
        return path
    return (*(part for part in path[:-1] if not part.startswith("(anonymous")), path[-1])


def _outwards(path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    return (path[:length] for length in range(len(path), -1, -1))


def _words(receiver: str) -> tuple[str, ...]:
    """`A::B` and `a.b` as names; nothing for calls and other expressions."""
    for mark in _SEPARATORS:
        receiver = receiver.replace(mark, "\0")
    words = tuple(word for word in receiver.split("\0") if word)
    return words if all(word.replace("$", "_").isidentifier() for word in words) else ()
