"""What the user's words mean: symbols, patterns, phrases, names, paths, sentences, terms."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import dropwhile

from asterism.analysis.terms import terms_of
from asterism.search.query.names import all_names_in, has_title, is_error, is_snippet, names_in
from asterism.search.query.parts import details_of, parts_of
from asterism.search.query.paths import Place, frames_in, places_in, without_places
from asterism.search.query.text import (
    Quote,
    code_pieces,
    content_text,
    has_content,
    intents_in,
    quotes_in,
    sentences_of,
    without_quotes,
    words,
)
from asterism.store.chunk_table import valid_text
from asterism.types.errors import UsageError
from asterism.types.search import FileLine, QueryParts, Question

_NAME = r"[`'\"]?(?P<name>[^\W\d][\w.:$#]*\w|\w)(?:\(\))?[`'\"]?"
_USED = r"(?:used|called|invoked|referenced|imported|instantiated)"
# Whole questions only: "where is the cache used for sessions" asks something else.
_FORMS = tuple(
    re.compile(rf"\s*+{form}\s*+(?:\?\s*+)?", re.IGNORECASE)
    for form in (
        rf"(?:find |show |list )?(?:all )?(?:places )?where (?:is|are) {_NAME} (?:being )?{_USED}",
        rf"(?:find |show |list )?where {_NAME} (?:is|are) (?:being )?{_USED}",
        rf"(?:who|what|which \w+) (?:uses?|calls?|invokes?|references?|imports?) {_NAME}",
        rf"(?:find |show |list )?(?:all )?(?:the )?"
        rf"(?:usages?|uses|callers|calls|references|call sites) (?:of|to) {_NAME}",
    )
)


def used_name(text: str) -> str | None:
    """The name whose uses are asked for, as it is written; its owner and calls are left out."""
    for form in _FORMS:
        found = form.fullmatch(text)
        if found is not None:
            return re.split(r"[.:#]+", found["name"])[-1] or None
    return None


# Verbs that a change request begins with. Verbs that as often describe existing code, as in `send a
# message` or `verify a signature`, are not among them.
_VERBS = words("""
    add adjust allow avoid change clarify consolidate correct deprecate disable disallow don't drop
    enable ensure expose extend fix ignore implement improve include introduce keep make migrate
    move omit optimize preserve prevent propagate reduce refactor reject remove rename replace
    restore rewrite simplify skip stop support switch unify update upgrade use
    """)
_OTHER_FORMS = words("dropped fixes kept made rewritten skipped stopped switches")
# Things, where several are meant.
_THINGS = words("changes drops moves stops supports updates upgrades uses")
_CHANGE_FORMS = (
    _VERBS
    | _OTHER_FORMS
    | {f"{verb}s" for verb in _VERBS} - _THINGS
    | {f"{verb}d" if verb.endswith("e") else f"{verb}ed" for verb in _VERBS}
)
# `Could you please add ...`, `we need to add ...`.
_BEFORE = words("""
    also and can could help i i'd instead just let let's like me must need now please should then to
    us want we we'd would you
    """)
# Behind these the verb was a noun: `support for proxies`, `use of locks`.
_BEHIND_NOUNS = words("by for in of")
# Fewer may name a thing: `use cases`.
_FEWEST_WORDS = 3
_AROUND = ".,:;!?()[]{}<>\"'`“”‘’*-•"


def is_change_request(sentences: Iterable[str]) -> bool:
    """Whether one of the sentences begins with a verb of change: `Fix a leak in uploads`."""
    return any(map(_asks_for_change, sentences))


def _asks_for_change(sentence: str) -> bool:
    said = [word.strip(_AROUND) for word in sentence.lower().replace("’", "'").split()]
    said = [*dropwhile(lambda word: not word or word in _BEFORE, said)]
    return len(said) >= _FEWEST_WORDS and said[0] in _CHANGE_FORMS and said[1] not in _BEHIND_NOUNS


# Longer than nearly every issue; what is left out is said.
MAX_CHARACTERS = 40_000
# Each is embedded, and each is to be represented in the answer.
MAX_SENTENCES = 20
# A snippet or trace has more names than are useful to look up; the first are the most relevant.
MAX_NAMES = 50

# A longer regular expression is a mistake.
MAX_PATTERN = 10_000
# Queries with fewer words are understood as a whole.
LONG_WORDS = 30
# Lines of an issue that are looked up.
ENDS = 10

_SYMBOL = re.compile(r"symbol\s*=(?!=)[ \t]*(.*)", re.IGNORECASE)
_REGEX = re.compile(r"regex:\s*", re.IGNORECASE)


def understand(text: str) -> Question:
    """Read a question; an error says what to do where there is nothing to look for."""
    text = valid_text(text).replace("\0", " ").strip()
    if not text:
        raise UsageError("The question is empty; say in words or by name what to look for.")
    kept = text[:MAX_CHARACTERS].rstrip()
    left_out = len(text) - len(kept)
    pattern = _REGEX.match(kept)
    if pattern:
        if len(text) > MAX_PATTERN:
            raise UsageError(f"A pattern has {MAX_PATTERN:,} characters at most; shorten it.")
        return Question(text=text, pattern=_pattern(text[pattern.end() :]))
    symbol = _SYMBOL.fullmatch(kept)
    if symbol:
        return _symbol_question(kept, symbol[1], left_out)
    kept = _without_question_mark(kept)
    if len(kept.split()) >= LONG_WORDS and (has_title(kept) or not is_snippet(kept)):
        parts = parts_of(kept)
        is_trace = not (parts.prose or parts.code) and is_error(parts.title)
        if parts.is_long and has_content(parts.title) and not is_trace:
            return _long_question(kept, parts, left_out)
    return _free_question(kept, left_out)


def _without_question_mark(text: str) -> str:
    """The text without question marks at its end; one word may be a name such as `empty?`."""
    bare = text.rstrip("？").rstrip()
    if " " in bare and bare.endswith("?") and bare.rstrip("? ")[-1:].isalnum():
        bare = bare.rstrip("? ")
    return bare or text


def _long_question(text: str, parts: QueryParts, left_out: int) -> Question:
    """The question of the title, with the paths and lines of all of it."""
    title = _free_question(parts.title, left_out)
    frames = frames_in(text)
    places = frames.places or places_in("\n".join([*parts.prose, *parts.code]))
    paths = dict.fromkeys([*title.paths, *(place.path for place in places)])
    named = [*dict.fromkeys([*title.lines, *_lines(places)])]
    return replace(
        title,
        text=text,
        parts=parts,
        details=details_of(parts),
        paths=tuple([*paths][:MAX_NAMES]),
        # Frames at both ends of a trace say the most: where it was raised, and by what call.
        lines=tuple(named if len(named) <= ENDS else [*named[: ENDS // 2], *named[-ENDS // 2 :]]),
        is_change_request=False,
    )


def understand_code(text: str) -> Question:
    """Read a piece of code to which similar code is wanted; nothing in it is a command."""
    text = valid_text(text).replace("\0", " ").strip("\r\n").rstrip()
    kept = text[:MAX_CHARACTERS].rstrip()
    if not any(char.isalnum() for char in kept):
        raise UsageError("The piece of code has no words; give some lines of code to compare with.")
    pieces = code_pieces(kept)
    return Question(
        text=kept,
        sentences=tuple(pieces[:MAX_SENTENCES]),
        terms=tuple(terms_of(kept)),
        identifiers=tuple([*dict.fromkeys(all_names_in(kept))][:MAX_NAMES]),
        is_code=True,
        left_out=len(text) - len(kept) + sum(map(len, pieces[MAX_SENTENCES:])),
    )


def _pattern(pattern: str) -> str:
    """The pattern after `regex:`; the process that matches it reports errors in it."""
    if not pattern:
        raise UsageError("Behind `regex:` stands no pattern; write one, as in `regex:def \\w+_at`.")
    return pattern


def _symbol_question(text: str, written: str, left_out: int) -> Question:
    name = written.strip().strip("`\"'").strip()
    if not name:
        raise UsageError(
            "Behind `symbol =` stands no name; write one, as in `symbol = Parser.parse`."
        )
    return Question(
        text=text,
        sentences=(name,),
        terms=tuple(terms_of(name)),
        identifiers=(name,),
        symbol=name,
        left_out=left_out,
    )


def _free_question(text: str, left_out: int) -> Question:
    frames = frames_in(text)
    is_trace = bool(frames.places or frames.names)
    is_piece = not is_trace and not _is_quoted(text) and is_snippet(text)
    is_code = is_trace or is_piece or is_error(text)
    quotes = [] if is_code else quotes_in(text)
    _check_words(text, quotes)
    places = frames.places if is_trace else places_in(text)
    prose = without_quotes(without_places(text), quotes)
    names = frames.names
    if not is_trace:
        names = all_names_in(text) if is_piece else names_in(text, quotes)
    sentences = code_pieces(text) if is_code else sentences_of(text)
    paths = dict.fromkeys(place.path for place in places)
    return Question(
        text=text,
        sentences=tuple(sentences[:MAX_SENTENCES]),
        terms=tuple(terms_of(text if is_code else content_text(text, quotes))),
        identifiers=tuple(
            [*dict.fromkeys(name for name in names if name not in paths)][:MAX_NAMES]
        ),
        paths=tuple([*paths][:MAX_NAMES]),
        phrases=tuple([*dict.fromkeys(quote.text for quote in quotes)][:MAX_NAMES]),
        # Words in code ask for nothing.
        intents=frozenset() if is_code else intents_in(prose, names, [*paths]),
        is_code=is_code,
        is_change_request=not is_code and not _is_quoted(text) and is_change_request(sentences),
        lines=_lines(places),
        used=used_name(text),
        left_out=left_out + sum(map(len, sentences[MAX_SENTENCES:])),
    )


def _is_quoted(text: str) -> bool:
    """Whether the whole query is in quotes, which ask for a literal match."""
    return not without_quotes(text, quotes_in(text)).strip()


def _lines(places: Sequence[Place]) -> tuple[FileLine, ...]:
    named = dict.fromkeys(
        FileLine(place.path, place.line) for place in places if place.line is not None
    )
    return tuple([*named][:MAX_NAMES])


def _check_words(text: str, quotes: Sequence[Quote]) -> None:
    if not quotes and not any(char.isalnum() for char in text):
        raise UsageError(
            "The question has no words; ask in words, name a symbol, or put what to find "
            'literally in quotes, as in `"=>"`.'
        )
