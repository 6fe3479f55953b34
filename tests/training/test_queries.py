"""Are questions made of what a symbol says, and never of what its answer gives away by itself?"""

import random
from collections import Counter

import pytest

from tests.training.source_trees import PYTHON
from training.examples.mine import rows_of_file
from training.examples.queries import KINDS, Example, examples, phrased, words
from training.examples.rows import Row
from training.sources.archives import SourceFile

ROWS = list(rows_of_file(SourceFile("src/auth/sessions.py", PYTHON.encode()), "owner+shop"))
RENEW = next(row for row in ROWS if row.name == "renew_session")
ROUNDS = 300


def made(row: Row, rounds: int = ROUNDS) -> list[Example]:
    return [example for seed in range(rounds) for example in examples(row, random.Random(seed))]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("renew_session", ["renew", "session"]),
        ("HTTPServer2Go", ["HTTP", "Server2", "Go"]),
        ("a/b-c.d", ["a", "b", "c", "d"]),
        ("", []),
        ("__init__", ["init"]),
    ],
)
def test_words(name: str, expected: list[str]) -> None:
    assert words(name) == expected


def test_the_same_chance_the_same_questions() -> None:
    for row in ROWS:
        assert list(examples(row, random.Random(3))) == list(examples(row, random.Random(3)))


def test_kinds() -> None:
    counts = Counter(example.kind for row in ROWS for example in made(row))
    assert set(counts) <= set(KINDS)
    assert {"doc", "name", "said", "heading"} <= set(counts)
    # What people ask in words is most of it.
    assert counts["doc"] > counts["name"]


def test_every_answer_is_the_code() -> None:
    for example in made(RENEW):
        assert "def" in example.text
        assert example.query.strip()
        assert "\n" not in example.query


def test_documentation_is_not_given_away() -> None:
    """A question is of its sentence; the text has some of its words at most, or none."""
    texts = [example.text for example in made(RENEW) if example.kind == "doc"]
    assert sum(RENEW.doc in text for text in texts) < 0.1 * len(texts)
    assert sum("an hour from now" not in text for text in texts) > 0.6 * len(texts)


def test_names_are_masked() -> None:
    asked = [example for example in made(RENEW) if example.kind == "name"]
    assert asked
    for example in asked:
        assert "renew" in example.query.lower()
        assert "renew_session" not in example.text


def test_messages() -> None:
    asked = [example for example in made(RENEW) if example.kind == "said"]
    assert asked
    for example in asked:
        said = set(RENEW.said[0].split())
        assert (
            len(said & set(example.query.split()) | said & set(example.query.lower().split())) > 2
        )


def test_a_symbol_that_says_nothing() -> None:
    silent = RENEW._replace(doc="", said=(), heading="", name="x", members=0)
    assert made(silent) == []


def test_phrases_are_never_empty() -> None:
    sentences = ("Returns the end of a session.", "A", "The", "Is it open?", "Creates the cart")
    for sentence in sentences:
        for seed in range(ROUNDS):
            assert "{}" not in phrased(sentence, random.Random(seed))
    asked = {phrased("Returns the end of a session.", random.Random(seed)) for seed in range(100)}
    assert len(asked) > 10
    assert all("session" in query.lower() or "end" in query.lower() for query in asked)
