"""What a type extends and implements, as its own header says."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from asterism.analysis.resolve.scopes import CONTAINERS, FileScope
from asterism.types.outline import Item, Reference

_IMPLEMENTS = re.compile(rb"\b(implements|with|conforms)\b")
# `impl Trait for Type`: what stands before `for` is implemented, what stands behind it is the type.
_FOR = re.compile(rb"\bfor\b")
# Conditions on type arguments stand at the end and name no bases.
_CONDITIONS = re.compile(rb"\bwhere\b")
# A keyword argument in the bases of a class of Python.
_KEYWORD = re.compile(rb"\w\s*=\s*$")
_EMBEDDED = re.compile(r"\*?[\w.]+")


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
    if scope.facets.bases.embeds:
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
    facets = scope.facets.bases
    first = _first_mark(facets.mark, header, len(item.name.encode())) if facets.mark else None
    if first is None:
        return
    implements = _IMPLEMENTS.search(header)
    for number, (reference, at) in enumerate(found):
        following = found[number + 1][0] if number + 1 < len(found) else None
        if at < first or _depth(header[first - facets.depth : at]) > facets.depth:
            continue
        if following is not None and _is_package(header, found, number):
            continue
        if facets.keywords and _KEYWORD.search(header[:at]):
            continue
        yield Base(reference, _is_interface(scope, header, reference, at, implements))


def _first_mark(mark: bytes, header: bytes, start: int) -> int | None:
    """Behind the first mark that stands in no brackets, those of type arguments and parameters."""
    for found in re.compile(mark).finditer(header, start):
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
    facets = scope.facets.bases
    if facets.interface_name:
        return re.match(facets.interface_name, reference.name) is not None
    if facets.classes_are_called:
        end = at + len(reference.name.encode())
        return re.match(rb"\s*(?:<[^()]*>)?\s*\(", header[end:]) is None
    return implements is not None and at > implements.start()


def _mixed_in(scope: FileScope, inside: list[tuple[Reference, int]], end: int) -> Iterator[Base]:
    """Modules and traits that the body takes in."""
    pattern = scope.facets.bases.mixins
    for reference, at in inside if pattern else ():
        line = scope.source[scope.offset(reference.line, 0) : at]
        is_named = reference.name not in ("include", "extend", "prepend")
        behind = scope.source[at + len(reference.name.encode()) :][:2]
        is_last = not behind.startswith((b"::", b".", b"\\"))
        if at >= end and is_named and is_last and re.match(pattern, line):
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
