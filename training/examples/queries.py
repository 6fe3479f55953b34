"""Examples for training: what people would ask, and the text of the chunk that answers it."""

import random
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from asterism.models.embed.encoder import place_and_code
from training.examples.rows import Row

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
_SMALL_WORDS = {
    "a", "an", "the", "of", "to", "for", "in", "on", "at", "by", "with", "and", "or", "is", "are",
    "be", "this", "that", "it", "its", "from", "as", "if", "when", "which", "will", "can", "has",
    "have", "not", "into", "than", "then", "these", "those", "used", "uses", "using", "given",
    "any", "each",
}  # fmt: skip
_QUESTIONS = (
    "how does {} work", "how {} works", "how to {}", "how {}", "how does it {}", "where is {}",
    "where are {}", "where is {} implemented", "where {} happens", "what handles {}",
    "code that {}",
    "function that {}", "class for {}", "logic for {}", "implementation of {}", "support for {}",
    "handling of {}", "{} implementation", "{} logic", "{} handling", "find {}",
    "which part does {}",
)  # fmt: skip


# A verb in the third person or the imperative, told by the article that follows.
_VERB_FIRST = re.compile(r"^([A-Z][a-z]{2,})\s+(?=(?:the|an?|all|any|each|every|this|its)\b)")
_DOUBLED = re.compile(r"^[^aeiou]*[aeiou][bdgmnprt]$")


class Example(NamedTuple):
    """A question, and the text of its answer as the encoder reads it."""

    query: str
    text: str
    kind: str
    """What the question was made of: one of `KINDS`."""
    symbol: str
    """The symbol that answers."""


KINDS = ("doc", "name", "said", "heading", "place", "topic", "change", "english")

# Questions about a file as a whole: any other part of it may answer as well.
OF_FILES = frozenset({"heading", "topic", "change"})

# Names and messages agree with their answers word by word, which other evidence sees better. More
# of them pull the vectors from meaning towards words.
NAMES_ASKED = 0.22
NAMES_ASKED_DOCUMENTED = 0.1
MESSAGES_ASKED = 0.3

# Paths tell much, and other evidence has them as well: the code has to be understood without.
PLACE_LEFT_OUT = 0.15

# The name of what is to be found may stand before the code, or in it alone.
NAMED = 0.5

# Questions about a file: one for so many of its symbols, and no more than a few.
SYMBOLS_PER_TOPIC = 5
TOPICS_PER_FILE = 3


def words(name: str) -> list[str]:
    """The words of an identifier or path."""
    return [word for word in _NOT_WORD.split(_CAMEL.sub(" ", name)) if word]


def examples(row: Row, chance: random.Random) -> Iterator[Example]:
    """The examples of one symbol, at most four."""
    symbol = f"{row.path}#{row.name}"
    if row.doc:
        query = _asked(row, chance)
        if len(query.split()) >= 2:
            told = document(row, _left_over(row.doc, chance), chance)
            yield Example(query, told, "doc", symbol)
    name = [] if row.name.endswith("callback") else words(row.name.split("(")[0])
    asked = NAMES_ASKED_DOCUMENTED if row.doc else NAMES_ASKED
    if len(name) > 1 and len(row.name) < 50 and chance.random() < asked:
        query = _by_name(row, name, chance)
        yield Example(query, document(_masked(row), _purpose(row, chance), chance), "name", symbol)
    if row.said and chance.random() < MESSAGES_ASKED:
        query = _by_message(chance.choice(row.said), chance)
        yield Example(query, document(row, _purpose(row, chance), chance), "said", symbol)
    if row.heading and chance.random() < (0.6 if row.members else 0.08):
        query = phrased(row.heading, chance, _project(row))
        yield Example(query, document(row, _purpose(row, chance), chance), "heading", symbol)
    elif row.members and name and chance.random() < 0.15:
        query = _by_place(row, name, chance)
        yield Example(query, document(row, _purpose(row, chance), chance), "place", symbol)


def topics(rows: Sequence[Row], chance: random.Random) -> Iterator[Example]:
    """Questions about what a file is for, made of several of its symbols."""
    told = [row for row in rows if row.doc or len(words(row.name)) > 1]
    if len(told) < 2 or not any(row.doc for row in told):
        return
    for _number in range(min(TOPICS_PER_FILE, 1 + len(told) // SYMBOLS_PER_TOPIC)):
        weights = [1 + row.members + len(row.code) / 400 for row in told]
        first = chance.choices(told, weights)[0]
        other = chance.choice([row for row in told if row is not first])
        query = _joined(first, other, chance)
        if len(query.split()) >= 3:
            answer = document(first, _purpose(first, chance), chance)
            yield Example(query, answer, "topic", f"{first.path}#{first.name}")


def change(row: Row, said: str, chance: random.Random) -> Example:
    """A change request as query, answered by the code that was written for it."""
    query = said.lower() if chance.random() < 0.4 else said
    answer = document(row, _purpose(row, chance), chance)
    return Example(query, answer, "change", f"{row.path}#{row.name}")


def document(row: Row, purpose: str, chance: random.Random) -> str:
    """The chunk as the encoder reads it, with so much of its purpose as is to be known."""
    code = row.code
    if len(code) > 500 and chance.random() < 0.25:
        code = code[: chance.randint(350, len(code))]
    if chance.random() < PLACE_LEFT_OUT:
        return f"{purpose}\n{code}" if purpose else code
    crumb = row.head.partition("\n")[0]
    if chance.random() < NAMED:
        # As if something stood in it: of the names, only the last one is left out.
        crumb += " > "
    return place_and_code(
        f"{crumb}\n---\n{purpose}\n{code}" if purpose else f"{crumb}\n---\n{code}"
    )


def _left_over(doc: str, chance: random.Random) -> str:
    """Often some of the documentation's words: in an index they stand there, if others do."""
    if chance.random() >= 0.35:
        return ""
    share = chance.uniform(0.2, 0.9)
    return " ".join(word for word in doc.split() if chance.random() < share)


def _purpose(row: Row, chance: random.Random) -> str:
    return row.doc if chance.random() < 0.6 else ""


def _masked(row: Row) -> Row:
    base = re.compile(rf"\b{re.escape(row.name.split('(')[0])}\b")
    return row._replace(head=base.sub("", row.head), code=base.sub("", row.code))


def _project(row: Row) -> str:
    return row.source.rpartition("+")[2]


def _asked(row: Row, chance: random.Random) -> str:
    query = row.doc
    first, _blank, rest = query.partition(" ")
    if first.strip("().`") == row.name and rest and chance.random() < 0.9:
        query = _AFTER_NAME.sub("", rest) if chance.random() < 0.7 else rest
    return phrased(query, chance, _project(row))


def phrased(
    query: str,
    chance: random.Random,
    project: str = "",
    questions: Sequence[str] = _QUESTIONS,
) -> str:
    """A sentence as people would type it: a phrase, some words, a question."""
    query = query.rstrip(".")
    verb = _VERB_FIRST.match(query)
    if verb and chance.random() < 0.4:
        query = _with_verb(verb[1].lower(), query[verb.end() :], project, chance)
    elif chance.random() < 0.5:
        query = _LEADING_VERB.sub("", query, count=1)
    if chance.random() < 0.4:
        query = " ".join(query.split()[: chance.randint(5, 11)])
    if chance.random() < 0.2:
        query = " ".join(word for word in query.split() if word.lower() not in _SMALL_WORDS)
    elif chance.random() < 0.25 and query and not verb:
        query = chance.choice(questions).format(query[:1].lower() + query[1:])
    return query.lower() if chance.random() < 0.4 else query


def _with_verb(verb: str, rest: str, project: str, chance: random.Random) -> str:
    """How something does it, how it is done, doing it."""
    base = _base(verb)
    if chance.random() < 0.5:
        return f"{_gerund(base)} {rest}"
    if project and chance.random() < 0.5:
        return f"how {project} {_third_person(base)} {rest}"
    return f"how to {base} {rest}"


def _base(verb: str) -> str:
    if verb.endswith("ies"):
        return verb[:-3] + "y"
    if verb.endswith(("sses", "shes", "ches", "xes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def _third_person(base: str) -> str:
    if base.endswith(("ss", "sh", "ch", "x")):
        return base + "es"
    return base[:-1] + "ies" if re.search(r"[^aeiou]y$", base) else base + "s"


def _gerund(base: str) -> str:
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        return base[:-1] + "ing"
    return base + base[-1] + "ing" if _DOUBLED.match(base) else base + "ing"


def _joined(first: Row, other: Row, chance: random.Random) -> str:
    """One question of two symbols of a file."""
    about = first.doc or other.doc
    said = " ".join(phrased(about, chance, _project(first)).split()[: chance.randint(4, 9)])
    names = [
        " ".join(words(row.name)) if chance.random() < 0.5 else row.name for row in (first, other)
    ]
    way = chance.random()
    if way < 0.3:
        query = f"{names[0]} and {names[1]} for {said}"
    elif way < 0.55 and first.doc and other.doc:
        beside = " ".join(phrased(other.doc, chance).split()[: chance.randint(3, 6)])
        query = f"{said} and {beside}"
    elif way < 0.75:
        query = f"{' '.join(words(first.path.rsplit('/', 1)[-1].rsplit('.', 1)[0]))} {said}"
    elif way < 0.9:
        query = f"{said} {chance.choice(('with', 'and', 'in', 'of'))} {names[1]}"
    else:
        query = f"how {_project(first)} {said}"
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
