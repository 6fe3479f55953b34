"""`asterism eval`: from a repository to a set, a run, its tables and a comparison."""

import json
from argparse import Namespace
from pathlib import Path

import pytest

from asterism.cli.commands.eval import run
from asterism.evaluation.runs import load_run, save_run
from asterism.types.errors import UsageError
from tests.evaluation.fakes import result, run_of

DEFAULTS = {
    "dataset": None,
    "make": None,
    "repos_dir": None,
    "checkout": None,
    "titles": False,
    "no_replies": False,
    "adapter": None,
    "template": None,
    "index_command": None,
    "baseline": False,
    "index_dir": None,
    "arg": None,
    "repo": None,
    "scope": "root",
    "match": None,
    "limit": 10,
    "repeats": 1,
    "out": None,
    "compare": None,
    "reliability": False,
    "seed": 1,
    "size": 40,
    "json": False,
}

ADAPTER = """\
class Adapter:
    name = "mine"
    def __init__(self, path="shop.py"):
        self.path = path
    def index(self, repo_dir):
        return repo_dir
    def search(self, handle, query, k):
        return [(self.path, None, None)]
"""


def options(**given: object) -> Namespace:
    return Namespace(**{**DEFAULTS, **given})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a small repository, and places for its indexes."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ASTERISM_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("ASTERISM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("ASTERISM_WORK_JOBS", "1")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "shop.py").write_text("def sell_something(buyer):\n    return buyer\n")
    (tmp_path / "adapter.py").write_text(ADAPTER)
    line = {"id": "1", "query": "sell", "repo": "shop", "targets": [{"path": "shop.py"}]}
    (tmp_path / "set.jsonl").write_text(json.dumps(line))
    return tmp_path


def test_from_a_repository_to_a_comparison(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(options(make="shop", out="made.jsonl")) == 0
    assert "queries about shop in made.jsonl." in capsys.readouterr().out
    # The repository is found by its name, since it is registered.
    assert run(options(dataset="made.jsonl", baseline=True, out="run.json")) == 0
    assert "## words by BM25 on made" in capsys.readouterr().out
    assert load_run(Path("run.json")).results[0].measures.ndcg == 1.0
    again = options(dataset="made.jsonl", adapter="adapter.py", compare="run.json")
    assert run(again) == 0
    assert "## mine against words by BM25 on made" in capsys.readouterr().out


def test_an_evaluation_leaves_the_users_indexes_alone(here: Path) -> None:
    run(options(dataset="set.jsonl", repos_dir=".", baseline=True))
    assert not (here / "data").exists()
    run(options(dataset="set.jsonl", repos_dir=".", baseline=True, index_dir="kept"))
    assert (here / "kept" / "data").exists()
    assert not (here / "data").exists()


def test_an_adapter_with_arguments_as_json(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"dataset": "set.jsonl", "repos_dir": ".", "adapter": "adapter.py", "json": True}
    run(options(**given))
    found = json.loads(capsys.readouterr().out)
    assert (found["name"], found["results"][0]["ranks"]) == ("mine", [1])
    run(options(**given, arg=["path=x=y.py"]))
    found = json.loads(capsys.readouterr().out)
    assert found["results"][0]["found"][0][0] == "x=y.py"
    with pytest.raises(UsageError, match="key=value"):
        run(options(**given, arg=["path"]))


def test_how_far_scores_can_be_trusted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        {"id": "1", "query": "sell_something", "repo": "shop", "targets": [{"path": "shop.py"}]},
        {"id": "2", "query": "orbit of a satellite", "repo": "shop", "targets": []},
    ]
    (here / "set.jsonl").write_text("\n".join(map(json.dumps, lines)))
    given = {"dataset": "set.jsonl", "repos_dir": "."}
    run(options(**given))
    plain = capsys.readouterr().out
    assert "| threshold | unanswerable |" in plain
    assert "calibration error" not in plain
    run(options(**given, reliability=True))
    assert "calibration error" in capsys.readouterr().out
    run(options(**given, json=True))
    found = json.loads(capsys.readouterr().out)
    assert found["reliability"]["thresholds"][0]["unanswerable"] == 1
    assert found["summary"]["measures"]["budget_code_recall"]["queries"] == 1.0


def issue(number: int, commit: str, query: str, function: list[object]) -> dict[str, object]:
    return {
        "instance_id": f"shop-{number}",
        "repo": "acme/shop",
        "base_commit": commit,
        "query": query,
        "gold_files": ["shop.py"],
        "gold_functions": [function],
    }


def test_issues_are_scored_by_symbol(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "shop" / "old").write_text("def refund(buyer):\n    return -buyer.paid\n")
    (here / "shop" / "new").write_text("\n\ndef give_back(buyer):\n    return -buyer.paid\n")
    lines = [
        issue(1, "old", "refund\nis it negative?", ["shop.py", "refund", 1, 2]),
        issue(2, "new", "give_back is negative", ["shop.py", "give_back", 3, 4]),
    ]
    (here / "set.jsonl").write_text("\n".join(map(json.dumps, lines)))
    given = {"dataset": "set.jsonl", "repos_dir": ".", "out": "run.json", "titles": True}
    run(options(**given, checkout="cp {repo}/{commit} {repo}/shop.py"))
    out = capsys.readouterr().out
    assert "| function@1 | function@5 | function@10 | reply in 2,000 tokens |" in out
    results = load_run(Path("run.json")).results
    assert [one.functions for one in results] == [(1.0, 1.0, 1.0)] * 2
    assert [one.reply and one.reply[:4] for one in results] == [(1.0, 1.0, 1.0, 1)] * 2
    run(options(dataset="run.json", compare="run.json"))
    assert "| reply in 8,000 tokens |" in capsys.readouterr().out
    run(options(**given, checkout="cp {repo}/{commit} {repo}/shop.py", no_replies=True))
    assert "reply in" not in capsys.readouterr().out
    with pytest.raises(UsageError, match="does not say"):
        run(options(**given, checkout="true"))


def test_a_command(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"dataset": "set.jsonl", "repos_dir": ".", "template": "echo shop.py:1:2"}
    assert run(options(**given)) == 0
    assert "## echo on set" in capsys.readouterr().out


def test_two_saved_runs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_run(here / "old.json", run_of(result("1", 0.25), name="old"))
    save_run(here / "new.json", run_of(result("1", 0.75), name="new"))
    assert run(options(dataset="new.json", compare="old.json")) == 0
    out = capsys.readouterr().out
    assert "## new on set" in out
    assert "+0.5000" in out
    run(options(dataset="new.json", compare="old.json", json=True))
    found = json.loads(capsys.readouterr().out)
    assert found["differences"]["NDCG@10"]["mean"] == 0.5
    assert found["summary"]["measures"]["ndcg"]["queries"] == 0.75


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "Give a dataset"),
        ({"make": "shop"}, "where the set is to be written"),
        ({"make": "shop", "out": "x", "size": 0}, "from 1"),
        ({"dataset": "set.jsonl", "adapter": "adapter.py"}, "No repository is called shop"),
        (
            {"dataset": "set.jsonl", "adapter": "adapter.py", "repos_dir": ".", "limit": 0},
            "least 1",
        ),
    ],
)
def test_what_is_refused(here: Path, given: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        run(options(**given))
