"""Examples for training: what people would ask, and the text of the chunk that answers it."""

import random
import re
from collections.abc import Iterator
from typing import NamedTuple

from training.rows import Row

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_WORD = re.compile(r"[^A-Za-z0-9]+")
_LEADING_VERB = re.compile(
    r"^(?:Returns?|Gets?|Sets?|Creates?|Represents|Defines|Provides|Implements|Contains|Describes"
    r"|Specifies|Holds|Computes?|Checks?|Handles?|Helper(?: function)?(?: to| for)?"
    r"|Utility(?: function)?(?: to| for)?|Used to|Whether"
    r"|This (?:class|function|method|module|is|type|trait|interface)"
    r"(?: (?:is|provides|implements|represents))?|Class for"
    r"|Function (?:to|that)|Method (?:to|that)|A class (?:that|for)|An?|The)"
    r"\s+(?:(?:the|an?|all|if)\s+)?",
)
_AFTER_NAME = re.compile(
    r"^(?:is|are|returns?|will|does|implements|represents|provides|holds|defines|contains|describes"
    r"|specifies)\s+(?:the |an? )?"
)
_SMALL_WORDS = frozenset(
    [
        *(
            "a",
            "an",
            "the",
            "of",
            "to",
            "for",
            "in",
            "on",
            "at",
            "by",
            "with",
            "and",
            "or",
            "is",
            "are",
        ),
        *(
            "be",
            "this",
            "that",
            "it",
            "its",
            "from",
            "as",
            "if",
            "when",
            "which",
            "will",
            "can",
            "has",
        ),
        *(
            "have",
            "not",
            "into",
            "than",
            "then",
            "these",
            "those",
            "used",
            "uses",
            "using",
            "given",
        ),
        *("any", "each"),
    ]
)
_QUESTIONS = (
    "how does {} work", "how {} works", "how to {}", "how {}", "how does it {}", "where is {}",
    "where are {}", "where is {} implemented", "where {} happens", "what handles {}",
    "code that {}",
    "function that {}", "class for {}", "logic for {}", "implementation of {}", "support for {}",
    "handling of {}", "{} implementation", "{} logic", "{} handling", "find {}",
    "which part does {}",
)  # fmt: skip


class Example(NamedTuple):
    """A question, and the text of its answer as the index embeds it."""

    query: str
    text: str
    kind: str
    """What the question was made of: doc, name, said, heading or place."""


def words(name: str) -> list[str]:
    """The words of an identifier or path."""
    return [word for word in _NOT_WORD.split(_CAMEL.sub(" ", name)) if word]


def examples(row: Row, chance: random.Random) -> Iterator[Example]:
    """The examples of one symbol, at most four."""
    if row.doc:
        query = _asked(row, chance)
        if len(query.split()) >= 2:
            yield Example(query, document(row, _left_over(row.doc, chance), chance), "doc")
    name = [] if row.name.endswith("callback") else words(row.name.split("(")[0])
    if len(name) > 1 and len(row.name) < 50 and chance.random() < (0.3 if row.doc else 0.75):
        query = _by_name(row, name, chance)
        yield Example(query, document(_masked(row), _purpose(row, chance), chance), "name")
    if row.said and chance.random() < 0.5:
        query = _by_message(chance.choice(row.said), chance)
        yield Example(query, document(row, _purpose(row, chance), chance), "said")
    if row.heading and chance.random() < (0.6 if row.members else 0.08):
        query = _phrased(row.heading, chance)
        yield Example(query, document(row, _purpose(row, chance), chance), "heading")
    elif row.members and name and chance.random() < 0.15:
        query = _by_place(row, name, chance)
        yield Example(query, document(row, _purpose(row, chance), chance), "place")


def document(row: Row, purpose: str, chance: random.Random) -> str:
    """The chunk's text as the index writes it, with so much of its purpose as is to be known."""
    first, _newline, rest = row.head.partition("\n")
    lines = [first]
    if purpose:
        lines.append(f"Purpose: {purpose}")
    if rest:
        lines.append(rest)
    code = row.code
    if len(code) > 500 and chance.random() < 0.25:
        code = code[: chance.randint(350, len(code))]
    return "\n".join((*lines, "---", code))


def _left_over(doc: str, chance: random.Random) -> str:
    """Often some of the documentation's words: in an index they stand there, if others do."""
    if chance.random() >= 0.3:
        return ""
    share = chance.uniform(0.3, 0.9)
    return " ".join(word for word in doc.split() if chance.random() < share)


def _purpose(row: Row, chance: random.Random) -> str:
    return row.doc if chance.random() < 0.6 else ""


def _masked(row: Row) -> Row:
    base = re.compile(rf"\b{re.escape(row.name.split('(')[0])}\b")
    return row._replace(head=base.sub("", row.head), code=base.sub("", row.code))


def _asked(row: Row, chance: random.Random) -> str:
    query = row.doc
    first, _blank, rest = query.partition(" ")
    if first.strip("().`") == row.name and rest and chance.random() < 0.9:
        query = _AFTER_NAME.sub("", rest) if chance.random() < 0.7 else rest
    return _phrased(query, chance)


def _phrased(query: str, chance: random.Random) -> str:
    """A sentence as people would type it: a phrase, some words, a question."""
    query = query.rstrip(".")
    if chance.random() < 0.5:
        query = _LEADING_VERB.sub("", query, count=1)
    if chance.random() < 0.4:
        query = " ".join(query.split()[: chance.randint(3, 10)])
    if chance.random() < 0.2:
        query = " ".join(word for word in query.split() if word.lower() not in _SMALL_WORDS)
    elif chance.random() < 0.25 and query:
        query = chance.choice(_QUESTIONS).format(query[:1].lower() + query[1:])
    return query.lower() if chance.random() < 0.4 else query


def _by_name(row: Row, name: list[str], chance: random.Random) -> str:
    query = " ".join(name)
    if chance.random() < 0.4:
        stem = words(row.path.rsplit("/", 1)[-1].rsplit(".", 1)[0])
        query = (
            f"{' '.join(stem)} {query}" if chance.random() < 0.5 else f"{query} {' '.join(stem)}"
        )
    if chance.random() < 0.3:
        query = chance.choice(_QUESTIONS).format(query)
    return query.lower() if chance.random() < 0.8 else query


def _by_message(message: str, chance: random.Random) -> str:
    said = message.split()
    if len(said) > 5 and chance.random() < 0.5:
        start = chance.randint(0, len(said) - 5)
        said = said[start : start + chance.randint(4, 9)]
    text = " ".join(said)
    if chance.random() < 0.3:
        text = f"{chance.choice(('error', 'where is the error', 'message', 'log line'))} {text}"
    return text.lower() if chance.random() < 0.3 else text


def _by_place(row: Row, name: list[str], chance: random.Random) -> str:
    stem = words(row.path.rsplit(".", 1)[0])[-2:]
    topic = " ".join(dict.fromkeys(word.lower() for word in (*stem, *name)))
    return chance.choice(_QUESTIONS).format(topic)
