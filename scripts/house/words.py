"""Finds the words of `tests/words.txt` in pages, docstrings, comments, messages and test names."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch

from scripts.house.files import ROOT, text_of

LIST = ROOT / "tests" / "words.txt"
# Generated from docstrings, whose words count where they are written.
FROM_DOCSTRINGS = {"docs/traced-query.md"}
TRIED = {"nobody", "somebody", "given out", "is none", "says of it"}
JUDGES = {"judge", "judges", "judged"}

# Where a word of the list is right: the files, the words, and why.
EXCEPTIONS = [
    ("src/asterism/chat/*", JUDGES, "the retrieval loop of chat"),
    ("tests/chat/*", JUDGES, "the retrieval loop of chat"),
    ("src/asterism/evaluation/candidates.py", {"room"}, "a topic: a hotel room"),
    ("scripts/house/words.py", {*JUDGES, *TRIED, "room", "wished"}, "the words of this list"),
    ("tests/tidy/test_words.py", TRIED, "texts that the check is tried on"),
    ("src/asterism/engine/rerank.py", {"wished"}, "an older key of model.json"),
    ("tests/search/test_naming.py", {"room"}, "a module of the code under test"),
]


def found(names: Iterable[str]) -> list[tuple[str, int, str]]:
    """The file, line and text of every match in these files that is no exception."""
    listed = pattern(LIST.read_text(encoding="utf-8"))
    return [
        (name, line, word)
        for name in names
        if name.endswith((".py", ".md")) and name not in FROM_DOCSTRINGS
        for line, word in matches(name, text_of(name) or "", listed)
        if not _is_exception(name, word)
    ]


def _is_exception(name: str, word: str) -> bool:
    return any(fnmatch(name, files) and word in allowed for files, allowed, _ in EXCEPTIONS)


def pattern(listing: str) -> re.Pattern[str]:
    """One pattern of the list's lines; a space in a line matches a line break too."""
    lines = [line.strip() for line in listing.splitlines()]
    words = [line.replace(" ", r"\s+") for line in lines if line and not line.startswith("#")]
    return re.compile(r"\b(?:" + "|".join(words) + r")\b", re.IGNORECASE)


def matches(name: str, source: str, words: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """The line and the text of each match; Python's `None` is no match of "none"."""
    for line, text in _texts(name, source):
        plain = re.sub(r"\bNone\b", "    ", text)
        for match in words.finditer(plain):
            before = plain.count("\n", 0, match.start())
            yield line + before, " ".join(match.group().lower().split())


def _texts(name: str, source: str) -> Iterator[tuple[int, str]]:
    if not name.endswith(".py"):
        yield 1, source
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.lineno, node.name.replace("_", " ")
    yield from _comments(source)


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """The comments, those of consecutive lines as one text."""
    first, last, lines = 0, -1, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        if token.start[0] != last + 1:
            yield first, "\n".join(lines)
            first, lines = token.start[0], []
        last = token.start[0]
        lines.append(token.string.lstrip("# "))
    yield first, "\n".join(lines)
