"""Of all exact matches, which does a reader see first?"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from asterism.indexing.plan import SyncOptions, options_hash
from asterism.indexing.sync import sync
from asterism.search.exact.order import READ_AT_MOST, Matches, most_useful
from asterism.search.exact.search import find_exact
from asterism.search.query.parse import understand
from asterism.search.ranking.options import RankOptions
from asterism.types.index import Repository
from asterism.types.search import Hit
from tests.indexing.workshop import workshop

FILES = {
    "README.md": "# Guide\n\nCall parse. Then parse again, and parse once more. Then parse.\n",
    "a_calls.py": "from core import parse\n\n\ndef one(x):\n    return parse(x)\n",
    "b_calls.py": "def many(x):\n    y = parse(x)\n    z = parse(y)\n    return parse(z)\n",
    "core.py": "def parse(x):\n    return x\n",
    "tests/test_core.py": "def test_it():\n    parse(1)\n    parse(2)\n    parse(3)\n    parse(4)\n",
}


@pytest.fixture(scope="module")
def matches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Matches]:
    base = tmp_path_factory.mktemp("order")
    for name, text in FILES.items():
        (base / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
        (base / "repo" / name).write_text(text)
    for number in range(READ_AT_MOST + 10):
        (base / "repo" / f"z_{number:03}.txt").write_text("a common word\n")
    options = SyncOptions(workers=1)
    with workshop(Path(base / "index"), "memory") as made:
        repository = Repository("repo", "repo", str(base / "repo"))
        made.index.catalogue.add_repository(repository, options_hash(options))
        sync(made.index, repository, options)
        snapshot = made.index.table().snapshot(made.index.catalogue.chunks_version())
        question = understand("parse")
        yield Matches(question, find_exact(snapshot, question), made.index.catalogue, snapshot)


def ordered(matches: Matches, text: str) -> list[Hit]:
    question = understand(text)
    answer = find_exact(matches.snapshot, question)
    return most_useful(matches._replace(question=question, answer=answer), RankOptions())


@pytest.mark.parametrize("text", ["parse", '"parse"'])
def test_the_definition_then_the_most_uses_then_imports_prose_and_tests(
    matches: Matches, text: str
) -> None:
    hits = ordered(matches, text)
    assert [(hit.chunk.relative_path, hit.lines) for hit in hits] == [
        ("core.py", (1,)),
        ("b_calls.py", (2, 3, 4)),
        ("a_calls.py", (5,)),
        ("tests/test_core.py", (2, 3, 4, 5)),
        ("README.md", (3,)),
        ("a_calls.py", (1,)),
    ]
    assert {hit.score for hit in hits} == {1.0}
    assert "definition" in {signal.name for signal in hits[0].why}


def test_a_pattern_defines_nothing(matches: Matches) -> None:
    hits = ordered(matches, r"regex:parse\(")
    assert [hit.chunk.relative_path for hit in hits] == [
        *("b_calls.py", "a_calls.py", "core.py", "tests/test_core.py"),
    ]


def test_only_so_many_are_read(matches: Matches) -> None:
    hits = ordered(matches, "common")
    assert len(hits) == READ_AT_MOST
    assert [hit.chunk.relative_path for hit in hits[:2]] == ["z_000.txt", "z_001.txt"]
