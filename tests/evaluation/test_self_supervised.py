"""Sets made from a repository: each category's questions and their answers."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from asterism.config.sections import WorkSettings
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.evaluation.adapters import EngineSearcher, given_of, word_search
from asterism.evaluation.datasets import FoundPlace, LabelledPlace, Query
from asterism.evaluation.self_supervised import Draw, SetOptions, make_queries, misspelt
from asterism.store.registry import Registered
from asterism.types.errors import IndexMissing, UsageError
from asterism.types.search import Detail, Hit, Kept, Lines
from tests.store.chunk_samples import chunk

LEDGER = '''\
class LedgerAccount:
    """Keeps in an account the money that is owed to other people."""

    def deposit_amount(self, cents):
        """Adds to what the owner already has at hand."""
        if cents < 0:
            raise ValueError("an amount cannot be negative here")
        self.balance_cents = self.balance_cents + cents
        return self.balance_cents


def close_account(ledger_account):
    ledger_account.deposit_amount(1)
    return ledger_account.deposit_amount(2)
'''
BANK = '''\
from ledger import close_account


def shut_everything(accounts):
    """Says goodbye to `close_account` and all guests still waiting outside."""
    for account in accounts:
        close_account(account)
    raise SystemExit("x" * 9)
'''
README = """\
# Bank

The customers go away one after the other when `LedgerAccount` is told to do so.
"""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    places = DataDirectories(tmp_path / "data", tmp_path / "cache")
    return Engine(places, lambda _root: Settings(work=WorkSettings(jobs=1)))


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    root = tmp_path / "bank"
    root.mkdir()
    (root / "ledger.py").write_text(LEDGER)
    (root / "bank.py").write_text(BANK)
    (root / "README.md").write_text(README)
    return root


@pytest.fixture
def queries(engine: Engine, bank: Path) -> list[Query]:
    registered = engine.register(bank)
    engine.index(registered)
    return make_queries(registered, SetOptions())


def of(queries: Sequence[Query], category: str) -> dict[str, tuple[LabelledPlace, ...]]:
    return {query.query: query.targets for query in queries if query.category == category}


def test_definitions_by_name(queries: list[Query]) -> None:
    assert of(queries, "definition") == {
        "LedgerAccount": (LabelledPlace("ledger.py", 1, 1),),
        "deposit_amount": (LabelledPlace("ledger.py", 4, 4),),
        "close_account": (LabelledPlace("ledger.py", 12, 12),),
        "shut_everything": (LabelledPlace("bank.py", 4, 4),),
    }


def test_misspelt_names_are_nobodys(queries: list[Query]) -> None:
    found = of(queries, "misspelt")
    assert len(found) == 4
    assert not set(found) & set(of(queries, "definition"))
    assert set(found.values()) == set(of(queries, "definition").values())


def test_documentation_without_the_words_of_the_name(queries: list[Query]) -> None:
    assert of(queries, "docstring") == {
        "Keeps in an the money that is owed to other people.": (LabelledPlace("ledger.py", 1, 9),),
        "Adds to what the owner already has at hand.": (LabelledPlace("ledger.py", 4, 9),),
        "Says goodbye to `close_account` and all guests still waiting outside.": (
            LabelledPlace("bank.py", 4, 8),
        ),
    }


def test_mentions_name_where_they_come_from(queries: list[Query]) -> None:
    found = {query.query: query for query in queries if query.category == "mention"}
    told = found["The customers go away one after the other when is told to do so."]
    assert told.targets == (LabelledPlace("ledger.py", 1, 1),)
    assert told.given == (LabelledPlace("README.md", 1, 3),)
    assert told.language == "python"
    bye = found["Says goodbye to and all guests still waiting outside."]
    assert (bye.targets, bye.given) == (
        (LabelledPlace("ledger.py", 12, 12),),
        (LabelledPlace("bank.py", 4, 8),),
    )


def test_literals_that_stand_once(queries: list[Query]) -> None:
    assert of(queries, "literal") == {
        "an amount cannot be negative here": (LabelledPlace("ledger.py", 7, 7),)
    }


def test_snippets_from_the_middle(queries: list[Query]) -> None:
    text = 'if cents < 0:\n            raise ValueError("an amount cannot be negative here")'
    assert any(text in snippet for snippet in of(queries, "snippet"))
    assert LabelledPlace("ledger.py", 5, 7) in [
        target for targets in of(queries, "snippet").values() for target in targets
    ]


def test_users_of_a_name_by_chunk(queries: list[Query]) -> None:
    found = of(queries, "usage")
    assert found["where is deposit_amount used"] == (LabelledPlace("ledger.py", 13, 14),)
    assert found["where is close_account used"] == (LabelledPlace("bank.py", 7, 7),)
    assert "where is shut_everything used" not in found


def test_sets_are_the_same_every_time_and_other_with_another_seed(
    engine: Engine, bank: Path, queries: list[Query]
) -> None:
    registered = engine.register(bank)
    assert make_queries(registered, SetOptions()) == queries
    small = make_queries(registered, SetOptions(per_category=1))
    assert len(of(small, "definition")) == 1
    assert len({query.id for query in queries}) == len(queries)
    other = make_queries(registered, SetOptions(seed=2))
    assert list(of(other, "definition")) != list(of(queries, "definition"))


def test_what_cannot_be_answered(queries: list[Query]) -> None:
    found = of(queries, "unanswerable")
    assert len(found) == 40
    assert set(found.values()) == {()}


def test_a_text_that_stands_twice_is_no_question(engine: Engine, bank: Path) -> None:
    (bank / "copy.txt").write_text("an amount cannot be negative here\n")
    registered = engine.register(bank)
    engine.index(registered)
    assert of(make_queries(registered, SetOptions()), "literal") == {}


def test_a_repository_without_anything(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    registered = engine.register(tmp_path / "empty")
    engine.index(registered)
    with pytest.raises(IndexMissing, match="Nothing of"):
        make_queries(registered, SetOptions())


def test_the_engine_as_a_searcher(engine: Engine, bank: Path) -> None:
    searcher = EngineSearcher(engine, word_search)
    assert searcher.index(bank).endswith(" chunks")
    best = searcher.search("owner already has at hand", 3)[0]
    name = "LedgerAccount.deposit_amount"
    assert best == FoundPlace("ledger.py", 4, 9, best.tokens, name, 1.0, kind="method")
    assert best.tokens is not None
    assert best.tokens > 50
    assert searcher.search("?!", 3) == []
    assert searcher.within("owner", 3, 100) is None
    searcher.close()
    with pytest.raises(UsageError, match="call `index` first"):
        searcher.search("owner", 3)


def test_the_engine_under_a_budget(engine: Engine, bank: Path) -> None:
    def within(registered: Registered, query: str, limit: int, budget: int) -> Sequence[Kept]:
        request = SearchRequest(text=query, limit=limit, token_budget=budget)
        return engine.search(registered, request).selection.kept

    searcher = EngineSearcher(engine, word_search, within=within)
    searcher.index(bank)
    for budget in (40, 90, 2_000):
        found = searcher.within("LedgerAccount", 30, budget)
        assert found
        # Each place is rounded up by itself here.
        assert sum(place.tokens or 0 for place in found) < budget + len(found)
        assert any(place.shown == "code" for place in found) is (budget > 40)


KEPT = Hit(chunk("a.py", start_line=10, end_line=19), 0.5)


NAMED = (10, 19, 1, "name")


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        (Kept(KEPT, Detail.full, "1234" * 5, 10), [(10, 19, 5, "code")]),
        (Kept(KEPT, Detail.collapsed, "12345", 1), [(10, 19, 2, "code")]),
        (Kept(KEPT, Detail.within, "", 0, within="x"), [(10, 19, 0, "code")]),
        (Kept(KEPT, Detail.signature, "1234", 1), [NAMED]),
        (Kept(KEPT, Detail.location, "1234", 1), [NAMED]),
        (
            Kept(KEPT, Detail.cut, "1234", 3, left_out=Lines(13, 19)),
            [NAMED, (10, 12, 0, "lines")],
        ),
        (Kept(KEPT, Detail.cut, "1234", 0, left_out=Lines(10, 19)), [NAMED]),
        (
            Kept(KEPT, Detail.lines, "1234", 3, gaps=(Lines(10, 11), Lines(14, 18))),
            [NAMED, (12, 13, 0, "lines"), (19, 19, 0, "lines")],
        ),
    ],
)
def test_what_a_hit_is_returned_as(kept: Kept, expected: list[tuple[int, int, int, str]]) -> None:
    found = given_of(kept)
    assert {(place.path, place.score) for place in found} == {("a.py", 0.5)}
    assert [
        (place.start_line, place.end_line, place.tokens, place.shown) for place in found
    ] == expected


@pytest.mark.parametrize("number", range(60))
def test_a_slip_is_one_edit(number: int) -> None:
    name = "deposit_amount"
    slip = misspelt(name, number * 7919)
    assert slip != name
    assert slip[0] == name[0]
    assert slip in edits(name)


def edits(name: str) -> set[str]:
    """Everything that one edit makes of a name."""
    letters = "abcdefghijklmnopqrstuvwxyz_"
    cuts = [(name[:at], name[at:]) for at in range(len(name))]
    swapped = {left + right[1::-1] + right[2:] for left, right in cuts if len(right) > 1}
    dropped = {left + right[1:] for left, right in cuts}
    typed = {left + letter + right[1:] for left, right in cuts for letter in letters}
    added = {left + letter + right for left, right in cuts for letter in letters}
    return swapped | dropped | typed | added


def test_slips_in_odd_names() -> None:
    assert misspelt("aaaa", 0) == "aaa"
    assert misspelt("ab", 5) == "abb"


def test_a_draw_does_not_depend_on_order_or_numbers() -> None:
    def drawn(keys: Sequence[int], size: int) -> list[int]:
        draw = Draw[int](size, "seed")
        for key in keys:
            draw.offer(str(key), key)
        return draw.drawn()

    everything = drawn(range(100), 100)
    assert sorted(everything) == list(range(100))
    assert everything != sorted(everything)
    assert drawn(range(99, -1, -1), 10) == everything[:10]
    assert drawn([*range(100), *range(100)], 10) == everything[:10]
    assert drawn(range(50), 10) == [key for key in everything if key < 50][:10]
