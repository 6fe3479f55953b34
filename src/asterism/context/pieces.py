"""The texts that are compared: an item in pieces of one thought, a message in sentences."""

import re
from collections.abc import Iterator

from asterism.search.query.sentences import MAX_SENTENCE, sentences_of
from asterism.types.context import Item, Tool

MAX_PIECE = 500
"""Characters of a piece; a model gives one vector for all it reads, and longer texts blur in it."""

MAX_PIECES = 2_000
"""Pieces of one item: a million characters, which is about what a session can do anything with."""

MAX_SENTENCES = 64
"""Sentences of a message that are compared; more is a pasted log, of which the ends say most."""

_PARAGRAPHS = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])")
_LINE_END = re.compile(r"\n")
_BLANK = re.compile(r"\s+")


def index_text(item: Item) -> str:
    """What an item is found by: its name and description, then its text."""
    head = f"{item.name}: {item.description}" if item.description.strip() else item.name
    return head if isinstance(item, Tool) else f"{head}\n\n{item.text}"


def pieces_of(text: str) -> tuple[str, ...]:
    """Each paragraph, and one that is too long as sentences joined up to the limit."""
    text = _whole(text).strip()
    if text and len(text) <= MAX_PIECE and "\n" not in text:
        # Nearly every tool is so.
        return (text,)
    paragraphs = (part.strip() for part in _PARAGRAPHS.split(text))
    pieces = [piece for part in paragraphs if part for piece in _paragraph_pieces(part)]
    return tuple(pieces[:MAX_PIECES])


def query_sentences(message: str) -> tuple[str, ...]:
    """The sentences of a message, each within the limit; of very many the first and the last."""
    sentences = [part[:MAX_SENTENCE] for part in sentences_of(_whole(message)) if part.strip()]
    if len(sentences) > MAX_SENTENCES:
        half = MAX_SENTENCES // 2
        sentences = sentences[:half] + sentences[-half:]
    return tuple(dict.fromkeys(sentences))


def _whole(text: str) -> str:
    """The text without halves of characters, which JSON can bring and models cannot read."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _paragraph_pieces(paragraph: str) -> Iterator[str]:
    if len(paragraph) <= MAX_PIECE:
        yield paragraph
        return
    joined = ""
    for part in _parts(paragraph, (_SENTENCE_END, _LINE_END, _BLANK)):
        if joined and len(joined) + 1 + len(part) > MAX_PIECE:
            yield joined
            joined = part
        else:
            joined = f"{joined} {part}" if joined else part
    if joined:
        yield joined


def _parts(text: str, ends: tuple[re.Pattern[str], ...]) -> Iterator[str]:
    """The text in parts within the limit, cut at the first sort of end that serves."""
    if len(text) <= MAX_PIECE:
        if text.strip():
            yield text.strip()
    elif not ends:
        yield from (text[at : at + MAX_PIECE] for at in range(0, len(text), MAX_PIECE))
    else:
        start = 0
        for end in ends[0].finditer(text):
            yield from _parts(text[start : end.end()], ends[1:])
            start = end.end()
        yield from _parts(text[start:], ends[1:])
