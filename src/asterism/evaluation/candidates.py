"""What one chunk could be asked about: the raw material of a self-supervised set."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.source.text import read
from asterism.analysis.syntax.catalogue import TABLE
from asterism.analysis.syntax.outlines import text_of
from asterism.analysis.terms import terms_of
from asterism.evaluation.datasets import Target
from asterism.types.chunk import Chunk
from asterism.types.errors import InputError
from asterism.types.outline import ROOT_KINDS


def texts_of(root: Path, files: Iterable[str]) -> Iterator[str]:
    """The text of each file that can still be read."""
    for path in files:
        try:
            yield text_of(path, read(str(root / path))).decode("utf-8", "replace")
        except InputError:
            continue


# Files that are no code: they have no definitions, and their quotation marks hold no literals.
NOT_CODE = frozenset(entry.language for entry in TABLE if entry.home in ("prose", "text"))

# Shorter names are words like `id` and `get`, which mean nothing by themselves.
NAME_LENGTH = 5

# A slip in a short name makes another name.
MISSPELT_LENGTH = 8

# Fewer words of their own do not say what is wanted.
SENTENCE_WORDS = 5
SENTENCE_LENGTH = 300

# A sentence is letters and blanks for the most part; tables and examples are not.
SENTENCE_LETTERS = 0.85

SNIPPET_LINES = 3
# Three lines of brackets are everywhere.
SNIPPET_LETTERS = 45

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*[?!]?")
# A name that prose mentions: in backquotes, or so written that it is no word of a language.
_MENTION = re.compile(
    r"(?::\w+:)?`+[~!]?(?:\w+[.#:]+)*(?P<quoted>[A-Za-z]\w+)(?:\(\))?`+"
    r"|\b(?P<plain>[A-Za-z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[a-z]+(?:_[a-z0-9]+)+)\b"
)
# What follows lists parameters, not sentences.
_TAG = re.compile(r"^\s*(?:[@\\]\w+|:\w+[^:\n]*:|<\w+)", re.MULTILINE)
_LEFT_BLANK = re.compile(r"\s+(?=[.,;:!?])")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])|\n\s*\n")
# Between single marks: what stands between three of them is documentation.
_LITERAL = re.compile(
    r"(?<![\"\w])\"([^\"\\\n{}<>$%]{16,90})\"(?!\")|(?<!['\w])'([^'\\\n{}<>$%]{16,90})'(?!')"
)
_LETTERS = re.compile(r"[^\W\d_]")


class Candidate(NamedTuple):
    """A question whose answer may still have to be looked up."""

    category: str
    key: str
    """What the draw knows it by."""
    text: str
    name: str = ""
    targets: tuple[Target, ...] = ()
    given: tuple[Target, ...] = ()
    unique: bool = False
    """It is only clear if its text stands once in the repository."""


def candidates(chunk: Chunk) -> Iterator[Candidate]:
    """Every question that a chunk suggests."""
    if chunk.part:
        return
    if chunk.language not in NOT_CODE:
        if chunk.node_kind not in ROOT_KINDS:
            yield from _about_name(chunk)
            yield from _about_doc(chunk)
        if not chunk.child_chunk_ids:
            yield from _about_source(chunk)
    yield from _mentions(chunk)


def _about_name(chunk: Chunk) -> Iterator[Candidate]:
    name = chunk.name
    if len(name) < NAME_LENGTH or not _NAME.fullmatch(name):
        return
    yield Candidate("definition", name, name, name)
    yield Candidate("usage", name, f"where is {name} used", name)
    if len(name) >= MISSPELT_LENGTH:
        yield Candidate("misspelt", name, name, name)


def _about_doc(chunk: Chunk) -> Iterator[Candidate]:
    sentence = next(_sentences(chunk.docstring or chunk.jsdoc or ""), "")
    own = set(terms_of(chunk.name))
    words = [word for word in sentence.split() if not own & set(terms_of(word))]
    if len(words) >= SENTENCE_WORDS:
        text = " ".join(words)
        yield Candidate("docstring", text, text, chunk.name, (_lines(chunk),))


def _about_source(chunk: Chunk) -> Iterator[Candidate]:
    lines = chunk.full_source.split("\n")
    for number, line in enumerate(lines):
        for found in _LITERAL.finditer(line):
            text = found[1] or found[2]
            if len(text.split()) > 1:
                at = chunk.start_line + number
                target = Target(chunk.relative_path, at, at)
                yield Candidate("literal", text, text, targets=(target,), unique=True)
    snippet = _snippet(chunk, lines)
    if snippet is not None:
        yield snippet


def _snippet(chunk: Chunk, lines: list[str]) -> Candidate | None:
    """The middle of a symbol that is long enough to have one."""
    at = (len(lines) - SNIPPET_LINES) // 2
    middle = lines[at : at + SNIPPET_LINES]
    if at < 1 or len(_LETTERS.findall("".join(middle))) < SNIPPET_LETTERS:
        return None
    # The margins inside stay, so that the text stands in the file as it is.
    text = "\n".join(middle).strip()
    first = chunk.start_line + at
    target = Target(chunk.relative_path, first, first + SNIPPET_LINES - 1)
    return Candidate("snippet", text, text, targets=(target,), unique=True)


def _mentions(chunk: Chunk) -> Iterator[Candidate]:
    """Sentences of prose and documentation about something that they call by its name."""
    is_prose = chunk.language in NOT_CODE and chunk.language != "text"
    text = chunk.full_source if is_prose else chunk.docstring or chunk.jsdoc or ""
    if is_prose and chunk.child_chunk_ids:
        # Its sections are chunks of their own.
        return
    for sentence in _sentences(text):
        named = {found["quoted"] or found["plain"] for found in _MENTION.finditer(sentence)}
        if len(named) != 1:
            continue
        (name,) = named
        rest = _LEFT_BLANK.sub("", " ".join(_MENTION.sub(" ", sentence).split()))
        words = terms_of(rest)
        # A path in the sentence, or all words of the name, would give the answer away.
        is_open = "/" not in rest and not set(terms_of(name)) <= set(words)
        is_asked = len(name) >= NAME_LENGTH and name != chunk.name
        if is_open and is_asked and len(words) >= SENTENCE_WORDS:
            yield Candidate("mention", rest, rest, name, given=(_lines(chunk),))


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a text that are sentences: no tables, lists of values or examples."""
    tag = _TAG.search(text)
    for part in _SENTENCE_END.split(text[: tag.start()] if tag else text):
        sentence = " ".join(part.split())
        plain = sum(letter.isalpha() or letter.isspace() for letter in sentence)
        if len(sentence) <= SENTENCE_LENGTH and plain >= SENTENCE_LETTERS * len(sentence) > 0:
            yield sentence


def _lines(chunk: Chunk) -> Target:
    return Target(chunk.relative_path, chunk.start_line, chunk.end_line)
