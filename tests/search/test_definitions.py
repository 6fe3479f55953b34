"""Does definition mode find what the names of a question are?"""

from collections.abc import Iterator

import pytest

from asterism.search.lookup import SymbolAnswer, find_definitions, names_wanted
from asterism.search.query.parse import understand
from asterism.types.errors import UsageError
from asterism.types.search import NO_FILTER, Filter
from tests.search.harbor_index import HarborIndex, harbor_index


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HarborIndex]:
    with harbor_index(tmp_path_factory.mktemp("definitions")) as made:
        yield made


def ask(index: HarborIndex, text: str, where: Filter = NO_FILTER) -> SymbolAnswer:
    return find_definitions(index.catalogue, index.snapshot, understand(text), where)


def names(answer: SymbolAnswer) -> list[str]:
    return [f"{one.row.kind} {one.row.qualified_name}" for one in answer.found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TokenService", ["class TokenService"]),
        ("where is TokenService defined?", ["class TokenService"]),
        ("definition of bearerToken", ["function bearerToken"]),
        ("`bearerToken()`", ["function bearerToken"]),
        ("TokenService.issue", ["method TokenService.issue"]),
        ("TokenService::issue", ["method TokenService.issue"]),
        ("symbol = TokenService > issue", ["method TokenService.issue"]),
        ("bearerToken and TokenService", ["function bearerToken", "class TokenService"]),
        ("where is issue defined", ["method TokenService.issue"]),
        ("TOKEN_PREFIX", ["const TOKEN_PREFIX"]),
    ],
)
def test_exact_names(index: HarborIndex, text: str, expected: list[str]) -> None:
    answer = ask(index, text)
    assert names(answer) == expected
    assert not answer.other_case
    assert answer.did_you_mean == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tokenservice", ["class TokenService"]),
        ("TOKENSERVICE.Issue", ["method TokenService.issue"]),
        ("tokenService.issue", ["method TokenService.issue"]),
        ("token_prefix", ["const TOKEN_PREFIX"]),
        ("symbol = TOKENSERVICE.TS > BearerToken", ["function bearerToken"]),
    ],
)
def test_other_capitals_are_marked(index: HarborIndex, text: str, expected: list[str]) -> None:
    answer = ask(index, text)
    assert names(answer) == expected
    assert answer.other_case


def test_nothing_found_gives_hints(index: HarborIndex) -> None:
    answer = ask(index, "TokenServise")
    assert answer.found == ()
    assert not answer.other_case
    assert answer.did_you_mean == ("TokenService",)


def test_a_filter_says_what_it_left_out(index: HarborIndex) -> None:
    answer = ask(index, "TokenService", Filter(kinds=("function",)))
    assert (answer.total_matches, answer.filtered_out) == (0, 1)
    assert not answer.other_case
    assert answer.did_you_mean == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("parse", ["parse"]),
        ("where is the function parse defined", ["parse"]),
        ("the definition", ["the", "definition"]),
        ("find the --dry-run flag", ["flag"]),
        ("class Foo", ["Foo"]),
        ("what does parse_all do", ["parse_all"]),
    ],
)
def test_names_wanted(text: str, expected: list[str]) -> None:
    question = understand(text)
    assert [name for name in names_wanted(question) if name not in ("dry", "run")] == expected


@pytest.mark.parametrize("text", ["regex:foo", "42", '"=>"'])
def test_without_a_name(text: str) -> None:
    with pytest.raises(UsageError, match="Definition mode"):
        names_wanted(understand(text))
