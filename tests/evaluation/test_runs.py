"""Runs: their file, their means and their tables."""

from dataclasses import replace
from pathlib import Path

import pytest

from asterism.evaluation.datasets import PathMatch
from asterism.evaluation.replies import ReplyMeasures
from asterism.evaluation.runs import FunctionMeasures, QueryResult, load_run, save_run
from asterism.evaluation.summaries import (
    Averages,
    BootstrapOptions,
    averages,
    mean,
    median_first_tokens,
    percentile,
    summary_json,
    times,
)
from asterism.evaluation.tables import comparison_tables, paired, run_tables, symbol_tables
from asterism.types.errors import PathMissing, PathUnreadable, UsageError
from tests.evaluation.fakes import result, run_of, scored

OPTIONS = BootstrapOptions(draws=200)

RUN = run_of(
    result("1", 1.0, "a", "go", "symbol"),
    result("2", 0.5, "a", "go", "usage"),
    result("3", 0.0, "b", "go", "usage", None),
    result("4", 0.5, "c", "rust", "symbol"),
)


def test_a_run_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    save_run(path, RUN)
    assert load_run(path) == RUN
    measured = result("5", 0.5)._replace(
        functions=FunctionMeasures(0.0, 1.0, 1.0), reply=ReplyMeasures(0.0, 0.5, 1.0, 2, 9, 0.5)
    )
    save_run(path, run_of(measured))
    assert load_run(path) == run_of(measured)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"asterism_run": 3}', '{"asterism_run": 1}'])
def test_another_file_is_not_a_run(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"run\.json is (not a saved run|of another version)"):
        load_run(path)


def test_a_run_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PathMissing):
        load_run(tmp_path / "no.json")
    with pytest.raises(PathUnreadable):
        save_run(tmp_path / "no" / "run.json", RUN)


def test_means_over_queries_repositories_and_languages() -> None:
    # Repositories: 0.75, 0 and 0.5; languages: go 0.375, rust 0.5.
    found = averages(RUN.results, lambda one: one.measures.ndcg)
    assert found == Averages(0.5, 1.25 / 3, 0.4375)
    assert averages([], lambda one: one.ms) == Averages(0.0, 0.0, 0.0)


def test_a_repository_of_two_languages_counts_in_each_with_its_own_queries() -> None:
    mixed = [result("1", 1.0, "a", "go"), result("2", 0.5, "a", "go"), result("3", 0.0, "a", "c")]
    assert averages(mixed, lambda one: one.measures.ndcg) == Averages(0.5, 0.5, 0.375)


def test_the_figures_of_a_run_for_programs() -> None:
    found = summary_json(RUN)
    assert (found["queries"], found["unanswerable"]) == (4, 0)
    assert found["measures"]["mrr"] == {
        "queries": 0.5,
        "repositories": 1.25 / 3,
        "languages": 0.4375,
    }
    assert found["median_first_tokens"] == 10
    assert found["times"]["peak_bytes"] == 3 * 2**20


def test_a_run_by_symbol() -> None:
    def symbol(id_: str, repo: str, first: float, recall: float, tokens: int) -> QueryResult:
        reply = ReplyMeasures(recall, recall, recall, 2, tokens, 0.25 * recall)
        functions = FunctionMeasures(first, first, 1.0)
        return result(id_, 0.5, repo)._replace(functions=functions, reply=reply)

    silent = scored("4", (0.2, False), is_answerable=False)
    nothing = silent._replace(reply=ReplyMeasures(0.0, 0.0, 0.0, 0, 50, 0.0))
    code = silent._replace(id="5", reply=ReplyMeasures(0.0, 0.0, 0.0, 2, 500, 0.0))
    found = run_of(symbol("1", "a", 1.0, 1.0, 400), symbol("2", "b", 0.0, 0.0, 800), nothing, code)
    text = symbol_tables(found, OPTIONS)
    row = next(line for line in text.splitlines() if line.startswith("| all "))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:9] == ["2", "0.500", "0.500", "0.500", "1.000", "0.500", "0.500", "0.500"]
    assert cells[10:] == ["2", "400", "800", "25%"]
    assert "| b " in text
    assert "Code is shown for 1 of 2 queries without an answer (50%)." in text
    assert "| function@10 |" not in run_tables(found, OPTIONS)
    assert "| reply in 4,000 tokens |" in comparison_tables(found, found, OPTIONS)
    assert summary_json(found)["functions"] == {"first": 0.5, "first_5": 0.5, "first_10": 1.0}
    assert symbol_tables(RUN, OPTIONS) == ""
    assert summary_json(RUN)["replies"] is None


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [([3, 1, 2], 50, 2), ([1, 2, 3, 4, 5], 90, 5), ([1, 2, 3, 4, 5], 0, 1), ([], 50, 0.0)],
)
def test_percentiles(values: list[float], percent: float, expected: float) -> None:
    assert percentile(values, percent) == expected


def test_a_miss_costs_more_than_any_hit() -> None:
    some = [result("1", 1, first_tokens=5), result("2", 1, first_tokens=90)]
    missed = result("3", 0, first_tokens=None)
    assert median_first_tokens([*some, missed]) == 90
    assert median_first_tokens([missed, missed, some[0]]) is None
    assert median_first_tokens([]) is None
    assert mean([]) == 0.0


def test_what_a_run_cost() -> None:
    found = times(RUN)
    assert (found.query_p50_ms, found.query_p90_ms) == (2.0, 2.0)
    assert (found.query_p50_cpu_ms, found.query_p90_cpu_ms) == (1.0, 1.0)
    assert (found.index_seconds, found.index_cpu_seconds) == (2.5, 1.5)


def cells(text: str, first: str) -> list[str]:
    """The cells of the table row that begins with a word."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    return next(row for row in rows if row[0] == first)


def test_the_tables_of_a_run() -> None:
    text = run_tables(RUN, OPTIONS)
    assert text.startswith("## fake on set\n")
    assert cells(text, "queries")[:4] == ["queries", "n", "NDCG@10", "interval"]
    everything = cells(text, "all")
    assert everything[1:3] == ["4", "0.5000"]
    assert everything[-1] == "10"
    assert cells(text, "symbol")[1:3] == ["2", "0.7500"]
    assert cells(text, "usage")[-1] == "–"
    assert cells(text, "rust")[1:5] == ["1", "0.5000", "0.500 to 0.500", "0.5000"]
    assert "mean of repositories 0.4167, of languages 0.4375" in text
    assert cells(text, "fake")[1:] == [
        "2.00 ms",
        "2.00 ms",
        "1.00 ms",
        "1.00 ms",
        "2.5 s",
        "1.5 s",
        "3 MiB",
    ]


def test_questions_without_an_answer_are_in_no_mean() -> None:
    with_one = replace(RUN, results=(*RUN.results, scored("5", is_answerable=False)))
    assert run_tables(with_one, OPTIONS) == run_tables(RUN, OPTIONS)
    assert comparison_tables(RUN, with_one, OPTIONS) == comparison_tables(RUN, RUN, OPTIONS)
    found = summary_json(with_one)
    assert (found["queries"], found["unanswerable"]) == (4, 1)
    assert found["measures"] == summary_json(RUN)["measures"]


def test_one_category_has_no_table_of_its_own() -> None:
    text = run_tables(run_of(result("1", 1.0)), OPTIONS)
    assert "category" not in text
    assert "language  " not in text


def test_two_runs_side_by_side() -> None:
    after = run_of(
        result("1", 0.5, "a", "go", "symbol"),
        result("2", 1.0, "a", "go", "usage"),
        result("3", 1.0, "b", "go", "usage"),
        result("9", 1.0, "b", "go", "usage"),
        name="new",
    )
    text = comparison_tables(RUN, after, OPTIONS)
    assert text.startswith("## new against fake on set\n")
    assert cells(text, "measure")[2:4] == ["fake", "new"]
    assert cells(comparison_tables(RUN, RUN, OPTIONS), "measure")[2:4] == ["before", "after"]
    found = cells(text, "NDCG@10")
    assert found[:5] == ["NDCG@10", "3", "0.5000", "0.8333", "+0.3333"]
    assert found[-2:] == ["2", "1"]
    assert cells(text, "usage")[1:5] == ["2", "0.2500", "1.0000", "+0.7500"]
    assert "2 results are of queries that only one of the runs has." in text
    assert cells(text, "new")[0] == "new"


def test_runs_that_cannot_be_compared() -> None:
    with pytest.raises(UsageError, match="another limit: 10 and 5"):
        paired(RUN, replace(RUN, limit=5))
    with pytest.raises(UsageError, match="another match"):
        paired(RUN, replace(RUN, match=PathMatch.suffix))
    with pytest.raises(UsageError, match="no query in common"):
        paired(RUN, replace(RUN, results=()))
