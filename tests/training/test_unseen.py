"""Are questions made of the listed parts of clones, at the listed revision, and of nothing else?"""

import json
import tomllib
from pathlib import Path

import pytest

from tests.training.source_trees import GO, PYTHON, ROOT, RUST, clone, git, write_tree
from training.evaluation import unseen
from training.evaluation.unseen import listed

FILES = {
    "src/sessions.py": PYTHON,
    "src/queue/queue.go": GO,
    "src/queue/queue_test.go": GO.replace("Queue", "Tested"),
    "docs/settings.rs": RUST,
}
EARLIER = PYTHON.replace("self.kept[token] = time.time() + self.seconds", "self.kept[token] += 1")


@pytest.fixture
def clones(tmp_path: Path) -> Path:
    folder = clone(tmp_path / "clones" / "owner+shop", {**FILES, "src/sessions.py": EARLIER})
    write_tree(folder, FILES)
    git(folder, "commit", "--quiet", "--all", "--message=auth: count an hour from now on (#3)")
    revision = git(folder, "rev-parse", "HEAD").strip()
    write_tree(folder, {"src/later.py": PYTHON})
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=Later")
    entry = f'slug = "owner/shop"\nrevision = "{revision}"\nparts = ["src"]\n'
    (tmp_path / "list.toml").write_text(f"[shop]\n{entry}")
    (tmp_path / "two.toml").write_text(f"[gone]\n{entry.replace('shop', 'gone')}\n[shop]\n{entry}")
    return tmp_path / "clones"


def test_parts_of_a_revision(clones: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = [str(clones), "--out", str(out), "--list", str(tmp_path / "list.toml")]
    assert unseen.main(arguments) == 0
    repos = out / "repos"
    found = {path.relative_to(repos).as_posix() for path in repos.rglob("*") if path.is_file()}
    assert found == {"shop/src/sessions.py", "shop/src/queue/queue.go"}
    lines = (out / "queries.jsonl").read_text("utf-8").splitlines()
    asked = [json.loads(line) for line in lines]
    assert {question["repo"] for question in asked} == {"shop"}
    assert {"definition", "docstring"} <= {question["category"] for question in asked}
    [change] = [question for question in asked if question["category"] == "change"]
    assert change["query"] == "count an hour from now on"
    assert change["targets"] == [{"path": "src/sessions.py"}]
    assert change["language"] == "python"
    assert unseen.main(arguments) == 0
    assert (out / "queries.jsonl").read_text("utf-8").splitlines() == lines


def test_a_clone_that_is_not_there(
    clones: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = [str(clones), "--out", str(out), "--list", str(tmp_path / "two.toml")]
    assert unseen.main(arguments) == 1
    assert "No clone of owner/gone" in capsys.readouterr().err
    assert (out / "queries.jsonl").stat().st_size > 0


def test_none_of_the_list_was_trained_on() -> None:
    with (ROOT / "training" / "sources" / "sources.toml").open("rb") as file:
        trained = {name.lower() for section in tomllib.load(file).values() for name in section}
    found = listed()
    assert len(found) >= 8
    assert len({one.name for one in found}) == len(found)
    for one in found:
        assert one.slug.lower() not in trained
        assert one.slug.rpartition("/")[2].lower() not in trained
        assert one.parts
