"""Types of Python symbols: as annotated, or as the type checker infers them, with their origins."""

import re

from asterism.structure.python.places import PythonFile
from asterism.structure.python.resolving import Resolver, find_word
from asterism.structure.python.types import names_in, parameters, returned
from asterism.types.outline import Item
from asterism.types.structure import Edge, TypeFlow

# A value longer than this is read in the source, not in a summary.
LONGEST_VALUE = 80

# What the language and its typing bring; where it comes from need not be said.
_LANGUAGE = frozenset(
    {"builtins", "typing", "typing_extensions", "types", "collections", "_typeshed"}
)
_CODE = re.compile(r"```\w*\n(.*?)\n```", re.DOTALL)
_LITERAL = re.compile(r"Literal\[(.+)\]$")
_ASSIGNED = re.compile(
    r"^[\w.]++\s*+(?::\s*+(?P<type>[^=]*[^=\s]))?\s*+(?:=\s*+(?P<value>.+))?$", re.DOTALL
)


def hover(resolver: Resolver, file: PythonFile, item: Item) -> str:
    """What the checker shows for a name, on one line."""
    for found in resolver.ask("hover", file, item.name_offset):
        contents = found["contents"]
        text = contents["value"] if isinstance(contents, dict) else str(contents)
        code = _CODE.search(text)
        lines = (code.group(1) if code else text).split("\n")
        joined = re.sub(r"\s+", " ", " ".join(lines))
        return joined.replace("( ", "(").replace(" )", ")").replace(",)", ")")
    return ""


def flows_in(resolver: Resolver, file: PythonFile, item: Item) -> tuple[TypeFlow, ...]:
    """The annotated parameters of a function, with where their types are declared."""
    return tuple(
        TypeFlow(name, annotation, origins(resolver, file, item, annotation))
        for name, annotation in parameters(item.signature)
    )


def flows_out(resolver: Resolver, file: PythonFile, item: Item) -> tuple[TypeFlow, ...]:
    """What a function says it returns; the checker does not infer what nobody wrote."""
    result = returned(item.signature)
    if result is None:
        return ()
    return (TypeFlow(None, result, origins(resolver, file, item, result)),)


def origins(resolver: Resolver, file: PythonFile, item: Item, annotation: str) -> tuple[Edge, ...]:
    """Where the types in an annotation of an item's head are declared."""
    end = item.body.start if item.body else item.span.end
    found: dict[object, Edge] = {}
    for name in dict.fromkeys(names_in(annotation)):
        offset = find_word(file, name, item.name_offset, end)
        if offset is None:
            continue
        meaning = resolver.meaning(file, offset, name)
        if meaning.place.module in _LANGUAGE or (meaning.place.path, meaning.place.module) == (
            None,
            None,
        ):
            continue
        found.setdefault(meaning.place, meaning.edge())
    return tuple(found.values())


def value_of(resolver: Resolver, file: PythonFile, item: Item) -> tuple[str | None, str | None]:
    """The type and the short value of a variable or an attribute."""
    assigned = _ASSIGNED.match(item.signature)
    written = assigned.group("type") if assigned else None
    value = assigned.group("value") if assigned else None
    if value is not None and (len(value) > LONGEST_VALUE or "\n" in value):
        value = None
    if written:
        return written.strip(), value
    shown = hover(resolver, file, item)
    literal = _LITERAL.match(shown)
    if literal:
        shown = _literal_type(literal.group(1))
    return (shown if shown and "Unknown" not in shown else None), value


def _literal_type(text: str) -> str:
    if text in ("True", "False"):
        return "bool"
    if text[:1] in "\"'":
        return "str"
    if text[:2] in ('b"', "b'"):
        return "bytes"
    return "int" if text.lstrip("-").isdigit() else f"Literal[{text}]"
