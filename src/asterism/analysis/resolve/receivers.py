"""What a member's receiver means, and what a type extends and implements."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from asterism.analysis.resolve.candidates import Meaning
from asterism.analysis.resolve.scopes import CONTAINERS, FileScope
from asterism.languages.registry import facets_of
from asterism.types.outline import Item, Reference

_TYPEDEF = re.compile(
    r"^typedef\s+(?:const\s+)?(?:struct\s+|enum\s+|union\s+)?(\w+)\s*\**\s*\w+;?$"
)
_EQUALS = re.compile(r"=\s*([A-Za-z_][\w.:\\]*)\s*;?\s*$")
_THIS = re.compile(r"=\s*@This\(\)\s*;?\s*$")


class MemberOwner(NamedTuple):
    """A type, or else a module or a folder as a whole."""

    path: str
    container: tuple[str, ...] = ()
    folder: bool = False
    confidence: float = 1.0


def alias_of(item: Item, language: str) -> str | None:
    """The other type that a name is an alias of, as written."""
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
    """Whether a constant of Zig is an alias of the type around it."""
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


def at_most(owner: MemberOwner | Meaning | None, confidence: float) -> MemberOwner | Meaning | None:
    """The same owner, no surer than what led to it."""
    if owner is None or owner.confidence <= confidence:
        return owner
    return owner._replace(confidence=confidence)


_SELF = frozenset({"self", "this", "cls", "Self", "$this", "static", "@self", "__MODULE__"})
_SUPER = frozenset({"super", "base", "parent", "super()", "SUPER"})
# Joints of a chain in one language or another; `?.`, `!.` and `&.` are safe ways to step.
_JOINT = re.compile(r"\?\.|!\.|&\.|->|::|\.|:")
# Quoted text may contain brackets that close nothing.
_LITERAL = re.compile(r"\"(?:[^\"\\]|\\.){0,999}+\"|'(?:[^'\\]|\\.){0,999}+'")
_CAST = re.compile(r"\(\(([A-Za-z_][\w.:<>?,* ]*)\)\s*[^\s)].*\)$", re.DOTALL)
_AS = re.compile(r"\([^()]*\bas[!?]?\s+([A-Za-z_][\w.:<>?, ]*)\)$")
# `name!(…)` of Rust.
_MACRO = re.compile(rb"!\s*[(\[{]")
_LAST_JOINT = re.compile(r"(?:\?\.|!\.|&\.|->|::|\.|:|\\)$")
_TYPE_ARGUMENTS = re.compile(r"(?:::)?<[^<>()]*>$")
_CALL = re.compile(r"\((?:[^()]|\([^()]*\))*\)$|\{[^{}]*\}$")
# Calls of these on a type make an object of it.
MAKERS = frozenset({"new", "create", "build", "default", "init", "of", "getInstance"})
_NAME = re.compile(r"[@$]{0,2}\w+[?!]?$")


class Receiver(NamedTuple):
    """A chain of names, its first told apart."""

    first: str = ""
    """Empty where the chain does not begin with a name."""
    rest: tuple[str, ...] = ()
    is_self: bool = False
    is_super: bool = False


LONGEST_RECEIVER = 4_000
"""Characters of a receiver that is taken apart; its patterns take up to the square of them."""


@lru_cache(maxsize=4096)
def receiver_of(text: str) -> Receiver:
    """Split a receiver into its names; None if it contains anything but names."""
    if len(text) > LONGEST_RECEIVER:
        return Receiver()
    cleaned = (
        text.strip().removeprefix("new ").lstrip("&*(").rstrip(")") if "(" not in text else text
    )
    cleaned = cleaned.strip().removeprefix("new ").removeprefix("await ").lstrip("&*")
    if cleaned in _SUPER:
        return Receiver(is_super=True)
    steps = _steps(cleaned)
    if not steps or not all(_NAME.match(step) for step in steps):
        return Receiver()
    first, *rest = steps
    if first in _SELF:
        return Receiver(rest=tuple(rest), is_self=True)
    if first.startswith("@"):
        # A variable of the object, as Ruby writes it: a member of that name.
        return Receiver(rest=(first, *rest), is_self=True)
    return Receiver(first.lstrip("$"), tuple(rest))


def _steps(text: str) -> list[str]:
    """The names of a chain; `Lid.new(3)` and `Lid(3)` are both a Lid."""
    bare = _CALL.sub("", text)
    steps = [step for step in _JOINT.split(bare) if step]
    if bare == text or not steps:
        return steps
    if len(steps) > 1 and steps[-1] in MAKERS:
        return steps[:-1]
    # Of what a function returns, nothing is known by its name; of a type that is called, all.
    return steps if steps[-1][:1].isupper() else []


def is_foreign(text: str) -> bool:
    """Whether a receiver that nothing explains is a literal, or a type of another package."""
    bare = text.lstrip("(&*")
    return bare[:1].isupper() or bare[:1].isdigit() or bare[:1] in "\"'`["


@lru_cache(maxsize=4096)
def cast_to(text: str) -> str | None:
    """The type of a cast: `Lid` of `((Lid) thing)` and of `(thing as Lid)`."""
    found = _CAST.match(text) or _AS.match(text)
    return found.group(1) if found else None


@lru_cache(maxsize=4096)
def called(text: str) -> str | None:
    """What is called, of a receiver that is a call: `lids.make` of `lids.make(3)`."""
    if len(text) > LONGEST_RECEIVER:
        return None
    bare = _LITERAL.sub("''", text.strip()).removeprefix("await ").removeprefix("new ").strip()
    if bare[:1] == "(" and _closing_of(bare) == 0:
        bare = bare[1:-1].strip().removeprefix("await ").removeprefix("new ").strip()
    if bare[-1:] not in (")", "}") or bare == "super()":
        return None
    callee = bare[: _closing_of(bare)].rstrip()
    callee = _TYPE_ARGUMENTS.sub("", callee).lstrip("&*")
    return callee if callee and (callee[-1].isalnum() or callee[-1] in "_!?") else None


def split_chain(text: str) -> tuple[str, str]:
    """What stands before the last joint of a chain, and the name behind it; brackets are whole."""
    depth = 0
    for at in range(len(text) - 1, 0, -1):
        mark = text[at]
        depth += (mark in ")]}") - (mark in "([{")
        if depth or mark not in ".:>\\":
            continue
        found = _LAST_JOINT.search(text, 0, at + 1)
        if found is not None and found.end() == at + 1:
            return text[: found.start()], text[at + 1 :]
    return "", text


def _closing_of(text: str) -> int:
    """Where the bracket opens that the last character closes; -1 where none does."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] in ")]}") - (text[at] in "([{")
        if depth == 0:
            return at
    return -1


def is_macro_use(scope: FileScope, reference: Reference) -> bool:
    """Whether a name stands as `name!(…)`, which only a macro can."""
    end = scope.offset(reference.line, reference.column) + len(reference.name.encode())
    return _MACRO.match(scope.source, end) is not None


_IMPLEMENTS = re.compile(rb"\b(implements|with|conforms)\b")
# `impl Trait for Type`: the trait comes before `for`, the type after it.
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
        # The trait is the last name outside of brackets.
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
    """The text after the first mark outside of brackets (type arguments and parameters)."""
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
