"""A function's header taken apart: its parameters with their types, and what it returns."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from asterism.languages.facets import TypeFacets
from asterism.languages.registry import facets_of

_OPENING, _CLOSING = "([{<", ")]}>"
_WORD = re.compile(r"[\w$]+")
_ARROW = re.compile(r"\s*(?:->|:|=>)\s*")
# Words that may follow a return type and are no part of it.
_BEHIND = re.compile(
    r"(?<!\s)\s*+(?:\bwhere\b|\bthrows\b|\{|=>|=(?!=)|;|\bdo\b|:\s*$).*", re.DOTALL
)
_RECEIVER = re.compile(r"func\s*\(([^()]*)\)\s*$")
# Words before a type or a parameter that say nothing of the type.
MODIFIERS = re.compile(
    r"^(?:(?:public|private|protected|internal|static|final|abstract|virtual|override|async|extern"
    r"|inline|const|constexpr|unsafe|readonly|ref|out|in|this|params|implicit|mut|sealed|partial"
    r"|synchronized|default|native|explicit|friend|volatile|var|val|vararg|inout|using|new|noalias"
    r"|comptime|struct|enum|union|class|register|open|fileprivate|lazy|weak|unsigned|signed)\b\s*"
    r"|@\w+(?:\([^()]*\))?\s*|\[[^\[\]]*\]\s*|template\s*<[^<>]*>\s*|<[^<>]*>\s*)+"
)


class Parameter(NamedTuple):
    """One parameter; offsets are of the type, in the text that was read."""

    name: str
    type: str
    start: int
    end: int
    is_receiver: bool = False
    """Whether it is the object of a method of Go."""


class Header(NamedTuple):
    """What goes into a function and what comes out of it."""

    parameters: tuple[Parameter, ...] = ()
    returns: str = ""
    start: int = 0
    """Offsets of the returned type in the text."""
    end: int = 0


def header_of(text: str, name_at: int, language: str) -> Header:
    """Read a header; `text` ends where the body begins, its name stands at `name_at`."""
    facets = facets_of(language).types
    if facets.signature == "arrows":
        return _arrows(text, name_at)
    pairs = [*_pairs(text, name_at)]
    if not pairs:
        return Header()
    found = [
        parameter for start, end in pairs for parameter in _parameters(text, start + 1, end, facets)
    ]
    if facets.receiver_before_name:
        receiver = _RECEIVER.search(text, 0, name_at)
        if receiver is not None:
            own = _parameters(text, receiver.start(1), receiver.end(1), facets)
            found += [parameter._replace(is_receiver=True) for parameter in own]
    start, end = _returned(text, name_at, pairs[-1][1] + 1, facets)
    return Header(tuple(found), text[start:end], start, end)


def parts(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """The pieces between commas, of those outside of brackets."""
    depth, at = 0, start
    stop = len(text) if end is None else end
    for index in range(start, stop):
        mark = text[index]
        if mark in _OPENING:
            depth += 1
        elif mark in _CLOSING and not (mark == ">" and text[index - 1] in "-="):
            depth -= 1
        elif mark == "," and depth <= 0:
            yield at, index
            at = index + 1
    if text[at:stop].strip():
        yield at, stop


def _pairs(text: str, start: int) -> Iterator[tuple[int, int]]:
    """The brackets of the parameters: the first pair, and those that follow it at once."""
    at = text.find("(", start)
    while at >= 0:
        depth = 0
        for index in range(at, len(text)):
            depth += (text[index] == "(") - (text[index] == ")")
            if depth == 0:
                break
        else:
            return
        yield at, index
        following = _first_mark(text, index + 1)
        # Only Scala has several lists; a second pair elsewhere belongs to the result.
        at = following if text[following : following + 9] == "(implicit" else -1


def _parameters(text: str, start: int, end: int, facets: TypeFacets) -> list[Parameter]:
    found: list[Parameter] = []
    for first, last in parts(text, start, end):
        read = _parameter(text[first:last], facets)
        if read is None:
            continue
        name, type_start, type_end = read
        found.append(
            Parameter(
                name,
                text[first + type_start : first + type_end].strip(),
                first + type_start,
                first + type_end,
            )
        )
    return _grouped(found) if facets.place == "behind" else found


def _parameter(piece: str, facets: TypeFacets) -> tuple[str, int, int] | None:
    """The name, and the offsets of the type in the piece."""
    whole = _without_default(piece)
    if facets.place == "behind":
        words = _WORD.search(whole)
        if words is None:
            return None
        rest = whole[words.end() :]
        if not rest.strip() or (rest[0] == "." and not rest.startswith("...")):
            # A name whose type follows another name, or a type alone.
            return words.group(), len(whole), len(whole)
        return words.group(), words.end(), len(whole)
    if facets.place == "before":
        names = [*_WORD.finditer(whole)]
        skipped = MODIFIERS.match(whole.lstrip())
        start = len(whole) - len(whole.lstrip()) + (skipped.end() if skipped else 0)
        if not names or names[-1].start() <= start:
            return (names[-1].group(), 0, 0) if names else None
        return names[-1].group().lstrip("$"), start, names[-1].start()
    before, colon, _ = whole.partition(":")
    names = [*_WORD.finditer(before)]
    if not names:
        return None
    return names[-1].group(), len(before) + len(colon), len(whole)


def _without_default(piece: str) -> str:
    at = re.search(r"(?<![=<>!])=(?![=>])", piece)
    return piece[: at.start()] if at else piece


def _grouped(found: list[Parameter]) -> list[Parameter]:
    """`a, b *Box`: a name without a type has the one that follows."""
    following: Parameter | None = None
    for index in range(len(found) - 1, -1, -1):
        if found[index].type:
            following = found[index]
        elif following is not None:
            found[index] = found[index]._replace(
                type=following.type, start=following.start, end=following.end
            )
    return found


def _returned(text: str, name_at: int, behind: int, facets: TypeFacets) -> tuple[int, int]:
    if facets.returns_first:
        before = text[:name_at]
        # Of a C++ definition, the class before the name is no part of the type.
        before = re.sub(r"[\w:<>~]+::\s*$", "", before)
        line = before.rstrip()
        start = len(line) - len(line.lstrip())
        skipped = MODIFIERS.match(line[start:])
        start += skipped.end() if skipped else 0
        arrow = re.match(r"\s*(?:const\s*|noexcept\s*)*->\s*", text[behind:])
        if arrow is None:
            return start, len(line)
        behind += arrow.end()
    else:
        arrow = _ARROW.match(text, behind)
        if arrow is not None:
            behind = arrow.end()
        elif not facets.bare_return:
            return behind, behind
    rest = _BEHIND.sub("", text[behind:])
    lead = len(rest) - len(rest.lstrip())
    return behind + lead, behind + len(rest.rstrip())


def _first_mark(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def _arrows(text: str, name_at: int) -> Header:
    """`name :: Context => A -> B -> C`: the last of a row of arrows comes out."""
    at = text.find("::", name_at)
    if at < 0:
        return Header()
    stop = re.search(r"\n(?=\S)", text[at:])
    end = at + stop.start() if stop else len(text)
    context = text.find("=>", at, end)
    start = (context if context >= 0 else at) + 2
    pieces: list[tuple[int, int]] = []
    depth, first = 0, start
    for index in range(start, end):
        depth += (text[index] in "([{") - (text[index] in ")]}")
        if depth == 0 and text[index : index + 2] == "->":
            pieces.append((first, index))
            first = index + 2
    found = tuple(Parameter("", text[a:b].strip(), a, b) for a, b in pieces)
    return Header(found, text[first:end].strip(), first, end)
