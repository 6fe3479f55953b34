"""How large hits are once they are written: forms of falling detail, and the limits they meet."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from asterism.analysis.chunks.embedding_text import RULE
from asterism.search.selection.excerpts import Excerpts
from asterism.search.selection.options import CEILING_CHARS, CHARS_PER_TOKEN, SelectionOptions
from asterism.types.files import display_path
from asterism.types.search import Detail, Hit, Lines, Reason

LADDER = (Detail.full, Detail.collapsed, Detail.signature, Detail.location)
"""From all of a hit to its name: what a budget takes away, in this order. Where lines can be
chosen, they come before the signature; the space decides how many there are."""
STEPS = {
    Detail.full: 0,
    Detail.collapsed: 1,
    Detail.lines: 2,
    Detail.signature: 3,
    Detail.location: 4,
}
"""How far down each detail is."""
LEAST_EXCERPT = 240
"""Characters from which chosen lines say more than a signature: six lines."""
TRIES = (1.0, 0.85, 0.6)
"""The parts of the space to choose lines for, tried in turn: serialised, or in tokens, lines may
take more than the whole text does on average."""


class Size(NamedTuple):
    """What a row, or all of them, takes of each limit."""

    chars: int
    reply: int
    """Serialised, for the ceiling."""
    tokens: int
    """By the tokenizer; 0 where tokens follow from the characters."""

    def plus(self, other: "Size") -> "Size":
        """Both together."""
        return Size(self.chars + other.chars, self.reply + other.reply, self.tokens + other.tokens)

    def minus(self, other: "Size") -> "Size":
        """What is left without the other."""
        return Size(self.chars - other.chars, self.reply - other.reply, self.tokens - other.tokens)


NOTHING = Size(0, 0, 0)


class Form(NamedTuple):
    """A hit at one level of detail."""

    detail: Detail
    text: str
    size: Size
    gaps: tuple[Lines, ...] = ()


def source_text(hit: Hit, detail: Detail) -> str:
    """A hit as plain text: its source, the source without children's bodies, or what names it."""
    chunk = hit.chunk
    place = f"{display_path(chunk.relative_path)}:{chunk.start_line}-{chunk.end_line}"
    if detail is Detail.full:
        return chunk.full_source
    if detail is Detail.collapsed:
        return chunk.embedding_text.partition(f"\n{RULE}\n")[2] or chunk.full_source
    if detail is Detail.signature and chunk.signature:
        return f"{chunk.signature}  {place}"
    return f"{chunk.qualified_name or chunk.name or chunk.node_kind}  {place}"


def _as_it_is(hit: Hit, detail: Detail, text: str) -> str:
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """How hits are written and counted; sizes are those of the text that is really sent."""

    render: Callable[[Hit, Detail], str] = source_text
    """A hit's text at each step of the ladder; at `full`, the chunk's own lines."""
    excerpt: Excerpts | None = None
    """A hit's text at `lines`; without it a long hit is given whole or by its signature."""
    serialise: Callable[[Hit, Detail, str], str] = _as_it_is
    """The row as the reply writes it, with the hit's text in it."""
    count_tokens: Callable[[str], int] | None = None
    token_method: str = f"characters / {CHARS_PER_TOKEN}"
    """What the reply calls this way of counting; with a tokenizer, the tokenizer's name."""
    envelope: int = 0
    """Characters of the reply that stand around the rows, the account among them."""
    separator: int = 0
    """Characters between two rows."""


class Sizes:
    """Writes hits and weighs them under one selection's limits."""

    def __init__(self, options: SelectionOptions, measure: Measure) -> None:
        """For one selection."""
        self.options = options
        self.measure = measure
        self.bare = self._around(measure.envelope)
        """A reply without rows."""
        self.separator = self._around(measure.separator)
        self.empty = self.bare.minus(self.separator)
        """What rows are added to: each brings a separator, and the first has none before it."""

    def form(self, hit: Hit, detail: Detail) -> Form:
        """The hit at that detail."""
        return self.weigh(hit, detail, self.measure.render(hit, detail))

    def weigh(self, hit: Hit, detail: Detail, text: str) -> Form:
        """The hit with that text."""
        row = self.measure.serialise(hit, detail, text)
        counted = row if self.options.counted == "reply" else text
        count = self.measure.count_tokens
        size = Size(len(counted), len(row), count(counted) if count else 0)
        return Form(detail, text, size.plus(self.separator))

    def ladder(self, hit: Hit, full: Form) -> Iterator[Form]:
        """The hit in falling detail; a step that saves nothing is left out."""
        yield full
        last = full
        for detail in LADDER[1:]:
            if detail is Detail.signature and not hit.chunk.signature:
                continue
            text = self.measure.render(hit, detail)
            # Most hits have no children, and their collapsed text is the one already weighed.
            if text == last.text:
                continue
            form = self.weigh(hit, detail, text)
            if form.size.chars < last.size.chars:
                yield form
                last = form

    def excerpts(
        self, hit: Hit, full: Form, space: int, without: Sequence[Lines]
    ) -> Iterator[Form]:
        """The lines of a hit that matter, in so many counted characters, else in fewer."""
        if self.measure.excerpt is None or space < LEAST_EXCERPT:
            return
        around = self.weigh(hit, Detail.lines, "").size.chars
        longest = self.options.max_chunk_chars or space
        written = max(1, full.size.chars - around) / max(1, len(full.text))
        for part in TRIES:
            most = min(int((space - around) * part / max(1.0, written)), longest)
            chosen = self.measure.excerpt(hit, most, without)
            # Without gaps it is all of the text, which was refused.
            if chosen is None or not chosen.gaps:
                return
            form = self.weigh(hit, Detail.lines, chosen.text)
            yield form._replace(gaps=chosen.gaps)

    def capacity(self, forms: Collection[Form]) -> int:
        """The counted characters that the limits leave for rows, by these where tokens count."""
        most, budget = self.options.limit_chars, self.options.token_budget
        if budget is not None:
            chars = sum(form.size.chars for form in forms)
            tokens = sum(form.size.tokens for form in forms)
            rate = chars / tokens if tokens else CHARS_PER_TOKEN
            most = min(most, int(budget * rate))
        return most

    def tokens(self, total: Size) -> int:
        """All tokens of that size."""
        if self.measure.count_tokens:
            return total.tokens
        return _quarter(total.chars)

    def exceeded(self, total: Size) -> Reason | None:
        """The limit that a reply of that size is over, if any; of two, the one that is lower."""
        chars, budget = self.options.limit_chars, self.options.token_budget
        over_chars = total.chars > chars or total.reply > CEILING_CHARS
        over_tokens = budget is not None and self.tokens(total) > budget
        narrower = budget is not None and budget * CHARS_PER_TOKEN < chars
        if over_tokens and (narrower or not over_chars):
            return Reason.token_budget
        return Reason.character_limit if over_chars else None

    def too_long(self, form: Form) -> bool:
        """Whether one text is over the limit for a chunk."""
        most = self.options.max_chunk_chars
        return most is not None and len(form.text) > most

    def _around(self, reply: int) -> Size:
        chars = reply if self.options.counted == "reply" else 0
        return Size(chars, reply, _quarter(chars) if self.measure.count_tokens else 0)


def _quarter(chars: int) -> int:
    """Tokens by the number of characters, rounded up so that a limit holds."""
    return max(0, -(-chars // CHARS_PER_TOKEN))
