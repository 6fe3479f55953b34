"""Which words of a question carry its meaning, and what kind of answer they ask for."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from asterism.types.search import Intent

# A mark that opens stands at the beginning of a word and one that closes at the end of one, which
# is what tells `'a b'` from `don't` and the users' own.
_BEFORE = r"(?<![\w'\"`])"
_AFTER = r"(?![\w'\"`])"
_QUOTED = re.compile(
    "|".join(
        [
            r"```[\w+-]*\n?(?P<fence>.+?)```",
            r"``(?P<ticks>.+?)``",
            r"`(?P<tick>[^`\n]+)`",
            # One that is escaped opens nothing: each of many would be read to the end of the line.
            _BEFORE + r'(?<!\\)"(?P<double>(?:\\.|[^"\\\n])++)"' + _AFTER,
            "“(?P<curly>[^“”\n]+)”",
            "«(?P<angle>[^«»\n]+)»",
            "‘(?P<single_curly>[^‘\n]+?)’(?!\\w)",
            "「(?P<corner>[^「」\n]+)」",
            _BEFORE + r"'(?=\S)(?P<single>[^'\n]*(?:\b'\b[^'\n]*)*(?<=\S))'" + _AFTER,
        ]
    ),
    re.DOTALL,
)
# `rock 'n' roll`: a lone letter between apostrophes is an elision.
_MIN_SINGLE = 2


class Quote(NamedTuple):
    """A quoted phrase, and where it stands with its marks."""

    text: str
    start: int
    end: int


def quotes_in(text: str) -> list[Quote]:
    """Every quoted phrase, in order."""
    found: list[Quote] = []
    for match in _QUOTED.finditer(text):
        kind = match.lastgroup or ""
        phrase = match[kind]
        if kind == "double":
            phrase = phrase.replace('\\"', '"')
        if kind.startswith("single") and len(phrase) < _MIN_SINGLE:
            continue
        if phrase.strip():
            found.append(Quote(phrase.strip(), match.start(), match.end()))
    return found


def inside(quotes: Sequence[Quote]) -> Callable[[int], bool]:
    """Whether a position is in one of the quotes, which are in order."""
    starts = [quote.start for quote in quotes]

    def is_inside(position: int) -> bool:
        at = bisect_right(starts, position)
        return at > 0 and position < quotes[at - 1].end

    return is_inside


def without_quotes(text: str, quotes: Sequence[Quote]) -> str:
    """The text with blanks where something was quoted; positions stay."""
    for quote in quotes:
        text = text[: quote.start] + " " * (quote.end - quote.start) + text[quote.end :]
    return text


def words(text: str) -> frozenset[str]:
    """The words of a list that is written as text."""
    return frozenset(text.split())


# Words of English that say nothing about code; those that may be a subject are not among them.
STOP_WORDS = words("""
    a about all also am an and any are as at be been being both but by ca can could did do does
    doing each for from get gets had has have having he her here him his how i if in into is it its
    itself just let like many may me might more most much must my need no nor not of on only or
    other our ours out own please shall she should show so some such tell than thank thanks that
    the their theirs them then there these they this those to too us very want was we were what
    when where which while who whom whose why will with wo would you your yours
    """)
# With fewer words left the question is better taken as it is.
ENOUGH_WORDS = 2

# Endings and abbreviations whose letters are no words.
_CONTRACTION = re.compile(
    r"n['’]t\b|(?<=\w)['’](?:s|re|ve|ll|d|m)\b|\b(?:e\.g|i\.e|etc)\.", re.IGNORECASE
)
# A word of prose stands alone: it is no part of a dotted name, a flag or a call.
_FREE = re.compile(r"(?<![\w.:#@$/\\-])[^\W\d_]+(?![\w(/\\]|::|[.-]\w)")

_INTENTS = {
    # Who only mentions a test may ask how a library runs them.
    Intent.tests: re.compile(
        r"\b(?:unit|integration|regression|smoke|end-to-end|e2e)[ -]?(?:tests?|testing)\b"
        r"|\b(?:tests?|specs?|fixtures?|mocks?|assertions?) (?:for|of|that|which|covering|cover)\b"
        r"|\btest (?:cases?|suites?|files?|coverage)\b|\b(?:un)?tested\b|\bunittests?\b"
        r"|^(?:(?:the|all|any|which|what|where|are|is|show|find|list|me) )*(?:tests|specs)\b"
        r"|^(?:\S+ ){0,4}(?:tests?|specs)\W*$",
        re.IGNORECASE,
    ),
    Intent.examples: re.compile(
        r"\b(?:examples?|demos?|tutorials?|quickstart|how (?:to|do i|do you|can i) use"
        r"|samples? (?:code|app|application|project|program|usage|of|for)|code samples?"
        r"|usage of|sample)\b(?! rate)",
        re.IGNORECASE,
    ),
    Intent.documentation: re.compile(
        r"\b(?:docs|documentation|documented|readme|changelog|release notes|guides?|manual"
        r"|tutorials?|user guide)\b",
        re.IGNORECASE,
    ),
    Intent.configuration: re.compile(
        r"\b(?:config(?:s|uration|urations|ure|ures|ured|uring|urable)?|settings|preferences"
        r"|environment variables?|env(?:ironment)? vars?|dotenv|feature flags?)\b",
        re.IGNORECASE,
    ),
}
_TEST_NAME = re.compile(r"(?:^|\.)test_\w|(?:[a-z0-9](?:Tests?|Spec)|_(?:test|spec))$")
_TEST_PATH = re.compile(r"(?:^|/)(?:tests?|specs?|__tests__|fixtures)/|[._-](?:test|spec)\.|/test_")


_PAGE_PATH = re.compile(r"(?:^|/)(?:docs?/|README|CHANGELOG)|\.(?:md|rst|adoc)$", re.IGNORECASE)


def content_text(text: str, quotes: Sequence[Quote] = ()) -> str:
    """Prose without the words that say nothing, if enough others remain; quotes stay whole."""
    # Positions stay what they are, for the quotes' sake.
    plain = _CONTRACTION.sub(lambda found: " " * len(found[0]), text)
    is_quoted = inside(quotes)
    dropped = [
        (word.start(), word.end())
        for word in _FREE.finditer(plain)
        if word[0].lower() in STOP_WORDS and not is_quoted(word.start())
    ]
    if len(re.findall(r"\w+", plain)) - len(dropped) < ENOUGH_WORDS:
        return plain
    return "".join(_kept(plain, dropped))


def has_content(text: str) -> bool:
    """Whether anything in a text is more than stop words."""
    words = re.findall(r"\w+", _CONTRACTION.sub("", text))
    return any(word.lower() not in STOP_WORDS for word in words)


def intents_in(prose: str, names: Sequence[str], paths: Sequence[str]) -> frozenset[Intent]:
    """What the words ask for; names and paths of tests and pages ask as well."""
    asked = {intent for intent, words in _INTENTS.items() if words.search(prose)}
    if any(map(_TEST_NAME.search, names)) or any(map(_TEST_PATH.search, paths)):
        asked.add(Intent.tests)
    if any(map(_PAGE_PATH.search, paths)):
        asked.add(Intent.documentation)
    return frozenset(asked)


def _kept(text: str, dropped: Sequence[tuple[int, int]]) -> Iterator[str]:
    start = 0
    for first, behind in dropped:
        yield text[start:first]
        start = behind
    yield text[start:]


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
    """The end of the last place to cut in the second half of what fits; 0 without one."""
    places = [place.end() for place in cut.finditer(text, MAX_SENTENCE // 2, MAX_SENTENCE)]
    return places[-1] if places else 0
