"""Filters as conditions in the SQL that Lance understands."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from asterism.store.chunk_table import comparable
from asterism.types.deadlines import check_deadline
from asterism.types.files import display_path
from asterism.types.index import Chunk
from asterism.types.search import Filter

WILD = frozenset("*?[")
_NOTHING = r"[^\s\S]"
_ANYTHING = r"[\s\S]*"
_STAR = "[^/]*"
# Exactly what both engines take for syntax and both accept after a backslash.
_SYNTAX = frozenset("\\.+*?()|[]{}^$#&-~")


class Glob(NamedTuple):
    """A translated glob."""

    prefix: str
    """The literal beginning of every matching path, up to the first wildcard."""
    regex: str
    """For engines that take linear time; the anchors are the caller's."""
    atomic: str
    """The same for Python's engine."""


def is_wild(pattern: str) -> bool:
    """Whether anything in the pattern may mean more than itself."""
    return not WILD.isdisjoint(pattern)


def translate(pattern: str) -> Glob:
    """Return the regular expressions of a glob."""
    first = next((at for at, char in enumerate(pattern) if char in WILD), len(pattern))
    names = _folded(pattern.split("/") if "[" not in pattern else _names(pattern))
    return Glob(pattern[:first], _plain(names), _atomic(names))


@lru_cache(256)
def matcher(pattern: str) -> Callable[[str], bool]:
    """Return the test whether a whole path matches a glob."""
    matches = re.compile(translate(pattern).atomic).fullmatch
    return lambda path: matches(path) is not None


def _folded(names: Sequence[str]) -> list[str]:
    """The names with each run of `**` as one: any number of folders twice is any number."""
    return [
        name for at, name in enumerate(names) if not (at and name == "**" and names[at - 1] == "**")
    ]


def _plain(names: Sequence[str]) -> str:
    out: list[str] = []
    for number, name in enumerate(names):
        last = number == len(names) - 1
        if name == "**":
            out.append(_ANYTHING if last else rf"(?:{_ANYTHING}/)?")
        else:
            out.append("".join(_pieces(name)) + ("" if last else "/"))
    return "".join(out)


def _atomic(names: Sequence[str]) -> str:
    """The expression whose names between two `**` are found where they come first."""
    blocks: list[list[str]] = [[]]
    for name in names:
        if name == "**":
            blocks.append([])
        else:
            blocks[-1].append(_atomic_name(name))
    head, *others = blocks
    if not others:
        return "/".join(head)
    *middle, tail = others
    out = ["".join(f"{name}/" for name in head)]
    for block in middle:
        block_text = "".join(f"{name}/" for name in block)
        out.append(f"(?>(?:[^/]*+/)*?{block_text})")
    out.append(rf"(?:{_ANYTHING}/)?{'/'.join(tail)}" if tail else _ANYTHING)
    return "".join(out)


def _atomic_name(name: str) -> str:
    """The expression of one name, in which every star but the last takes as little as it can."""
    pieces = _pieces(name)
    stars = [at for at, piece in enumerate(pieces) if piece == _STAR]
    if len(stars) < 2:
        return "".join(pieces)
    out = pieces[: stars[0]]
    for star, following in pairwise(stars):
        out += ["(?>[^/]*?", *pieces[star + 1 : following], ")"]
    return "".join([*out, *pieces[stars[-1] :]])


def _names(pattern: str) -> list[str]:
    """The pattern cut at slashes, those inside brackets aside."""
    names, start, at = [], 0, 0
    while at < len(pattern):
        if pattern[at] == "[" and (end := _closing(pattern, at)) is not None:
            at = end
        elif pattern[at] == "/":
            names.append(pattern[start:at])
            start = at + 1
        at += 1
    return [*names, pattern[start:]]


def _pieces(name: str) -> list[str]:
    """The expression of one name of a path: one piece for each star and each character."""
    out: list[str] = []
    at = 0
    while at < len(name):
        char = name[at]
        if char == "*":
            if not out or out[-1] != _STAR:
                out.append(_STAR)
        elif char == "?":
            out.append("[^/]")
        elif char == "[" and (end := _closing(name, at)) is not None:
            out.append(_bracket(name[at + 1 : end]))
            at = end
        else:
            out.append(_escaped(char))
        at += 1
    return out


def _closing(text: str, opening: int) -> int | None:
    """Where a bracket ends; a `]` that comes first in it is one of its characters."""
    first = opening + 1
    if text[first : first + 1] in ("!", "^"):
        first += 1
    end = text.find("]", first + 1)
    return None if end < 0 else end


def _bracket(body: str) -> str:
    """One character of a set, or outside it; a range that runs backwards is empty."""
    negated = body[0] in "!^"
    rest = body[1:] if negated else body
    spans: list[tuple[str, str]] = []
    at = 0
    while at < len(rest):
        low = high = rest[at]
        if rest[at + 1 : at + 2] == "-" and at + 2 < len(rest):
            high = rest[at + 2]
            at += 2
        at += 1
        spans.extend(_without_slash(low, high))
    items = "".join(
        _escaped(low) if low == high else f"{_escaped(low)}-{_escaped(high)}" for low, high in spans
    )
    if negated:
        return f"[^/{items}]"
    return f"[{items}]" if items else _NOTHING


def _without_slash(low: str, high: str) -> list[tuple[str, str]]:
    """A range of characters cut around the slash."""
    if not low <= "/" <= high:
        return [(low, high)] if low <= high else []
    below, above = (low, "."), ("0", high)
    return [(first, last) for first, last in (below, above) if first <= last]


def _escaped(char: str) -> str:
    return f"\\{char}" if char in _SYNTAX else char


DECORATOR_SEPARATOR = "\x1f"
"""Between the names of decorators where they are searched as one text."""


def predicate(where: Filter) -> Callable[[Chunk], bool]:
    """Return the test that a stored chunk has to pass."""
    where = comparable(where)

    def passes(chunk: Chunk) -> bool:
        check_deadline()
        return (
            _filtering_one_of(chunk.repo, where.repos)
            and _filtering_one_of(chunk.node_kind, where.kinds)
            and _filtering_one_of(chunk.extension, where.extensions)
            and _filtering_one_of(chunk.language, where.languages)
            and where.is_exported in (None, chunk.is_exported)
            and where.has_docstring in (None, chunk.docstring is not None)
            and _filtering_decorated(chunk, where.decorator_contains)
            and _path_passes(chunk.relative_path, where)
        )

    return passes


def path_test(where: Filter) -> Callable[[str], bool]:
    """Return the test that a path has to pass; what a filter says of chunks does not count."""
    where = comparable(where)

    def passes(path: str) -> bool:
        check_deadline()
        return _path_passes(display_path(path), where)

    return passes


def place(path: str) -> str:
    """A file or directory as the user wrote it, without what says nothing: `./src/` is `src`."""
    while path.startswith("./"):
        path = path[2:]
    path = path.rstrip("/")
    return "" if path == "." else path


def _path_passes(path: str, where: Filter) -> bool:
    return (
        (not where.paths or any(_is_at(path, place(given)) for given in where.paths))
        and (not where.path_prefixes or path.startswith(where.path_prefixes))
        and all(part in path for part in where.path_contains)
        and not any(part in path for part in where.path_not_contains)
        and (not where.path_globs or any(matcher(glob)(path) for glob in where.path_globs))
    )


def _is_at(path: str, given: str) -> bool:
    # Brackets occur in real names (`app/[id]/page.tsx`), so a glob may also mean itself.
    return (
        given in ("", path)
        or path.startswith(f"{given}/")
        or (is_wild(given) and matcher(given)(path))
    )


def _filtering_one_of(value: str, allowed: tuple[str, ...]) -> bool:
    return not allowed or value in allowed


def _filtering_decorated(chunk: Chunk, part: str | None) -> bool:
    return part is None or (
        bool(chunk.decorator_names) and part in DECORATOR_SEPARATOR.join(chunk.decorator_names)
    )


def condition(where: Filter) -> str | None:
    """Return the SQL of a filter, or None where everything passes."""
    where = comparable(where)
    parts = [
        *_one_of("repo", where.repos),
        *_one_of("node_kind", where.kinds),
        *_one_of("extension", where.extensions),
        *_one_of("language", where.languages),
        *_is_true("is_exported", where.is_exported),
        *_is_true("(docstring IS NOT NULL)", where.has_docstring),
        *_any(_at(place(path)) for path in where.paths),
        *_any(f"starts_with(relative_path, {quoted(text)})" for text in where.path_prefixes),
        *(f"contains(relative_path, {quoted(text)})" for text in where.path_contains),
        *(f"NOT contains(relative_path, {quoted(text)})" for text in where.path_not_contains),
        *_any(_matches(glob) for glob in where.path_globs),
        *_decorated(where.decorator_contains),
    ]
    return " AND ".join(parts) or None


def among(column: str, values: Iterable[str]) -> str:
    """The condition that a column has one of these values."""
    return f"{column} IN ({', '.join(quoted(value) for value in values)})"


def quoted(text: str) -> str:
    """A text as SQL; only the quote itself has a meaning inside quotes."""
    return "'" + text.replace("'", "''") + "'"


def _one_of(column: str, values: Sequence[str]) -> list[str]:
    return [among(column, values)] if values else []


def _is_true(expression: str, wanted: bool | None) -> list[str]:
    if wanted is None:
        return []
    return [expression if wanted else f"NOT {expression}"]


def _any(conditions: Iterable[str]) -> list[str]:
    either = " OR ".join(conditions)
    return [f"({either})"] if either else []


def _at(path: str) -> str:
    """A file, all of a directory, or a glob; a glob may also be the real name of a file."""
    if not path:
        return "true"
    here = f"relative_path = {quoted(path)} OR starts_with(relative_path, {quoted(path + '/')})"
    return f"({here} OR {_matches(path)})" if is_wild(path) else f"({here})"


def _matches(pattern: str) -> str:
    """The whole path matches; the prefix is cheap to compare and spares most rows the rest."""
    glob = translate(pattern)
    if not is_wild(pattern):
        return f"relative_path = {quoted(pattern)}"
    anchored = rf"\A{glob.regex}\z"
    whole = f"regexp_like(relative_path, {quoted(anchored)})"
    if not glob.prefix:
        return whole
    return f"(starts_with(relative_path, {quoted(glob.prefix)}) AND {whole})"


def _decorated(part: str | None) -> list[str]:
    if part is None:
        return []
    names = f"array_to_string(decorator_names, {quoted(DECORATOR_SEPARATOR)})"
    return [f"(array_length(decorator_names) > 0 AND contains({names}, {quoted(part)}))"]
