"""Python signatures taken apart, in any version's syntax: parameters, annotations, bases."""

import re
from collections.abc import Iterator
from typing import NamedTuple

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
