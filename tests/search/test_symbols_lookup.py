"""Does `symbol = …` find every definition of a name, and nothing else?"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from asterism.search.lookup import SymbolAnswer, chunks_of, hints, look_up
from asterism.search.query.parse import understand
from asterism.types.search import NO_FILTER, Filter
from tests.indexing.workshop import workshop
from tests.search.harbor_index import PROJECT, HarborIndex, harbor_index

TOKENS = "web/src/auth/tokenService.ts"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HarborIndex]:
    with harbor_index(tmp_path_factory.mktemp("symbols")) as made:
        yield made


def ask(index: HarborIndex, text: str, where: Filter = NO_FILTER) -> SymbolAnswer:
    question = understand(text)
    assert question.symbol is not None
    return look_up(index.catalogue, index.snapshot, question.symbol, where)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("symbol = TokenService", [(TOKENS, "TokenService")]),
        ("symbol=TokenService", [(TOKENS, "TokenService")]),
        ("symbol = TokenService > issue", [(TOKENS, "TokenService.issue")]),
        ("symbol = TokenService.issue", [(TOKENS, "TokenService.issue")]),
        ("symbol = TokenService::issue", [(TOKENS, "TokenService.issue")]),
        (f"symbol = {TOKENS} > TokenService > issue", [(TOKENS, "TokenService.issue")]),
        ("symbol = tokenService.ts > issue", [(TOKENS, "TokenService.issue")]),
        ("symbol = MemoryRevocationList.has", [(TOKENS, "MemoryRevocationList.has")]),
        ("symbol = TokenService.ttlSeconds", [(TOKENS, "TokenService.ttlSeconds")] * 2),
        ("symbol = tokenservice", []),
        ("symbol = okenService", []),
        ("symbol = web/src/api/client.ts > TokenService", []),
    ],
)
def test_names(index: HarborIndex, text: str, expected: list[tuple[str, str]]) -> None:
    answer = ask(index, text)
    assert [(one.row.filepath, one.row.qualified_name) for one in answer.found] == expected
    assert answer.total_matches == len(expected)
    assert answer.filtered_out == 0
    assert not answer.other_case


def test_all_definitions_are_found(index: HarborIndex) -> None:
    """The chunks with a name are its definitions, read from the other half of the index."""
    for name in ("parse", "clock", "Money", "__init__"):
        answer = ask(index, f"symbol = {name}")
        places = sorted((one.repo, one.row.filepath, one.row.chunk_id) for one in answer.found)
        named = sorted(
            (chunk.repo, chunk.relative_path, chunk.id)
            for chunk in index.chunks
            if chunk.name == name and chunk.part == 0
        )
        assert places == named
        assert len(named) > 1


def test_chunks_of_symbols(index: HarborIndex) -> None:
    answer = ask(index, "symbol = parse")
    chunks = chunks_of(index.snapshot, answer.found)
    assert {chunk.name for chunk in chunks if chunk is not None} == {"parse"}
    assert None not in chunks


@pytest.mark.parametrize(
    ("text", "where", "found", "filtered_out"),
    [
        ("symbol = TokenService", Filter(kinds=("class",)), 1, 0),
        ("symbol = TokenService", Filter(kinds=("function",)), 0, 1),
        ("symbol = TokenService", Filter(is_exported=True, languages=("typescript",)), 1, 0),
        ("symbol = TokenService", Filter(paths=("pricing",)), 0, 1),
        ("symbol = TokenService", Filter(repos=("samples",)), 0, 1),
        ("symbol = TokenService.ttlSeconds", Filter(has_docstring=True), 1, 1),
    ],
)
def test_filters(
    index: HarborIndex, text: str, where: Filter, found: int, filtered_out: int
) -> None:
    answer = ask(index, text, where)
    assert (answer.total_matches, answer.filtered_out) == (found, filtered_out)
    assert answer.did_you_mean == ()


@pytest.mark.parametrize(("is_exported", "names"), [(True, ["at"]), (False, ["note"])])
def test_symbols_that_share_a_chunk(tmp_path: Path, is_exported: bool, names: list[str]) -> None:
    """On one line of the fixture a public property and a private one stand."""
    with workshop(tmp_path) as made:
        made.put("Orders.kt", (PROJECT / "tests/fixtures/kotlin/Orders.kt").read_text())
        made.sync()
        catalogue = made.index.catalogue
        snapshot = made.index.table().snapshot(catalogue.chunks_version())
        where = Filter(is_exported=is_exported)
        found = [
            one.row.name
            for name in ("at", "note")
            for one in look_up(catalogue, snapshot, f"Paid.{name}", where).found
        ]
    assert found == names


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("TokenServise", "TokenService"),
        ("tokenservice", "TokenService"),
        ("token_service", "TokenService"),
        ("TokenServce.issue", "TokenService.issue"),
        ("TokenService > isue", "TokenService.issue"),
        (f"{TOKENS} > bearerTokn", "bearerToken"),
        ("Nothing::issue", "TokenService.issue"),
    ],
)
def test_hints(index: HarborIndex, name: str, first: str) -> None:
    answer = ask(index, f"symbol = {name}")
    assert answer.found == ()
    assert answer.did_you_mean[0] == first
    assert answer.did_you_mean == hints(index.catalogue, name)


def test_no_hint_for_what_is_like_nothing(index: HarborIndex) -> None:
    assert ask(index, "symbol = zzzzqqqqxxxx") == SymbolAnswer(name="zzzzqqqqxxxx")
