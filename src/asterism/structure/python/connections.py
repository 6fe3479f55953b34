"""Everything the Python type checker knows of one symbol, under the names of our index."""

import re
from collections.abc import Iterator
from typing import Any

from asterism.structure.positions import SymbolTarget, find_item, is_returned, unknown
from asterism.structure.python.paths import PythonFile
from asterism.structure.python.references import (
    CheckedMeaning,
    PythonResolver,
    bases,
    find_word,
    flows_in,
    flows_out,
    references_to,
    value_of,
)
from asterism.types.errors import ServerRefused
from asterism.types.files import display_path
from asterism.types.outline import Reference
from asterism.types.structure import (
    Connections,
    Edge,
    Fact,
    Gap,
    Known,
    Member,
    SymbolPlace,
    TypeFlow,
)

_BODIES = frozenset({"function", "method"})
_MAKERS = frozenset({"__init__", "__new__", "__post_init__"})
_PROPERTIES = frozenset({"property", "cached_property", "functools.cached_property"})
# Decorators of the language that say how a method is bound; they are not listed as calls.
_BINDING = frozenset({"property", "staticmethod", "classmethod", "super"})
_CALLED = re.compile(rb"\s*\(")
_DECORATING = re.compile(rb"\s*@\s*(?:\w+\s*\.\s*)*")
# `@name.setter` declares more of a property, it does not read it.
_OTHER_HALF = re.compile(rb"\.(?:setter|getter|deleter)\s*\n")
_DOTTED = re.compile(r"\w+(?:\.\w+)*")


def connections_of(resolver: PythonResolver, target: SymbolTarget) -> Connections:
    """What is known of a target; whatever is not known is among the gaps."""
    file = resolver.files.get(f"{resolver.files.root}/{target.path}")
    if file is None:
        return unknown(target, f"{display_path(target.path)} is not there any more")
    index = find_item(file.outline, target)
    if index is None:
        return unknown(target, f"{display_path(target.path)} no longer declares {target.name}")
    return _Asking(resolver, file, index).answer()


class _Uses:
    """References sorted by what they do."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.callers: dict[SymbolPlace, list[int]] = {}
        self.users: dict[SymbolPlace, list[int]] = {}
        self.subtypes: dict[SymbolPlace, list[int]] = {}


class _Asking:
    """The questions about one symbol; a question the checker refuses leaves a gap."""

    def __init__(self, resolver: PythonResolver, file: PythonFile, index: int) -> None:
        self._resolver = resolver
        self._file = file
        self._index = index
        self._item = file.item(index)
        self._gaps: list[Gap] = []

    def answer(self) -> Connections:
        """All facts together."""
        signature, types_in, types_out = self._shape()
        kind, value = self._value()
        uses = self._uses()
        return Connections(
            symbol=self._file.place(self._index),
            kind=self._item.kind,
            signature=signature,
            modifiers=self._item.modifiers,
            is_exported=self._item.exported,
            extends=self._bases(),
            subtypes=_edges(uses.subtypes) if uses else (),
            calls=self._calls(),
            callers=_edges(uses.callers) if uses else (),
            users=_edges({p: n for p, n in uses.users.items() if p not in uses.callers})
            if uses
            else (),
            references=tuple(sorted(uses.files - {self._file.path})) if uses else None,
            types_in=types_in,
            types_out=types_out,
            members=self._members(),
            type=kind,
            value=value,
            gaps=tuple(self._gaps),
        )

    def _refused(self, error: ServerRefused, *facts: Fact) -> None:
        self._gaps.append(Gap(facts, f"the type checker refused: {error}"))

    def _shape(self) -> tuple[str, tuple[TypeFlow, ...], tuple[TypeFlow, ...]]:
        item = self._item
        try:
            if item.kind in _BODIES:
                return (
                    item.signature,
                    flows_in(self._resolver, self._file, item),
                    flows_out(self._resolver, self._file, item),
                )
            for child in item.children if item.kind == "class" else ():
                if self._file.item(child).name == "__init__":
                    made = flows_in(self._resolver, self._file, self._file.item(child))
                    return item.signature, made, ()
        except ServerRefused as error:
            self._refused(error, Fact.signature, Fact.types_in, Fact.types_out)
        return item.signature, (), ()

    def _value(self) -> tuple[str | None, str | None]:
        if self._item.kind in _BODIES or self._item.kind == "class":
            return None, None
        try:
            return value_of(self._resolver, self._file, self._item)
        except ServerRefused as error:
            self._refused(error, Fact.value)
            return None, None

    def _bases(self) -> tuple[Edge, ...]:
        """The bases as written: the checker leaves out those it cannot resolve."""
        item = self._item
        if item.kind != "class" or item.body is None:
            return ()
        found = []
        try:
            for name in bases(item.signature):
                offset = find_word(self._file, name, item.name_offset, item.body.start)
                if offset is not None:
                    meaning = self._resolver.meaning(self._file, offset, name)
                    found.append(meaning.edge(self._file.line(offset)))
        except ServerRefused as error:
            self._refused(error, Fact.extends)
        return tuple(found)

    def _meaning(self, item: Any) -> CheckedMeaning | None:
        """The place of an entry of a hierarchy."""
        start = item["selectionRange"]["start"]
        meaning = self._resolver.at(item["uri"], start["line"], start["character"], item["name"])
        if meaning is not None and meaning.place.path is None and meaning.place.module is None:
            module = str(item.get("detail") or "").partition(".")[0] or None
            return meaning._replace(place=meaning.place._replace(module=module))
        return meaning

    def _uses(self) -> _Uses | None:
        uses = _Uses()
        is_property = not _PROPERTIES.isdisjoint(self._item.decorators)
        made_by = self._made_by()
        offset = self._item.name_offset
        if made_by is not None:
            offset = made_by
            self._gaps.append(
                Gap(
                    (Fact.callers,),
                    f"calls of {self._item.name} through super() are not looked for",
                )
            )
        try:
            found = references_to(self._resolver, self._file, offset)
        except ServerRefused as error:
            self._refused(error, Fact.references, Fact.callers, Fact.subtypes)
            return None
        for file, start, end in found:
            if file.named(start) is not None:
                continue
            if made_by is not None and not _is_call(file, start, end):
                continue
            uses.files.add(file.path)
            line = file.line(start)
            if file.import_at(line) is not None or _OTHER_HALF.match(file.source.decoded, end):
                continue
            if _is_base(file, start, end):
                makers = uses.subtypes
            else:
                is_call = is_property or _is_call(file, start, end)
                makers = uses.callers if is_call else uses.users
            makers.setdefault(file.place(file.around(start)), []).append(line)
        return uses

    def _made_by(self) -> int | None:
        """Of a constructor, the name of its class: a call of the class calls it.

        The name `__init__` itself is in every file, and asking who means this one takes seconds.
        """
        parent = self._item.parent
        if self._item.name not in _MAKERS or parent is None:
            return None
        return self._file.item(parent).name_offset

    def _calls(self) -> tuple[Edge, ...]:
        """What the checker says is called, and what only the imports explain."""
        makers = {self._index, *self._parts(), *self._returned(self._index)}
        found: dict[CheckedMeaning, list[int]] = {}
        seen: set[int] = set()
        try:
            for index in sorted(makers):
                offset = self._file.item(index).name_offset
                for item in self._resolver.ask("prepareCallHierarchy", self._file, offset):
                    answer = self._resolver.client.request(
                        "callHierarchy/outgoingCalls", {"item": item}
                    )
                    for call in answer or ():
                        self._take(call, makers, found, seen)
        except ServerRefused as error:
            self._refused(error, Fact.calls)
            return ()
        for meaning, line in (*self._overlooked(makers, seen), *self._properties(makers, seen)):
            found.setdefault(meaning, []).append(line)
        ordered = sorted(_last_halves(found).items(), key=lambda entry: entry[1][0])
        return tuple(meaning.edge(*dict.fromkeys(sorted(lines))) for meaning, lines in ordered)

    def _take(
        self, call: Any, makers: set[int], found: dict[CheckedMeaning, list[int]], seen: set[int]
    ) -> None:
        meaning = self._meaning(call["to"])
        if meaning is None or (meaning.place.path is None and meaning.place.name in _BINDING):
            return
        for place in call["fromRanges"]:
            start = place["start"]
            offset = self._file.offset(start["line"], start["character"])
            if self._file.around(offset) in makers:
                # One call may be of several: whatever the types of its receiver have.
                seen.add(offset)
                found.setdefault(meaning, []).append(start["line"] + 1)

    def _parts(self) -> Iterator[int]:
        """What a class runs when it is made: `__init__` and its attributes."""
        if self._item.kind != "class":
            return
        for child in self._item.children:
            item = self._file.item(child)
            if item.is_symbol and (item.name == "__init__" or item.kind not in (*_BODIES, "class")):
                yield child

    def _returned(self, index: int) -> Iterator[int]:
        """The functions inside a function that it returns, as a decorator does."""
        for child in self._file.item(index).children:
            if is_returned(
                self._file.source.decoded, self._file.item(index), self._file.item(child)
            ):
                yield child
                yield from self._returned(child)

    def _overlooked(self, makers: set[int], seen: set[int]) -> Iterator[tuple[CheckedMeaning, int]]:
        """Calls that the checker says nothing of.

        Those of imported names that nothing declares, as `requests.get()` without requests, and
        those that give a variable its value.
        """
        for used, offset in self._used(makers, seen):
            written = f"{used.receiver}.{used.name}" if used.receiver else used.name
            after = offset + len(used.name.encode())
            if not _DOTTED.fullmatch(written) or not _is_call(self._file, offset, after):
                continue
            meaning = self._resolver.meaning(self._file, offset, written)
            is_import = meaning.known is Known.by_name and meaning.place.module
            is_value = meaning.known is Known.resolved and self._is_variable(used.enclosing)
            if is_import or is_value:
                yield meaning, used.line

    def _is_variable(self, index: int | None) -> bool:
        return index is not None and self._file.item(index).kind not in (*_BODIES, "class")

    def _properties(self, makers: set[int], seen: set[int]) -> Iterator[tuple[CheckedMeaning, int]]:
        """Properties that are read or written, which is a call without parentheses."""
        known: dict[tuple[str, str], CheckedMeaning | None] = {}
        for used, offset in self._used(makers, seen):
            if not used.receiver:
                continue
            key = (used.receiver, used.name)
            if key not in known:
                meaning = self._resolver.meaning(self._file, offset, ".".join(key))
                known[key] = meaning if self._is_property(meaning.place) else None
            if (meant := known[key]) is not None:
                yield meant, used.line

    def _used(self, makers: set[int], seen: set[int]) -> Iterator[tuple[Reference, int]]:
        """The names that some symbols use and that are not accounted for, with their offsets."""
        source = self._file.source.decoded
        starts = [0, *(found.end() for found in re.finditer(b"\n", source))]
        for used in self._file.outline.references:
            offset = starts[used.line - 1] + used.column
            if used.enclosing in makers and not used.local and offset not in seen:
                yield used, offset

    def _is_property(self, place: SymbolPlace) -> bool:
        file = self._resolver.files.get(f"{self._resolver.files.root}/{place.path}")
        return file is not None and any(
            item.qualified_name == place.name and not _PROPERTIES.isdisjoint(item.decorators)
            for _, item in file.outline.symbols()
        )

    def _members(self) -> tuple[Member, ...]:
        if self._item.kind in _BODIES:
            return ()
        return tuple(
            Member(item.name, item.kind, item.signature, self._file.line(item.name_offset))
            for item in map(self._file.item, self._item.children)
            if item.is_symbol
        )


def _last_halves(found: dict[CheckedMeaning, list[int]]) -> dict[CheckedMeaning, list[int]]:
    """Without the overloads of a function: the last declaration is the one that runs."""
    last: dict[tuple[str | None, str], int] = {}
    for meaning in found:
        key = (meaning.place.path, meaning.place.name)
        last[key] = max(last.get(key, 0), meaning.place.line or 0)
    return {
        meaning: lines
        for meaning, lines in found.items()
        if (meaning.place.line or 0) == last[meaning.place.path, meaning.place.name]
    }


def _is_call(file: PythonFile, start: int, end: int) -> bool:
    """Whether a name is called where it stands, as a decorator too."""
    source = file.source.decoded
    if _CALLED.match(source, end):
        # `class Child(Base)` and `def name(…)` are met by their own names.
        return True
    line_start = source.rfind(b"\n", 0, start) + 1
    # `@app.get("/")` calls `get`, and `@decorate(app)` calls `decorate`, neither calls `app`.
    is_last = source[end : end + 1] != b"."
    return is_last and _DECORATING.fullmatch(source, line_start, start) is not None


def _is_base(file: PythonFile, start: int, end: int) -> bool:
    """Whether a name is one of the bases in the head of a class."""
    index = file.around(start)
    item = file.item(index) if index is not None else None
    if item is None or item.kind != "class" or item.body is None:
        return False
    if not item.name_offset < start < item.body.start:
        return False
    word = file.source.decoded[start:end].decode("utf-8", "replace")
    return word in {base.rpartition(".")[2] for base in bases(item.signature)}


def _edges(makers: dict[SymbolPlace, list[int]]) -> tuple[Edge, ...]:
    return tuple(
        Edge(place, Known.resolved, lines=tuple(dict.fromkeys(lines)))
        for place, lines in makers.items()
    )
