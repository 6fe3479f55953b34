"""What a type extends and implements, as its own header says."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from asterism.analysis.graph.scopes import CONTAINERS, FileScope
from asterism.domain.outline import Item, Reference

_IMPLEMENTS = re.compile(rb"\b(implements|with|conforms)\b")
# `impl Trait for Type`: what stands before `for` is implemented, what stands behind it is the type.
_FOR = re.compile(rb"\bfor\b")
# Marks behind which a header names other types; what stands before is the type's own business.
_WORDS = re.compile(rb"\b(?:extends|implements|with)\b")
_MARKS = {
    **dict.fromkeys(("csharp", "cpp", "swift", "kotlin", "rust"), re.compile(rb":(?!:)")),
    **dict.fromkeys(("java", "typescript", "javascript", "scala", "php"), _WORDS),
    "python": re.compile(rb"\("),
    "ruby": re.compile(rb"<"),
}
# Conditions on type arguments stand at the end and name no bases.
_CONDITIONS = re.compile(rb"\bwhere\b")
# A keyword argument in the bases of a class of Python.
_KEYWORD = re.compile(rb"\w\s*=\s*$")
# Lines of a body that add to a type's bases.
_MIXINS = {
    "ruby": re.compile(rb"^[^\S\n]*(?:include|prepend|extend)[^\S\n]++[\w:, ]*$"),
    "php": re.compile(rb"^[^\S\n]*use[^\S\n]++[\w\\, ]*$"),
    "elixir": re.compile(rb"^[^\S\n]*@behaviour\s+[\w.]*$"),
}
_EMBEDDED = re.compile(r"\*?[\w.]+")
_INTERFACE_NAME = re.compile(r"I[A-Z]")


class Base(NamedTuple):
    """A type that another one names in its header."""

    reference: Reference
    implements: bool
    """Whether it is an interface or a trait, as far as the header tells."""


def bases_of(scope: FileScope, index: int) -> list[Base]:
    """The types in a type's header, in order; arguments of generics are left out."""
    item = scope.outline.items[index]
    if item.kind not in CONTAINERS:
        return []
    if scope.language == "go":
        return [*_embedded(scope, item)]
    start = item.span.start if item.kind in ("impl", "instance") else item.name_offset
    end = item.body.start if item.body else item.span.end
    inside = [
        (reference, scope.offset(reference.line, reference.column))
        for reference in scope.references_in.get(index, ())
    ]
    header = scope.source[start:end]
    condition = _CONDITIONS.search(header)
    header = header[: condition.start()] if condition else header
    named = [(ref, at - start) for ref, at in inside if 0 <= at - start < len(header)]
    return [*_chosen(scope, item, header, named), *_mixed_in(scope, inside, end)]


def _chosen(
    scope: FileScope, item: Item, header: bytes, found: list[tuple[Reference, int]]
) -> Iterator[Base]:
    if item.kind == "impl":
        split = _FOR.search(header)
        before = [ref for ref, at in found if split is not None and at < split.start()]
        # The trait is the last name that stands in no brackets.
        plain = [ref for ref, at in found if ref in before and not _depth(header[4:at])]
        yield from (Base(ref, True) for ref in plain[-1:])
        return
    if item.kind == "instance":
        yield from (Base(ref, True) for ref, _ in found[:1])
        return
    mark = _MARKS.get(scope.language)
    first = _first_mark(mark, header, len(item.name.encode())) if mark else None
    if first is None:
        return
    implements = _IMPLEMENTS.search(header)
    allowed = int(scope.language in ("python", "ruby"))
    for number, (reference, at) in enumerate(found):
        following = found[number + 1][0] if number + 1 < len(found) else None
        if at < first or _depth(header[first - allowed : at]) > allowed:
            continue
        if following is not None and _is_package(header, found, number):
            continue
        if scope.language == "python" and _KEYWORD.search(header[:at]):
            continue
        yield Base(reference, _is_interface(scope, header, reference, at, implements))


def _first_mark(mark: re.Pattern[bytes], header: bytes, start: int) -> int | None:
    """Behind the first mark that stands in no brackets, those of type arguments and parameters."""
    for found in mark.finditer(header, start):
        if _depth(header[start : found.start()]) == 0:
            return found.end()
    return None


def _is_package(header: bytes, found: list[tuple[Reference, int]], number: int) -> bool:
    """Whether a name only says where the next one is: `store.Box`."""
    reference, at = found[number]
    end = at + len(reference.name.encode())
    return re.match(rb"\s*(?:\.|::|\\)\s*\w", header[end : end + 8]) is not None


def _is_interface(
    scope: FileScope,
    header: bytes,
    reference: Reference,
    at: int,
    implements: re.Match[bytes] | None,
) -> bool:
    if scope.language == "csharp":
        return _INTERFACE_NAME.match(reference.name) is not None
    if scope.language == "kotlin":
        # A class is called, an interface is only named.
        end = at + len(reference.name.encode())
        return re.match(rb"\s*(?:<[^()]*>)?\s*\(", header[end:]) is None
    return implements is not None and at > implements.start()


def _mixed_in(scope: FileScope, inside: list[tuple[Reference, int]], end: int) -> Iterator[Base]:
    """Modules and traits that the body takes in."""
    pattern = _MIXINS.get(scope.language)
    for reference, at in inside if pattern else ():
        line = scope.source[scope.offset(reference.line, 0) : at]
        is_named = reference.name not in ("include", "extend", "prepend")
        behind = scope.source[at + len(reference.name.encode()) :][:2]
        is_last = not behind.startswith((b"::", b".", b"\\"))
        if at >= end and is_named and is_last and pattern and pattern.match(line):
            yield Base(reference, True)


def _embedded(scope: FileScope, item: Item) -> Iterator[Base]:
    """Fields of Go that are a type and no name: their members are the struct's."""
    for child in item.children:
        field = scope.outline.items[child]
        if field.kind != "property" or not _EMBEDDED.fullmatch(field.signature):
            continue
        for reference in scope.references_in.get(child, ()):
            if reference.name == field.name:
                yield Base(reference, False)


def _depth(text: bytes) -> int:
    depth = 0
    for mark in text.replace(b"->", b"").replace(b"=>", b""):
        depth += (mark in b"(<[{") - (mark in b")>]}")
    return depth
