"""One line of a gitignore file as a regular expression that matches exactly what git matches.

pathspec translates anchoring, `*` and `**`. Escapes, brackets, `?` and blanks are lifted out of the
line first, because there its result differs from git's: POSIX classes, `[!a]` matching a slash,
reversed ranges, a slash inside brackets, trailing blanks and backslashes. Names and patterns are
compared as bytes, as git does; a byte is written as the character of the same number (latin-1).
"""

import re
from typing import NamedTuple

LONGEST_LINE = 4_096
"""Characters of a line that is read as a pattern: as much as systems allow a path to have. A longer
line takes seconds to compile and is not a pattern written by hand."""


class Pattern(NamedTuple):
    """A compiled line; `regex` must match a whole path, a directory's with a slash at its end."""

    regex: str
    negated: bool
    by_name: bool
    """No slash inside the pattern: it is matched against the last name of a path alone."""
    exact: str | None
    """The only name or path that can match, where the pattern has no wildcards."""
    suffix: str | None
    """How every matching name ends, for patterns such as `*.pyc`."""
    steps: tuple[str | None, ...]
    """The regular expression of each name on the way down; None is `**`."""


def compile_line(line: str, ignore_case: bool = False) -> Pattern | None:
    """Return what a line of a gitignore file means, or None where it can never match."""
    if len(line) > LONGEST_LINE:
        return None
    line = _without_trailing_blanks(line)
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    body = line[1:] if negated else line
    only_directories = body.endswith("/")
    core = body[:-1] if only_directories else body
    by_name = "/" not in core
    lifted = _lift(core.removeprefix("/"), ignore_case)
    if lifted is None:
        return None
    text, pieces = lifted
    if not text or text.startswith("/") or text.endswith("/") or "//" in text:
        return None
    if by_name:
        text = _STARS.sub("*", text)
    regex = _regex(text, by_name, only_directories)
    wild = "*" in text or any(piece.startswith("[") for piece in pieces)
    tail = text[1:]
    ends = by_name and text.startswith("*") and "*" not in tail and not pieces
    return Pattern(
        regex=_restore(regex, pieces),
        negated=negated,
        by_name=by_name,
        exact=None if wild else _literal(text, pieces),
        suffix=tail if ends else None,
        steps=() if by_name else _steps(_plain_stars(text), pieces),
    )


def _without_trailing_blanks(line: str) -> str:
    """Drop trailing spaces that no backslash protects (tabs stay, as in git)."""
    cut, index = None, 0
    while index < len(line):
        if line[index] == " ":
            cut = index if cut is None else cut
        else:
            cut = None
            if line[index] == "\\":
                index += 1
                if index == len(line):
                    return line
        index += 1
    return line if cut is None else line[:cut]


_FIRST_PLACEHOLDER = 0xE000
_PLAIN = re.compile(r"[\w.\-/*]", re.ASCII)
_STARS = re.compile(r"\*+")


def _lift(text: str, ignore_case: bool) -> tuple[str, list[str]] | None:
    """Replace all but plain characters, `*` and `/` by placeholders; also return their meanings."""
    out: list[str] = []
    pieces: list[str] = []
    index = 0
    while index < len(text):
        char = text[index]
        index += 1
        if char == "[":
            found = _bracket(text, index, ignore_case)
            if found is None:
                return None
            piece, index = found
        elif char == "?":
            piece = "[^/]"
        elif char == "\\":
            if index == len(text):
                return None
            char = text[index]
            index += 1
            if char == "/":
                out.append(char)
                continue
            piece = re.escape(char)
        elif _PLAIN.match(char):
            out.append(char)
            continue
        else:
            piece = re.escape(char)
        out.append(chr(_FIRST_PLACEHOLDER + len(pieces)))
        pieces.append(piece)
    return "".join(out), pieces


def _restore(regex: str, pieces: list[str]) -> str:
    """Put the meanings in place of the placeholders; no other character of a line is so high."""
    return "".join(
        char if ord(char) < _FIRST_PLACEHOLDER else pieces[ord(char) - _FIRST_PLACEHOLDER]
        for char in regex
    )


def _literal(text: str, pieces: list[str]) -> str:
    return _restore(text, [piece[-1] for piece in pieces])


_POSIX = {
    "alnum": str.isalnum,
    "alpha": str.isalpha,
    "blank": " \t".__contains__,
    "cntrl": lambda char: char < " " or char == "\x7f",
    "digit": str.isdigit,
    "graph": lambda char: "!" <= char <= "~",
    "lower": str.islower,
    "print": lambda char: " " <= char <= "~",
    "punct": lambda char: "!" <= char <= "~" and not char.isalnum(),
    "space": " \t\n\v\f\r".__contains__,
    "upper": str.isupper,
    "xdigit": "0123456789abcdefABCDEF".__contains__,
}
_CAPITALS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_ASCII = [chr(number) for number in range(128)]


def _bracket(text: str, index: int, ignore_case: bool) -> tuple[str, int] | None:
    """Translate the bracket expression after `[`; None if it is broken and so matches nothing."""
    negated = text[index : index + 1] in ("!", "^")
    index += negated
    chars: set[str] = set()
    previous: str | None = None
    first = True
    while True:
        if index >= len(text):
            return None
        char = text[index]
        if char == "]" and not first:
            break
        first = False
        if char == "[" and text[index + 1 : index + 2] == ":":
            end = text.find("]", index + 2)
            if end < 0:
                return None
            if text[end - 1] == ":" and end - 1 > index + 1:
                member = _POSIX.get(text[index + 2 : end - 1])
                if member is None:
                    return None
                chars.update(filter(member, _ASCII))
                previous, index = None, end + 1
                continue
        is_range = (
            char == "-" and previous is not None and text[index + 1 : index + 2] not in ("]", "")
        )
        index += is_range
        if text[index] == "\\":
            index += 1
            if index >= len(text):
                return None
        char = text[index]
        index += 1
        if is_range and previous is not None:
            chars.update(map(chr, range(ord(previous), ord(char) + 1)))
            previous = None
        else:
            # Ignoring case, git lowers the name's letter but not this one, so a capital never fits.
            if not (ignore_case and char in _CAPITALS):
                chars.add(char)
            previous = char
    listed = "".join(re.escape(char) for char in sorted(chars - {"/"}))
    if negated:
        return f"[^/{listed}]", index + 1
    return (f"[{listed}]" if listed else "[^\\x00-\\xff]"), index + 1


def _plain_stars(text: str) -> str:
    """Make a run of stars one star, or two where it is a whole name (git counts no further)."""
    names = text.split("/")
    return "/".join("**" if set(n) == {"*"} and len(n) > 1 else _STARS.sub("*", n) for n in names)


# A star that another star follows never needs to give back what it took: matching the first
# occurrence of the text between them is always enough. Without this `*a*a*a*a*b` takes for ever.
_STAR_BEFORE_STAR = re.compile(r"\[\^/\]\*((?:\\.|[^/\[(\\])+)(?=\[\^/\]\*)")
# Git compares the part before the first wildcard by itself and then takes the rest for a pattern of
# its own, so that in `a**/b` the stars are a whole name after all, which may begin within one.
_GLUED_STARS = re.compile(r"[\w.\-/]*[\w.\-](?=\*\*+(?:/|$))", re.ASCII)
_GROUP_NAME = re.compile(r"\?P<\w+>")


def _regex(text: str, by_name: bool, only_directories: bool) -> str:
    """Let pathspec translate the line, and make its result match a whole path."""
    if by_name:
        return _translate(text, only_directories)
    if found := _GLUED_STARS.match(text):
        rest = _translate("/" + _plain_stars(text[found.end() :]), only_directories)
        return re.escape(found.group()) + rest.removeprefix("^").replace(".+", ".*", 1)
    return _translate("/" + _plain_stars(text), only_directories)


def _translate(line: str, only_directories: bool) -> str:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    if only_directories:
        # `a/**/` means the directories below `a`; pathspec would take `a` itself as well.
        line += "/*/" if line.endswith("/**") and line != "/**" else "/"
    regex, _ = GitIgnoreSpecPattern.pattern_to_regex(line)
    assert regex is not None, f"pathspec gave no pattern for {line!r}"
    regex = _GROUP_NAME.sub("?:", regex)
    if regex == ".":
        return ".+"
    if regex == "(?:/)":
        return ".*/"
    if regex.endswith("/"):
        regex += ".+"
    return _without_backtracking(regex)


# What pathspec writes for `**` at the beginning of a line and between two names.
_ANY_LEAD = "(?:.+/)?"
_ANY_BETWEEN = "(?:/.+)?/"


def _without_backtracking(regex: str) -> str:
    """Make every star, and every `**`, that another one follows take as little as it can.

    What stands between the two is looked for once, where it comes first: a later occurrence leaves
    less for the rest and never more. Without this `*a*a*a*b` and `**/a/**/a/**/b` take for ever.
    """
    regex = _STAR_BEFORE_STAR.sub(r"(?>[^/]*?\1)", regex)
    head, *others = regex.split(_ANY_BETWEEN)
    if not others:
        return regex
    lead = f"^{_ANY_LEAD}"
    if head.startswith(lead):
        head = f"^(?>(?:.+?/)??{head.removeprefix(lead)}(?=/))"
    *middle, last = others
    between = "".join(f"(?>(?:/.+?)??/{names}(?=/))" for names in middle)
    return head + between + _ANY_BETWEEN + last


def _steps(text: str, pieces: list[str]) -> tuple[str | None, ...]:
    """Return one regular expression per name of an anchored pattern."""
    return tuple(
        None if name == "**" else _restore(_without_backtracking(_starred(name)), pieces)
        for name in text.split("/")
    )


def _starred(name: str) -> str:
    return re.escape(name).replace(r"\*", "[^/]*")
