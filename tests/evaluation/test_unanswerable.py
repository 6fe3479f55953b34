"""Questions that a repository cannot answer: which are asked of it, and which are not."""

from pathlib import Path

import pytest

from asterism.evaluation.candidates import TOPICS
from asterism.evaluation.self_supervised import unanswerable_queries


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("class EspressoMachine:\n    pass\n")
    (tmp_path / "b.md").write_text("Scales SERVINGS of a cookbook.\n")
    return tmp_path


def asked(root: Path, files: list[str], size: int = 100, seed: int = 1) -> list[str]:
    return [query.query for query in unanswerable_queries("kitchen", root, files, size, seed)]


def test_a_topic_is_left_out_where_one_of_its_words_stands(kitchen: Path) -> None:
    everything = {topic.question for topic in TOPICS}
    coffee, recipe = (
        next(topic.question for topic in TOPICS if word in topic.words)
        for word in ("espresso", "servings")
    )
    assert set(asked(kitchen, [])) == everything
    assert set(asked(kitchen, ["a.py"])) == everything - {coffee}
    assert set(asked(kitchen, ["a.py", "b.md", "gone.py"])) == everything - {coffee, recipe}


def test_they_have_no_targets_and_ids_of_their_own(kitchen: Path) -> None:
    found = unanswerable_queries("kitchen", kitchen, ["a.py"], 3, 1)
    assert [query.id for query in found] == [f"kitchen-unanswerable-0{n}" for n in (1, 2, 3)]
    assert {(query.targets, query.category) for query in found} == {((), "unanswerable")}


def test_the_seed_says_which_are_drawn(kitchen: Path) -> None:
    assert asked(kitchen, [], 5) == asked(kitchen, [], 5)
    assert asked(kitchen, [], 5, 1) != asked(kitchen, [], 5, 2)


def test_a_question_can_be_told_from_every_other() -> None:
    questions = [topic.question for topic in TOPICS]
    words = [word for topic in TOPICS for word in topic.words]
    assert len(set(questions)) == len(questions)
    assert len(set(words)) == len(words)
    assert all(word == word.lower() for word in words)
