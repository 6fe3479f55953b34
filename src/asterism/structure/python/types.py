"""Python signatures taken apart, in any version's syntax: parameters, annotations, bases."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from asterism.structure.python.places import PythonFile
from asterism.structure.python.references import Resolver, find_word
from asterism.types.outline import Item
from asterism.types.structure import Edge, TypeFlow

_OPEN, _CLOSE = "([{", ")]}"
_NAME = re.compile(r"[^\W\d]\w*")
_STRING = re.compile(r"""[A-Za-z]{0,2}(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")""")

# Words of annotations that name no type of anybody's.
_KEYWORDS = frozenset(
    {"None", "True", "False", "and", "or", "not", "in", "is", "lambda", "if", "else"}
)


class Parameter(NamedTuple):
    """One parameter as written."""

    name: str
    annotation: str


def parameters(signature: str) -> list[Parameter]:
    """The parameters of a function that have an annotation."""
    found = []
    for part in split(_inside(signature)):
        name, colon, rest = _cut(part, ":")
        if colon:
            annotation, _, _ = _cut(rest, "=")
            found.append(Parameter(name.strip().lstrip("*"), annotation.strip()))
    return found


def returned(signature: str) -> str | None:
    """The annotation of what a function returns."""
    start = _opening(signature)
    if start is None:
        return None
    _, arrow, rest = signature[_closing(signature, start) :].partition("->")
    return rest.strip().rstrip(":").strip() if arrow else None


def bases(signature: str) -> list[str]:
    """The base classes in a class's head, without type arguments; keywords are none."""
    if _opening(signature) is None:
        return []
    found = []
    for part in split(_inside(signature)):
        text = part.strip()
        if text and not text.startswith("*") and not _cut(text, "=")[1]:
            found.append(text.partition("[")[0].strip())
    return [name for name in found if re.fullmatch(r"[\w.]+", name)]


def names_in(annotation: str) -> Iterator[str]:
    """The names of types in an annotation, dotted where written so, those in quotes too."""
    literal = re.compile(r"\bLiteral\[[^\]]*\]")
    for found in re.finditer(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*", literal.sub("", annotation)):
        name = re.sub(r"\s", "", found.group())
        if name not in _KEYWORDS:
            yield name


def split(text: str) -> Iterator[str]:
    """The parts between commas that stand in no bracket and no string."""
    while text.strip():
        part, _, text = _cut(text, ",")
        yield part


def _cut(text: str, mark: str) -> tuple[str, str, str]:
    """Partition at the first mark that stands in no bracket and no string."""
    depth, at = 0, 0
    while at < len(text):
        string = _STRING.match(text, at)
        if string:
            at = string.end()
            continue
        if text[at] in _OPEN:
            depth += 1
        elif text[at] in _CLOSE:
            depth -= 1
        elif depth == 0 and text.startswith(mark, at):
            return text[:at], mark, text[at + len(mark) :]
        at += 1
    return text, "", ""


def _opening(signature: str) -> int | None:
    """Where the parameters open: after the name and the type parameters it may have."""
    head = re.match(r"(?:async\s+)?(?:def|class)\s+\w+\s*", signature)
    at = head.end() if head else 0
    if signature[at : at + 1] == "[":
        at = _closing(signature, at)
    found = re.compile(r"\s*\(").match(signature, at)
    return found.end() - 1 if found else None


def _closing(text: str, start: int) -> int:
    """The place after the bracket that closes the one at `start`."""
    depth, at = 0, start
    while at < len(text):
        string = _STRING.match(text, at)
        if string:
            at = string.end()
            continue
        depth += (text[at] in _OPEN) - (text[at] in _CLOSE)
        at += 1
        if depth == 0:
            break
    return at


def _inside(signature: str) -> str:
    start = _opening(signature)
    return "" if start is None else signature[start + 1 : _closing(signature, start) - 1]


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
