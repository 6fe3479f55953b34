"""Which priors a path and a chunk have."""

from typing import Any

import pytest

from asterism.search.ranking.options import RankOptions
from asterism.search.ranking.priors import Company, chunk_priors, file_priors
from asterism.search.recall import FileKey
from asterism.types.search import Intent, Question
from tests.search.selection_hits import hit


def names(path: str, question: Question, *others: str) -> list[str]:
    file = FileKey("shop", path)
    company = Company([file, *(FileKey("shop", other) for other in others)])
    found = file_priors(file, company, question, RankOptions())
    return [signal.name.removeprefix("prior:") for signal in found]


PLAIN = Question(text="where are tokens checked", terms=("tokens", "checked"))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/tokens.py", []),
        ("src/contest.py", []),
        ("src/latest.ts", []),
        ("tests/tokens.py", ["test"]),
        ("src/test_tokens.py", ["test"]),
        ("pkg/tokens_test.go", ["test"]),
        ("src/tokens.spec.ts", ["test"]),
        ("src/TokensTest.java", ["test"]),
        ("spec/models/tokens.rb", ["test"]),
        ("specs/tokens.mts", ["test"]),
        ("pkg/spec/tokens.go", []),
        ("core/src/main/java/shop/spec/Session.java", []),
        ("core/src/main/java/shop/testing/Session.java", []),
        ("core/src/main/java/shop/SessionTest.java", ["test"]),
        ("core/src/commonMain/kotlin/spec/Session.kt", []),
        ("core/src/commonTest/kotlin/Session.kt", ["test"]),
        ("src/Contest.java", []),
        ("src/__testfixtures__/tokens.ts", ["test"]),
        ("features/step_definitions/tokens.rb", ["test"]),
        ("examples/login.py", ["example"]),
        ("src/compat/tokens.py", ["compatibility"]),
        ("docs/tokens.md", ["documentation"]),
        ("packages/bench/tokens.ts", ["test"]),
        ("src/workbench/tokens.ts", []),
        ("vendor/tokens.go", ["generated"]),
        ("dist/tokens.js", ["generated"]),
        ("api/tokens_pb2.py", ["generated"]),
        ("src/__init__.py", ["barrel"]),
    ],
)
def test_paths(path: str, expected: list[str]) -> None:
    assert names(path, PLAIN) == expected


def test_who_speaks_of_tests_may_not_want_them() -> None:
    question = Question(text="how is a test run on another thread")
    assert names("tests/runner.py", question) == ["mentioned_test"]
    assert names("src/runner.py", question) == []


@pytest.mark.parametrize(
    ("path", "other", "expected"),
    [
        ("api/v1/tokens.ts", "api/v2/tokens.ts", ["older_version"]),
        ("api/v2/tokens.ts", "api/v1/tokens.ts", []),
        ("api/v1/tokens.ts", "web/v2/tokens.ts", []),
        ("lib/tokens.h", "lib/tokens.c", ["header"]),
        ("lib/tokens.h", "lib/users.c", []),
        ("lib/tokens.c", "lib/tokens.h", []),
    ],
)
def test_companions(path: str, other: str, expected: list[str]) -> None:
    assert names(path, PLAIN, other) == expected


@pytest.mark.parametrize(
    ("path", "intent"),
    [
        ("tests/tokens.py", Intent.tests),
        ("examples/tokens.py", Intent.examples),
        ("docs/tokens.md", Intent.documentation),
    ],
)
def test_what_is_asked_for_is_an_advantage(path: str, intent: Intent) -> None:
    assert "asked" not in names(path, PLAIN)
    assert names(path, Question(text="", intents=frozenset({intent}))) == ["asked"]
    assert RankOptions().priors.asked > 1


def test_compatibility_is_no_disadvantage_where_it_is_asked_for() -> None:
    assert names("src/compat/tokens.py", PLAIN) == ["compatibility"]
    assert names("src/compat/tokens.py", Question(text="the compat layer")) == []


@pytest.mark.parametrize(
    "question",
    [Question(text='"bad token"', phrases=("bad token",)), Question(text="x = y()", is_code=True)],
)
@pytest.mark.parametrize("path", ["tests/tokens.py", "docs/tokens.md", "vendor/tokens.go"])
def test_who_quotes_a_text_asks_where_it_stands(path: str, question: Question) -> None:
    assert names(path, question) == []


def test_an_older_version_is_wanted_where_it_is_named() -> None:
    question = Question(text="v1 tokens", terms=("v1", "tokens"))
    assert names("api/v1/tokens.ts", question, "api/v2/tokens.ts") == []


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("import", "imports"), ("comment", "comment"), ("property", "detail"), ("function", None)],
)
def test_chunks(kind: str, expected: str | None) -> None:
    chunk = hit("token").chunk._replace(node_kind=kind, is_exported=False)
    found = [signal.name for signal in chunk_priors(chunk, PLAIN, RankOptions())]
    assert found == ([f"prior:{expected}"] if expected else [])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (Question(text="refund a parcel"), ["prior:inline_test"]),
        (Question(text="tests of refunds", intents=frozenset({Intent.tests})), []),
        (Question(text="refund(1)", is_code=True), []),
    ],
)
@pytest.mark.parametrize(
    "changes", [{"qualified_name": "tests.paid_ledger"}, {"decorator_names": ("test",)}]
)
def test_a_test_beside_its_code(
    changes: dict[str, Any], question: Question, expected: list[str]
) -> None:
    chunk = hit("token").chunk._replace(node_kind="function", is_exported=False, **changes)
    found = [signal.name for signal in chunk_priors(chunk, question, RankOptions())]
    assert found == expected
