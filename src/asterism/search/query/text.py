"""Which words of a question carry its meaning, and what kind of answer they ask for."""

import re
from collections.abc import Iterator, Sequence

from asterism.search.query.quotes import Quote, inside
from asterism.types.search import Intent


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
