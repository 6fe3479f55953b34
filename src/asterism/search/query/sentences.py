"""A question as sentences, each short enough for a model to read as one thought."""

import re
from collections.abc import Iterator

from asterism.search.query.text import has_content

MAX_SENTENCE = 500
"""Characters. A model gives one vector for all it reads, and longer texts blur in it."""

# What a dot may follow without ending anything.
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|ca|approx|incl|esp|resp|viz|al|fig|eq|sec|ch|no|nr|vol|pp|ed"
    r"|mr|mrs|ms|dr|prof|inc|ltd|corp|st|jr|sr|a\.k\.a|w\.r\.t)|(?<![\w.])[a-z])\.$",
    re.IGNORECASE,
)
# Characters in which every abbreviation shows, with what stands before it.
_LOOK_BACK = 12
_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]`]*+(?=\s)|[。！？｡]+[」』”’）]*")
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=[ \t]*(?:[-*•+]|\d+[.)])[ \t])")
_BULLET = re.compile(r"^[ \t]*(?:[-*•+]|\d+[.)])[ \t]+")
# Where a sentence that is too long may be cut, the best place first.
_CUTS = (re.compile(r"[;:—][ \n]"), re.compile(r"[,、，；][ \n]?"), re.compile(r"\s"))


def sentences_of(text: str) -> list[str]:
    """The sentences of prose; those that say nothing are left out where others say something."""
    found = [
        piece
        for paragraph in _PARAGRAPH.split(text)
        for sentence in _split(" ".join(_BULLET.sub("", paragraph).split()))
        for piece in _cut(sentence)
    ]
    return [sentence for sentence in found if has_content(sentence)] or found


def code_pieces(text: str) -> list[str]:
    """Code in pieces of whole lines; a line that is too long is cut."""
    pieces: list[str] = []
    for line in text.splitlines():
        for part in _cut(line.rstrip()):
            if pieces and len(pieces[-1]) + 1 + len(part) <= MAX_SENTENCE:
                pieces[-1] += f"\n{part}"
            elif part.strip():
                pieces.append(part)
    return pieces


def _split(text: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(text):
        if _ABBREVIATION.search(text, max(start, end.end() - _LOOK_BACK), end.end()):
            continue
        yield text[start : end.end()].strip()
        start = end.end()
    if text[start:].strip():
        yield text[start:].strip()


def _cut(text: str) -> Iterator[str]:
    """The text in pieces that are not too long, cut where a reader would pause."""
    while len(text) > MAX_SENTENCE:
        end = next(filter(None, (_last(cut, text) for cut in _CUTS)), MAX_SENTENCE)
        yield text[:end].strip()
        text = text[end:].lstrip()
    yield text


def _last(cut: re.Pattern[str], text: str) -> int:
    """The end of the last place to cut in the second half of what fits; 0 if there is none."""
    places = [place.end() for place in cut.finditer(text, MAX_SENTENCE // 2, MAX_SENTENCE)]
    return places[-1] if places else 0
