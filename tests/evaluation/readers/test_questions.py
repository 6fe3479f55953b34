"""Are the readers' questions well formed, and is nothing fitted on their repositories?"""

import json
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


@pytest.mark.parametrize("part", PARTS)
def test_a_part_covers_ten_repositories_in_eight_languages(part: str) -> None:
    languages = {question["repo"]: question["language"] for question in questions(part)}
    assert len(languages) == 10
    # TypeScript and JavaScript count as one language here.
    assert len({name.replace("typescript", "javascript") for name in languages.values()}) == 8


def test_every_language_has_two_questions_without_an_answer() -> None:
    counts = Counter(q["language"] for q in ALL if q["kind"] == "unanswerable")
    assert all(counts[question["language"]] >= 2 for question in ALL)


def test_a_repository_has_one_commit_and_is_named_in_the_readme() -> None:
    readme = (HERE / "README.md").read_text("utf-8")
    commits = {(question["repo"], question["commit"]) for question in ALL}
    assert len(commits) == len({repo for repo, _commit in commits})
    assert not [
        (repo, commit) for repo, commit in commits if f"{repo} | {commit[:12]}" not in readme
    ]


def test_no_list_of_training_or_evaluation_names_their_repositories() -> None:
    lists = {path: path.read_text("utf-8").lower() for path in (ROOT / "training").rglob("*.toml")}
    assert ROOT / "training/sources/sources.toml" in lists
    repos = {question["repo"].lower() for question in ALL}
    assert not [(path.name, repo) for path, text in lists.items() for repo in repos if repo in text]
