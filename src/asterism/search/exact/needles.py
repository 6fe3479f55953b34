"""What exact mode looks for: the words, the phrases and the lines of a question."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from asterism.analysis.terms import terms_of
from asterism.search.exact.worker import Span
from asterism.search.query.quotes import quotes_in, without_quotes
from asterism.search.query.text import content_text
from asterism.types.errors import UsageError
from asterism.types.search import Question

# A pasted page of code is found by its first lines.
MAX_NEEDLES = 50


@dataclass(frozen=True, slots=True)
class Phrase:
    """A text that stands in the source literally."""

    text: str
    any_case: bool

    def spans(self, source: str, folded: str) -> Iterator[Span]:
        """The lines on which it begins and ends."""
        text, wanted = (folded, self.text.casefold()) if self.any_case else (source, self.text)
        height = wanted.count("\n")
        line, behind = 0, 0
        at = text.find(wanted)
        while at >= 0:
            line += text.count("\n", behind, at)
            yield line, line + height
            # Further matches on this line are the same place.
            behind = at
            following = text.find("\n", at)
            at = text.find(wanted, following) if following >= 0 else -1


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word, or a part that an identifier is made of, whatever its case."""

    text: str

    def spans(self, source: str, folded: str) -> Iterator[Span]:
        """The lines that contain it."""
        wanted = self.text.casefold()
        lines = source.split("\n")
        for line, _ in Phrase(wanted, any_case=True).spans(source, folded):
            if wanted in terms_of(lines[line]):
                yield line, line


Needle = Phrase | Keyword


def needles_of(question: Question) -> tuple[Needle, ...]:
    """Everything that has to occur.

    A phrase with a capital is case-sensitive, one without is not. Of a piece of code every line is
    looked for as it is written, but for its indentation. Else each word of the question is one
    keyword, stop words aside where enough others remain.
    """
    if question.is_code:
        lines = dict.fromkeys(filter(None, map(str.strip, question.text.splitlines())))
        return tuple(Phrase(line, any_case=False) for line in lines)[:MAX_NEEDLES]
    phrases = [Phrase(text, any_case=text == text.lower()) for text in question.phrases]
    rest = without_quotes(question.text, quotes_in(question.text))
    words = dict.fromkeys(word.casefold() for word in re.findall(r"\w+", content_text(rest)))
    found = (*phrases, *map(_keyword, words))[:MAX_NEEDLES]
    if not found:
        raise UsageError(
            "Exact search needs a word, a phrase in quotes, or `regex:` and a pattern."
        )
    return found


def _keyword(word: str) -> Needle:
    # Scripts without blanks have no words; their terms are single characters and pairs.
    return Keyword(word) if word in terms_of(word) else Phrase(word, any_case=True)
