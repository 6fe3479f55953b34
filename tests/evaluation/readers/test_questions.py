"""Are the readers' questions well formed, and is nothing fitted on their repositories?"""

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).parent
PARTS = [path.name for path in sorted(HERE.glob("*.jsonl"))]
KEYS = {"id", "repo", "commit", "language", "kind", "query", "wanted", "all_needed"}
KINDS = {
    "behaviour",
    "change",
    "error",
    "how",
    "long",
    "misspelt",
    "name",
    "unanswerable",
    "where",
}
PER_REPOSITORY = 10
LONG = range(60, 171)
MOST_WORDS = 19


def questions(part: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / part).read_text("utf-8").splitlines()]


ALL = [question for part in PARTS for question in questions(part)]


@pytest.mark.parametrize("question", ALL, ids=lambda question: question["id"])
def test_a_question_is_well_formed(question: dict[str, Any]) -> None:
    assert question.keys() == KEYS
    assert question["kind"] in KINDS
    assert bool(question["wanted"]) == (question["kind"] != "unanswerable")
    assert len(question["wanted"]) <= 3
    words = len(question["query"].split())
    assert words in LONG if question["kind"] == "long" else words <= MOST_WORDS
    for symbol in question["wanted"]:
        assert symbol.keys() == {"path", "name", "kind", "start", "end"}
        assert 1 <= symbol["start"] <= symbol["end"]


def test_ids_and_queries_are_unique() -> None:
    for key in ("id", "query"):
        assert not [value for value, count in Counter(q[key] for q in ALL).items() if count > 1]


@pytest.mark.parametrize("part", PARTS)
def test_every_repository_has_as_many_questions(part: str) -> None:
    counts = Counter(question["repo"] for question in questions(part))
    assert set(counts.values()) == {PER_REPOSITORY}


def test_a_repository_has_one_commit_and_is_named_in_the_readme() -> None:
    readme = (HERE / "README.md").read_text("utf-8")
    commits = {(question["repo"], question["commit"]) for question in ALL}
    assert len(commits) == len({repo for repo, _commit in commits})
    assert not [
        (repo, commit) for repo, commit in commits if f"{repo} | {commit[:12]}" not in readme
    ]


def test_nothing_is_trained_or_measured_on_their_repositories() -> None:
    sources = tomllib.loads((ROOT / "training/sources/sources.toml").read_text("utf-8"))
    unseen = tomllib.loads((ROOT / "training/evaluation/unseen.toml").read_text("utf-8"))
    used = {name.lower() for table in sources.values() for name in table}
    used |= {repository["slug"].lower() for repository in unseen.values()}
    assert not used & {question["repo"].lower() for question in ALL}
