"""Do change requests become a dataset about the sources of their clones?"""

import json
from pathlib import Path

import pytest

from asterism.evaluation.datasets import load_dataset
from tests.training.source_trees import FILES, clone
from training.evaluation import change_requests as changes
from training.evaluation.change_requests import chosen, subjects_by_source
from training.sources.archives import SourceFile

PATHS = sorted(FILES)
REQUESTS = [
    ["Renew sessions before they end", "shop", PATHS[0], "renew"],
    ["Renew sessions before they end", "shop", PATHS[1], "Queue"],
    ["Say which session is open", "shop", PATHS[0], "open"],
    ["Say what is gone", "shop", "gone.py", "gone"],
    ["Belongs to another source", "other", PATHS[0], "open"],
]


@pytest.fixture
def change_requests(tmp_path: Path) -> Path:
    path = tmp_path / "change-requests.jsonl"
    path.write_text("".join(f"{json.dumps(change)}\n" for change in REQUESTS))
    return path


def test_a_subject_has_all_files_that_answer_it(change_requests: Path) -> None:
    found = subjects_by_source(change_requests)
    assert found.keys() == {"shop", "other"}
    assert sorted(found["shop"]["Renew sessions before they end"]) == PATHS[:2]


def test_from_clones_to_a_dataset(change_requests: Path, tmp_path: Path) -> None:
    folder, out = clone(tmp_path / "shop", FILES), tmp_path / "out"
    arguments = [str(folder), "--change-requests", str(change_requests), "--out", str(out)]
    assert changes.main(arguments) == 0
    for path in PATHS:
        assert (out / "repos" / "shop" / path).read_text("utf-8") == FILES[path]
    asked = {query.query: query for query in load_dataset(out / "queries.jsonl").queries}
    assert asked.keys() == {"Renew sessions before they end", "Say which session is open"}
    both = asked["Renew sessions before they end"]
    assert [target.path for target in both.targets] == PATHS[:2]
    assert (both.repo, both.category) == ("shop", "change")
    assert changes.main([*arguments, "--size", "1"]) == 0
    assert len(load_dataset(out / "queries.jsonl").queries) == 1


def test_of_a_large_repository_the_folders_that_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(changes, "FILES_AT_MOST", 3)
    files = [SourceFile(f"{folder}/{name}.py", b"") for folder in "ab" for name in "xyz"]
    requested = {"Keep what is asked for": ["b/x.py", "b/y.py"], "Know the other": ["a/x.py"]}
    assert [file.path for file in chosen(files, requested)] == ["b/x.py", "b/y.py", "b/z.py"]
    assert chosen(files[:3], requested) == files[:3]


@pytest.mark.parametrize("missing", ["clone", "change_requests"])
def test_what_is_not_there_is_said_at_once(
    missing: str, change_requests: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"clone": clone(tmp_path / "shop", FILES), "change_requests": change_requests}
    given[missing] = tmp_path / "nowhere"
    arguments = [str(given["clone"]), "--change-requests", str(given["change_requests"])]
    with pytest.raises(SystemExit):
        changes.main([*arguments, "--out", str(tmp_path / "out")])
    assert "nowhere does not exist" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
