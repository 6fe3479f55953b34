"""Labelled queries from files: both formats, and what is said of a bad line."""

import json
from pathlib import Path

import pytest

from asterism.evaluation.datasets import (
    DatasetRepository,
    LabelledPlace,
    PathMatch,
    Query,
    load_dataset,
    titles_only,
    write_dataset,
)
from asterism.types.errors import PathMissing, PathUnreadable, UsageError

LINE = {"id": "1", "query": "q", "repo": "shop", "targets": [{"path": "a.py"}]}


def write(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def test_our_own_format(tmp_path: Path) -> None:
    full = {
        "id": "2",
        "query": "who",
        "repo": "shop",
        "language": "go",
        "category": "usage",
        "targets": [{"path": "a.go", "start_line": 3, "end_line": 5}, {"path": "b.go"}],
        "given": [{"path": "README.md", "start_line": 1}],
    }
    found = load_dataset(write(tmp_path / "set.jsonl", LINE, full))
    assert found.name == "set"
    assert found.match is PathMatch.strict
    assert found.checkouts == {"shop": DatasetRepository("shop")}
    assert found.queries == (
        Query("1", "q", "shop", (LabelledPlace("a.py"),)),
        Query(
            "2",
            "who",
            "shop",
            (LabelledPlace("a.go", 3, 5), LabelledPlace("b.go")),
            "go",
            "usage",
            (LabelledPlace("README.md", 1),),
        ),
    )


def test_a_question_that_cannot_be_answered(tmp_path: Path) -> None:
    path = write(tmp_path / "set.jsonl", LINE | {"targets": []})
    queries = load_dataset(path).queries
    assert queries == (Query("1", "q", "shop", ()),)
    write_dataset(path, queries)
    assert load_dataset(path).queries == queries


def test_readers_questions(tmp_path: Path) -> None:
    symbol = {"path": "a.py", "name": "A.b", "kind": "method", "start": 3, "end": 5}
    line: dict[str, object] = {"id": "1", "repo": "o/shop", "commit": "c0ffee", "kind": "how"}
    line |= {"query": "q", "wanted": [symbol], "all_needed": True, "language": "go"}
    path = write(tmp_path / "set.jsonl", line)
    queries = load_dataset(path).queries
    target = LabelledPlace("a.py", 3, 5, name="A.b", kind="method")
    expected = Query("1", "q", "o/shop", (target,), "go", "how", commit="c0ffee", needs_all=True)
    assert queries == (expected,)
    assert queries[0].by_symbol
    write_dataset(path, queries)
    assert load_dataset(path).queries == queries


@pytest.mark.parametrize("name", ["first", "second"])
def test_the_sets_in_the_repository(name: str) -> None:
    found = load_dataset(Path(__file__).parent / "readers" / f"{name}.jsonl")
    assert len(found.queries) == 100
    assert sum(query.by_symbol for query in found.queries) == 90
    assert len({(query.repo, query.commit) for query in found.queries}) == 10


ISSUE = {"instance_id": "1", "repo": "o/shop", "base_commit": "c0ffee", "query": "Title\nmore"}


@pytest.mark.parametrize(
    ("functions", "targets"),
    [
        ([["a.py", "A.b", 3, 5]], (LabelledPlace("a.py", 3, 5, name="A.b"),)),
        ([], (LabelledPlace("a.py"), LabelledPlace("b.py"))),
    ],
)
def test_issues(
    tmp_path: Path, functions: list[object], targets: tuple[LabelledPlace, ...]
) -> None:
    line = ISSUE | {"gold_files": ["a.py", "b.py"], "gold_functions": functions}
    found = load_dataset(write(tmp_path / "set.jsonl", line))
    (query,) = found.queries
    assert query.targets == targets
    assert (query.commit, query.needs_all, query.category) == ("c0ffee", True, "issue")
    assert query.files == ("a.py", "b.py")
    assert titles_only(found).queries == (query._replace(query="Title"),)


def test_the_benchmarks_folder(tmp_path: Path) -> None:
    target = {"path": "src/a.py", "start": 2, "end": 4, "raw": "a.py", "secondary": True}
    write(tmp_path / "queries.jsonl", LINE | {"targets": [target]})
    (tmp_path / "repos.json").write_text(
        json.dumps([{"name": "shop", "language": "python", "benchmark_root": "src"}])
    )
    for path in (tmp_path, tmp_path / "queries.jsonl"):
        found = load_dataset(path)
        assert found.name == tmp_path.name
        assert found.match is PathMatch.suffix
        assert found.checkouts == {"shop": DatasetRepository("shop", "python", "src")}
        assert found.queries[0].targets == (LabelledPlace("src/a.py", 2, 4, "a.py"),)


def test_a_root_of_null_is_the_whole_checkout(tmp_path: Path) -> None:
    write(tmp_path / "queries.jsonl", LINE)
    (tmp_path / "repos.json").write_text('[{"name": "shop", "benchmark_root": null}]')
    assert load_dataset(tmp_path).checkouts["shop"].root == ""


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    queries = (
        Query(
            "1",
            "größe \n zwei",
            "shop",
            (LabelledPlace("a", 1, 2, "b"),),
            "go",
            "x",
            (LabelledPlace("c"),),
        ),
        Query("2", "q", "shop", (LabelledPlace("a"),)),
    )
    path = tmp_path / "set.jsonl"
    write_dataset(path, queries)
    assert len(path.read_text().splitlines()) == 2
    assert load_dataset(path).queries == queries


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "it is no JSON"),
        ("[]", "a line has to be a JSON object"),
        (LINE | {"id": 3}, "`id` has to be a text"),
        (LINE | {"query": " "}, "`query` has to be a text"),
        (LINE | {"repo": None}, "`repo` has to be a text"),
        (LINE | {"language": 1}, "`language` has to be a text"),
        ({"id": "1", "query": "q", "repo": "shop"}, "`targets` is missing"),
        (LINE | {"targets": None}, "`targets` has to be a list"),
        (LINE | {"targets": ["a.py"]}, "`targets` has to be a list of objects with a `path`"),
        (LINE | {"targets": [{}]}, "`path` has to be a text"),
        (LINE | {"targets": [{"path": "a", "start": 0}]}, "`start_line` has to be a line number"),
        (LINE | {"targets": [{"path": "a", "start": True}]}, "`start_line` has to be a line"),
        (
            LINE | {"targets": [{"path": "a", "start": 3, "end": 2}]},
            "a target ends before it starts",
        ),
        (LINE | {"targets": [{"path": "a", "end_line": 2}]}, "a target ends before it starts"),
        (LINE | {"given": {}}, "`given` has to be a list"),
        (LINE, "the id '1' was used before"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: object, why: str) -> None:
    path = tmp_path / "set.jsonl"
    text = line if isinstance(line, str) else json.dumps(line)
    path.write_text(f"{json.dumps(LINE)}\n\n{text}\n")
    with pytest.raises(UsageError) as caught:
        load_dataset(path)
    assert f"set.jsonl:3: {why}" in str(caught.value)


@pytest.mark.parametrize(
    ("repos", "why"),
    [
        ("{}", "a list of objects"),
        ("[", "correct it"),
        ('[{"name": 1}]', "`name` has to be a text"),
    ],
)
def test_a_bad_list_of_repositories_is_named(tmp_path: Path, repos: str, why: str) -> None:
    write(tmp_path / "queries.jsonl", LINE)
    (tmp_path / "repos.json").write_text(repos)
    with pytest.raises(UsageError, match=why):
        load_dataset(tmp_path)


def test_a_repository_that_is_not_listed(tmp_path: Path) -> None:
    write(tmp_path / "queries.jsonl", LINE)
    (tmp_path / "repos.json").write_text('[{"name": "other"}]')
    with pytest.raises(UsageError, match="does not list 'shop'"):
        load_dataset(tmp_path)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"gold_files": []}, "`gold_files` is empty"),
        ({"gold_files": 1}, "have to be lists"),
        ({"gold_files": ["a.py"], "gold_functions": [["a.py", "b"]]}, "argument"),
        ({"gold_files": ["a.py"], "gold_functions": [["a.py", "b", 5, 3]]}, "ends before"),
    ],
)
def test_a_bad_issue_is_named(tmp_path: Path, given: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        load_dataset(write(tmp_path / "set.jsonl", ISSUE | given))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(PathMissing):
        load_dataset(tmp_path / "no.jsonl")
    with pytest.raises(PathMissing):
        load_dataset(tmp_path)
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n")
    with pytest.raises(UsageError, match="holds no queries"):
        load_dataset(empty)
    empty.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PathUnreadable):
        load_dataset(empty)
    with pytest.raises(PathUnreadable, match="cannot be written"):
        write_dataset(tmp_path / "no" / "set.jsonl", [])
