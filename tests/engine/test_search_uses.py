"""A question about where something is used, over a real index."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.types.search import Filter, Hit, Mode, Signal

FILES = {
    "src/tokens.py": 'def check(token):\n    """Whether a token is good."""\n    return token.ok\n',
    "src/login.py": (
        "from tokens import check\n\ndef login(token):\n    check(token)\n    return check(token.next)\n"
    ),
    "src/logout.py": "from tokens import check\n\ndef logout(token):\n    return check(token)\n",
    "tests/test_tokens.py": "from tokens import check\n\ndef test_check():\n    assert check(1) and check(2) and check(3)\n",
    "src/other.py": "def other(token):\n    return token\n",
}


@pytest.fixture
def ask(engine: Engine, tmp_path: Path) -> Callable[[SearchRequest], list[Hit]]:
    root = tmp_path / "shop"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    registered = engine.register(root)
    engine.index(registered)

    def hits(request: SearchRequest) -> list[Hit]:
        return [kept.hit for kept in engine.search(registered, request).selection.kept]

    return hits


Ask = Callable[[SearchRequest], list[Hit]]
QUESTION = SearchRequest(text="where is check used")


def test_those_who_use_it_come_first_and_tests_last_of_them(ask: Ask) -> None:
    hits = ask(QUESTION)
    assert [hit.chunk.name for hit in hits][:3] == ["login", "logout", "test_check"]
    assert hits[0].why[0] == Signal("uses", 2.0)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_the_definition_is_among_the_rest(ask: Ask) -> None:
    found = {hit.chunk.name: hit.score for hit in ask(QUESTION)}
    assert found["check"] < found["logout"]


def test_filters_hold(ask: Ask) -> None:
    hits = ask(replace(QUESTION, where=Filter(path_prefixes=("src/",))))
    assert {hit.chunk.relative_path.partition("/")[0] for hit in hits} == {"src"}
    assert hits[0].chunk.name == "login"


def test_a_name_without_usages_is_searched_for_as_any_other(ask: Ask) -> None:
    hits = ask(SearchRequest(text="where is login used"))
    assert hits[0].chunk.name == "login"
    assert not any(signal.name == "uses" for hit in hits for signal in hit.why)


def test_meaning_alone_does_not_look_names_up(ask: Ask) -> None:
    hits = ask(replace(QUESTION, mode=Mode.semantic))
    assert not any(signal.name == "uses" for hit in hits for signal in hit.why)
