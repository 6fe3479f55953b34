"""A dataset through a searcher: what is asked, what is measured, and what is refused."""

from pathlib import Path

import pytest

from asterism.evaluation.datasets import (
    Dataset,
    DatasetRepository,
    FoundPlace,
    LabelledPlace,
    PathMatch,
    Query,
)
from asterism.evaluation.replies import UNREADABLE_TOKENS, ReplyText, SourceLines
from asterism.evaluation.run import (
    BUDGET_PLACES,
    FUNCTION_PLACES,
    WARMING,
    SearchOptions,
    run_dataset,
)
from asterism.types.errors import PathMissing, UsageError
from tests.evaluation.fakes import FakeSearcher

QUERIES = (
    Query("b1", "where", "beta", (LabelledPlace("src/b.py", 2, 3),), category="semantic"),
    Query("a1", "what", "alpha", (LabelledPlace("a.py"),), "go", "symbol"),
    Query("a2", "given", "alpha", (LabelledPlace("a.py", 2, 2),), given=(LabelledPlace("doc.md"),)),
)
CHECKOUTS = {
    "alpha": DatasetRepository("alpha", "python"),
    "beta": DatasetRepository("beta", "python", "src"),
}
DATASET = Dataset("set", QUERIES, CHECKOUTS)


@pytest.fixture
def repos(tmp_path: Path) -> Path:
    for name in ("alpha/a.py", "alpha/doc.md", "beta/src/b.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1234567\n" * 4)
    return tmp_path


def test_each_repository_is_indexed_and_each_question_asked(repos: Path) -> None:
    searcher = FakeSearcher(
        {
            "where": [
                FoundPlace("c.py", 1, 1),
                FoundPlace(f"{repos.resolve()}/beta/src/b.py", 1, 2),
            ],
            "what": [FoundPlace("./a.py", None, None, 7)],
            "given": [
                FoundPlace("doc.md", 1, 1),
                *[FoundPlace("x.py", tokens=1)] * 9,
                FoundPlace("a.py", 1, 2),
            ],
        }
    )
    heard: list[str] = []
    run = run_dataset(
        DATASET,
        lambda checkout: repos / checkout.name,
        searcher,
        SearchOptions(),
        lambda building, results: heard.append(f"{building.repo} {len(results)}"),
    )
    assert searcher.indexed == [(repos / "alpha").resolve(), (repos / "beta" / "src").resolve()]
    assert searcher.closed == 2
    assert searcher.asked == [
        (WARMING, 10),
        ("what", 10),
        # The places so far are less than 2,000 tokens, so more fit.
        ("what", BUDGET_PLACES),
        # More is asked for, since what was given is left out of the ranking.
        ("given", 20),
        ("given", BUDGET_PLACES),
        (WARMING, 10),
        ("where", 10),
    ]
    assert heard == ["alpha 2", "beta 1"]
    assert [(found.id, found.ranks, found.language, found.category) for found in run.results] == [
        ("a1", (1,), "go", "symbol"),
        ("a2", (10,), "python", ""),
        ("b1", (2,), "python", "semantic"),
    ]
    assert [found.right for found in run.results] == [(True,), (*[False] * 9, True), (False, True)]
    assert run.results[0].found == (FoundPlace("a.py", None, None, 7),)
    # Two lines of eight characters, after a file that is not there.
    assert run.results[2].found[1] == FoundPlace("b.py", 1, 2, 4)
    assert run.results[2].measures.first_tokens == UNREADABLE_TOKENS + 4
    assert (run.match, run.limit, run.scope) == (PathMatch.strict, 10, "root")
    assert [building.size for building in run.buildings] == ["2 chunks", "2 chunks"]
    assert run.peak_bytes > 0


def test_the_whole_checkout_and_one_repository(repos: Path) -> None:
    searcher = FakeSearcher({"where": [FoundPlace("src/b.py", 3, 3)]})
    options = SearchOptions(scope="full", repos=("beta",), limit=3, repeats=2)
    run = run_dataset(DATASET, lambda checkout: repos / checkout.name, searcher, options)
    assert searcher.indexed == [(repos / "beta").resolve()]
    assert searcher.asked == [(WARMING, 3), ("where", 3), ("where", 3), ("where", BUDGET_PLACES)]
    assert [found.ranks for found in run.results] == [(1,)]


def test_what_is_returned_within_a_budget(repos: Path) -> None:
    """A tool that knows budgets is measured by its output, any other by its places in order."""
    answers = {
        "where": [
            FoundPlace("b.py", 1, 1, 1990),
            FoundPlace("b.py", 2, 2, 20),
            FoundPlace("b.py", 3, 3),
        ]
    }
    options = SearchOptions(scope="root", repos=("beta",))

    def recalls(searcher: FakeSearcher) -> tuple[float, float, float]:
        run = run_dataset(DATASET, lambda checkout: repos / checkout.name, searcher, options)
        found = run.results[0].measures
        return found.budget_recall, found.budget_lines_recall, found.budget_code_recall

    # The second place is no longer read to its end.
    assert recalls(FakeSearcher(answers)) == (0.0, 0.0, 0.0)
    assert recalls(FakeSearcher({"where": answers["where"][1:]})) == (1.0, 1.0, 1.0)
    named = FoundPlace("b.py", 2, 3, 9, shown="name")
    lines = FoundPlace("b.py", 3, 3, 0, shown="lines")
    others = FoundPlace("b.py", 1, 1, 0, shown="lines")
    assert recalls(FakeSearcher(answers, {"where": [named, others]})) == (1.0, 0.0, 0.0)
    assert recalls(FakeSearcher(answers, {"where": [named, lines]})) == (1.0, 1.0, 0.0)
    assert recalls(FakeSearcher(answers, {"where": [FoundPlace("b.py", 3, 3)]})) == (1.0, 1.0, 1.0)
    assert recalls(FakeSearcher(answers, {})) == (0.0, 0.0, 0.0)


def test_a_question_that_cannot_be_answered(repos: Path) -> None:
    dataset = Dataset("set", (Query("a3", "what", "alpha", ()),), CHECKOUTS)
    searcher = FakeSearcher({"what": [FoundPlace("a.py", score=0.2)]})
    run = run_dataset(dataset, lambda checkout: repos / checkout.name, searcher, SearchOptions())
    (found,) = run.results
    assert not found.is_answerable
    assert (found.ranks, found.right, found.found[0].score) == ((), (False,), 0.2)


SYMBOL = LabelledPlace("src/b.py", 2, 3, name="sell", kind="function")


def test_symbols_in_the_list_and_in_the_reply(repos: Path) -> None:
    """Functions are counted in a longer list; the reply is read as the tool wrote it."""
    found = [FoundPlace("b.py", 1, 1, kind="import"), FoundPlace("b.py", 2, 3, kind="function")]
    reply = ReplyText("# b.py\n1234567\n1234567\n", 1)
    queries = (Query("b1", "where", "beta", (SYMBOL,)),)
    dataset = Dataset("set", queries, CHECKOUTS)

    def measured(searcher: FakeSearcher, replies: bool = True) -> tuple[object, object]:
        options = SearchOptions(replies=replies)
        run = run_dataset(dataset, lambda checkout: repos / checkout.name, searcher, options)
        assert ("where", FUNCTION_PLACES) in searcher.asked
        return run.results[0].functions, run.results[0].reply

    functions, shown = measured(FakeSearcher({"where": found}, replies={"where": reply}))
    assert functions == (1.0, 1.0, 1.0)
    assert shown == (1.0, 1.0, 1.0, 1, 6, 16 / 23)
    assert measured(FakeSearcher({"where": found[:1]})) == ((0.0, 0.0, 0.0), None)
    told = FakeSearcher({"where": found}, replies={"where": reply})
    assert measured(told, replies=False) == ((1.0, 1.0, 1.0), None)


def test_each_commit_is_checked_out_before_it_is_indexed(repos: Path) -> None:
    queries = [
        Query(f"b{number}", "where", "beta", (SYMBOL,), commit=commit)
        for number, commit in enumerate(("old", "new", "old"))
    ]
    dataset = Dataset("set", queries, CHECKOUTS)
    searcher = FakeSearcher({})
    done: list[tuple[str, str, int]] = []
    options = SearchOptions(
        check_out=lambda top, commit: done.append((top.name, commit, len(searcher.indexed)))
    )
    run = run_dataset(dataset, lambda checkout: repos / checkout.name, searcher, options)
    assert done == [("beta", "old", 0), ("beta", "new", 1)]
    assert [one.id for one in run.results] == ["b0", "b2", "b1"]
    with pytest.raises(UsageError, match="several commits of beta; say with --checkout"):
        run_dataset(dataset, lambda checkout: repos / checkout.name, searcher, SearchOptions())


def test_more_than_was_asked_for_does_not_count(repos: Path) -> None:
    class Eager(FakeSearcher):
        def search(self, query: str, limit: int) -> list[FoundPlace]:
            return [*[FoundPlace("x.py", tokens=1)] * limit, FoundPlace("a.py")]

    options = SearchOptions(repos=("alpha",))
    run = run_dataset(DATASET, lambda checkout: repos / checkout.name, Eager({}), options)
    assert [found.ranks for found in run.results] == [(None,), (None,)]
    assert all(len(found.found) == 10 for found in run.results)


def test_a_searcher_that_fails_is_closed(repos: Path) -> None:
    class Broken(FakeSearcher):
        def search(self, query: str, limit: int) -> list[FoundPlace]:
            raise UsageError("no")

    searcher = Broken({})
    with pytest.raises(UsageError):
        run_dataset(DATASET, lambda checkout: repos / checkout.name, searcher, SearchOptions())
    assert searcher.closed == 1


def test_what_is_missing_is_said_before_anything_is_done(repos: Path) -> None:
    searcher = FakeSearcher({})
    (repos / "beta" / "src" / "b.py").unlink()
    (repos / "beta" / "src").rmdir()
    (repos / "beta").rmdir()
    with pytest.raises(PathMissing, match="beta"):
        run_dataset(DATASET, lambda checkout: repos / checkout.name, searcher, SearchOptions())
    with pytest.raises(UsageError, match="no queries about gamma; choose from alpha, beta"):
        run_dataset(DATASET, lambda _: repos, searcher, SearchOptions(repos=("gamma",)))
    with pytest.raises(UsageError, match="at least 1"):
        run_dataset(DATASET, lambda _: repos, searcher, SearchOptions(limit=0))
    assert searcher.indexed == []


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (FoundPlace("a.py", tokens=5), 5),
        (FoundPlace("a.py"), 8),
        (FoundPlace("a.py", 2, 3), 4),
        (FoundPlace("a.py", 4, 99), 2),
        (FoundPlace("a.py", 50, 60), 0),
        (FoundPlace("no.py", 1, 2), UNREADABLE_TOKENS),
    ],
)
def test_what_a_place_costs_to_read(repos: Path, place: FoundPlace, expected: int) -> None:
    assert SourceLines(repos / "alpha").cost(place) == expected
