"""Do wishes become a dataset about the sources of their clones?"""

import json
from pathlib import Path

import pytest

from asterism.evaluation.datasets import load_dataset
from tests.training.source_trees import FILES, clone
from training.evaluation import change_requests as changes
from training.evaluation.change_requests import chosen, subjects_by_source
from training.sources.archives import SourceFile

PATHS = sorted(FILES)
WISHES = [
    ["Renew sessions before they end", "shop", PATHS[0], "renew"],
    ["Renew sessions before they end", "shop", PATHS[1], "Queue"],
    ["Say which session is open", "shop", PATHS[0], "open"],
    ["Say what is gone", "shop", "gone.py", "gone"],
    ["Belongs to somebody else", "other", PATHS[0], "open"],
]


@pytest.fixture
def wishes(tmp_path: Path) -> Path:
    path = tmp_path / "wishes.jsonl"
    path.write_text("".join(f"{json.dumps(wish)}\n" for wish in WISHES))
    return path


def test_a_subject_has_all_files_that_answer_it(wishes: Path) -> None:
    found = subjects_by_source(wishes)
    assert found.keys() == {"shop", "other"}
    assert sorted(found["shop"]["Renew sessions before they end"]) == PATHS[:2]


def test_from_clones_to_a_dataset(wishes: Path, tmp_path: Path) -> None:
    folder, out = clone(tmp_path / "shop", FILES), tmp_path / "out"
    arguments = [str(folder), "--wishes", str(wishes), "--out", str(out)]
    assert changes.main(arguments) == 0
    for path in PATHS:
        assert (out / "repos" / "shop" / path).read_text("utf-8") == FILES[path]
    asked = {query.query: query for query in load_dataset(out / "queries.jsonl").queries}
    assert asked.keys() == {"Renew sessions before they end", "Say which session is open"}
    both = asked["Renew sessions before they end"]
    assert [target.path for target in both.targets] == PATHS[:2]
    assert (both.repo, both.category) == ("shop", "wish")
    assert changes.main([*arguments, "--size", "1"]) == 0
    assert len(load_dataset(out / "queries.jsonl").queries) == 1


def test_of_a_large_repository_the_folders_that_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(changes, "FILES_AT_MOST", 3)
    files = [SourceFile(f"{folder}/{name}.py", b"") for folder in "ab" for name in "xyz"]
    wished = {"Keep what is asked for": ["b/x.py", "b/y.py"], "Know the other": ["a/x.py"]}
    assert [file.path for file in chosen(files, wished)] == ["b/x.py", "b/y.py", "b/z.py"]
    assert chosen(files[:3], wished) == files[:3]


@pytest.mark.parametrize("missing", ["clone", "wishes"])
def test_what_is_not_there_is_said_at_once(
    missing: str, wishes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"clone": clone(tmp_path / "shop", FILES), "wishes": wishes}
    given[missing] = tmp_path / "nowhere"
    arguments = [str(given["clone"]), "--wishes", str(given["wishes"])]
    with pytest.raises(SystemExit):
        changes.main([*arguments, "--out", str(tmp_path / "out")])
    assert "nowhere does not exist" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
