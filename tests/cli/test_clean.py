"""`asterism clean`: what it removes, what it keeps, what it says."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from asterism.engine.cleanup import LEFTOVER_SECONDS
from asterism.indexing.lock import writer
from tests.cli.conftest import Run, terminal


def clean(run: Run, *options: str) -> dict[str, Any]:
    done = run("clean", "--json", *options)
    assert (done.code, done.err) == (0, "")
    found: dict[str, Any] = json.loads(done.out)
    return found


def removed(found: dict[str, Any]) -> list[str]:
    return [Path(entry["path"]).name for entry in found["removed"]]


def orphan(places: Path, name: str) -> Path:
    """The directory of an unregistered index."""
    directory = places / "data" / "projects" / name
    directory.mkdir(parents=True)
    (directory / "catalogue.sqlite").write_bytes(b"x" * 5000)
    (directory / "chunks.lance" / "data").mkdir(parents=True)
    (directory / "chunks.lance" / "data" / "1.lance").write_bytes(b"y" * 7000)
    (directory / "writer.lock").touch()
    (directory / "writer.pid").write_text("1")
    return directory


def age(path: Path) -> None:
    """Make a file older than anything that is still being written."""
    moment = path.lstat().st_mtime - LEFTOVER_SECONDS - 60
    os.utime(path, (moment, moment), follow_symlinks=False)


def test_nothing_to_do(run: Run, repository: Path, places: Path) -> None:
    assert run("clean").out == "0 bytes freed; 0 bytes before, 0 bytes after.\n"
    assert list(places.glob("data/*")) == []


def test_an_index_stays_and_is_tidied_up(run: Run, indexed: Path) -> None:
    found = clean(run)
    assert list(found) == [
        "dry_run",
        "removed",
        "repositories_removed",
        "repositories_kept",
        "maintained",
        "left_alone",
        "bytes_before",
        "bytes_after",
        "bytes_freed",
    ]
    assert (found["maintained"], found["removed"], found["left_alone"]) == (["shop"], [], [])
    assert run("status").code == 0
    assert run("symbols", "main").code == 0
    assert "Indexes that were maintained: shop." in run("clean").out


def test_an_orphan(run: Run, indexed: Path, places: Path) -> None:
    directory = orphan(places, "lost-01234567")
    found = clean(run, "--dry-run")
    assert found["removed"] == [
        {"path": str(directory), "reason": "an index without a project", "bytes": 12001}
    ]
    assert found["bytes_before"] - found["bytes_after"] == found["bytes_freed"] == 12001
    assert directory.exists()
    assert f"Would remove {directory}" in run("clean", "--dry-run").out
    done = run("clean")
    assert f"Removed {directory}  an index without a project, 12,001 bytes" in done.out
    assert not directory.exists()
    assert run("status").code == 0


def test_a_linked_orphan_is_unlinked_and_not_followed(
    run: Run, indexed: Path, places: Path, tmp_path: Path
) -> None:
    precious = orphan(tmp_path / "precious", "things")
    link = places / "data" / "projects" / "lost-01234567"
    link.symlink_to(precious)
    inner = orphan(places, "other-01234567") / "watch-x"
    inner.symlink_to(precious)
    assert removed(clean(run)) == ["lost-01234567", "other-01234567"]
    assert not link.is_symlink()
    assert not inner.parent.exists()
    assert (precious / "chunks.lance" / "data" / "1.lance").read_bytes() == b"y" * 7000
    assert (precious / "catalogue.sqlite").exists()


def test_projects_on_another_disk_are_left_alone(
    run: Run, repository: Path, places: Path, tmp_path: Path
) -> None:
    """If the whole directory is a link, nothing outside is deleted."""
    directory = orphan(tmp_path / "elsewhere", "lost-01234567")
    (places / "data").mkdir()
    (places / "data" / "projects").symlink_to(directory.parent)
    found = clean(run)
    assert found["removed"] == []
    assert "reached through a link" in found["left_alone"][0]
    assert (directory / "catalogue.sqlite").exists()


def test_what_is_not_ours_stays(run: Run, indexed: Path, places: Path) -> None:
    """The data directory may be shared with others by mistake."""
    directory = orphan(places, "thesis")
    (directory / "chapter-1.md").write_text("years of work\n")
    (places / "data" / "projects" / "notes").mkdir()
    (places / "data" / "projects" / "notes" / "a.txt").write_text("x")
    (places / "data" / "projects" / "list.txt").write_text("x")
    assert clean(run, "--yes")["removed"] == []
    assert (directory / "chapter-1.md").exists()
    assert (places / "data" / "projects" / "notes" / "a.txt").exists()
    assert (places / "data" / "projects" / "list.txt").exists()


def test_an_orphan_that_is_written_to_stays(run: Run, indexed: Path, places: Path) -> None:
    directory = orphan(places, "lost-01234567")
    with writer(directory):
        found = clean(run)
    assert found["removed"] == []
    assert "Another process" in found["left_alone"][0]
    assert (directory / "catalogue.sqlite").exists()


def test_a_busy_index_is_left_alone_and_named(run: Run, indexed: Path, places: Path) -> None:
    (directory,) = (places / "data" / "projects").iterdir()
    with writer(directory):
        found = clean(run)
        assert found["maintained"] == []
        assert found["left_alone"][0].startswith("shop is being written to: Another process")
        assert "shop is being written to" in run("clean").out
    assert clean(run)["maintained"] == ["shop"]


def test_a_damaged_index_is_left_alone_and_named(run: Run, indexed: Path, places: Path) -> None:
    (catalogue,) = (places / "data").rglob("catalogue.sqlite")
    catalogue.write_bytes(b"nonsense" * 1000)
    found = clean(run)
    assert (found["maintained"], found["removed"]) == ([], [])
    assert "run `asterism index` to build it again" in found["left_alone"][0]
    assert catalogue.read_bytes() == b"nonsense" * 1000


def test_leftovers(run: Run, indexed: Path, places: Path) -> None:
    (directory,) = (places / "data" / "projects").iterdir()
    old = [
        directory / "catalogue.sqlite.new",
        directory / "catalogue.sqlite.new-wal",
        directory / "watch-shop.new",
        directory / "reading-shop.spool",
        places / "cache" / "embeddings.sqlite.new-1-2",
    ]
    for path in old:
        path.write_text("draft")
        age(path)
    young = directory / "watch-other.new"
    young.write_text("being written at this moment")
    (places / "cache" / "embeddings.sqlite.broken-1700000000").write_text("damaged")
    (directory / "watch-gone.json").write_text("{}")
    (directory / "watch-shop.json").write_text("{}")
    found = clean(run)
    assert sorted(removed(found)) == sorted(
        [
            *(path.name for path in old),
            "embeddings.sqlite.broken-1700000000",
            "watch-gone.json",
        ]
    )
    assert young.exists()
    assert (directory / "watch-shop.json").exists()
    assert (places / "cache" / "embeddings.sqlite").exists()
    assert run("status").code == 0
    assert clean(run)["removed"] == []


def test_the_cache(run: Run, indexed: Path, places: Path) -> None:
    cache = places / "cache" / "embeddings.sqlite"
    assert clean(run)["removed"] == []
    assert forced(run)["cached"] == 9
    would = clean(run, "--cache", "--dry-run")
    assert removed(would) == ["embeddings.sqlite"]
    assert would["bytes_freed"] == cache.stat().st_size
    (entry,) = clean(run, "--cache")["removed"]
    assert entry["path"] == str(cache)
    assert entry["reason"] == "the cache of vectors"
    # An emptied cache is a cache: what is made anew is kept again.
    assert forced(run)["cached"] == 0
    (indexed / "new.py").write_text("def new(): ...\n")
    assert run("index").code == 0
    # Built anew, it had nothing of the old index: the nine were made and kept again.
    assert forced(run)["cached"] == 10


def forced(run: Run) -> dict[str, int]:
    """Where the vectors of an index built anew come from."""
    found: dict[str, int] = json.loads(run("index", "--force", "--json").out)["vectors"]
    return found


@pytest.fixture
def vanished(indexed: Path, tmp_path: Path, run: Run) -> Path:
    """A repository that is gone, and one that stays."""
    os.chdir(tmp_path)
    (tmp_path / "stays").mkdir()
    (tmp_path / "stays" / "a.py").write_text("def stays(): ...\n")
    assert run("index", str(tmp_path / "stays")).code == 0
    shutil.rmtree(indexed)
    return indexed


def known(run: Run) -> list[str]:
    entries = json.loads(run("repos", "--json").out)["repositories"]
    return [entry["repository"] for entry in entries]


def test_a_vanished_repository_is_kept_without_a_word(run: Run, vanished: Path) -> None:
    found = clean(run)
    assert found["repositories_removed"] == []
    assert found["repositories_kept"] == [
        {"project": "shop", "repository": "shop", "root": str(vanished), "parent_missing": False}
    ]
    assert known(run) == ["shop", "stays"]
    assert f"Kept the index of shop: {vanished} is gone; --yes removes it" in run("clean").out


def test_a_vanished_repository_with_yes(run: Run, vanished: Path, places: Path) -> None:
    would = clean(run, "--yes", "--dry-run")
    assert [entry["repository"] for entry in would["repositories_removed"]] == ["shop"]
    assert would["bytes_freed"] > 0
    assert known(run) == ["shop", "stays"]
    found = clean(run, "--yes")
    assert [entry["repository"] for entry in found["repositories_removed"]] == ["shop"]
    assert found["repositories_kept"] == []
    assert found["bytes_freed"] > 0
    assert known(run) == ["stays"]
    assert len(list((places / "data" / "projects").iterdir())) == 1


@pytest.mark.parametrize(("answer", "left"), [("yes\n", ["stays"]), ("\n", ["shop", "stays"])])
def test_a_vanished_repository_is_asked_about(
    run: Run, vanished: Path, monkeypatch: pytest.MonkeyPatch, answer: str, left: list[str]
) -> None:
    with terminal(monkeypatch, answer):
        done = run("clean")
    assert done.code == 0
    assert done.err == f"{vanished} is gone. Remove the index of shop? [y/N] "
    assert ("Removed the index of shop" in done.out) == ("shop" not in left)
    assert known(run) == left


def test_a_disk_that_may_not_be_mounted(
    run: Run, repository: Path, places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "mounted" / "deep" / "there"
    root.mkdir(parents=True)
    (root / "a.py").write_text("x = 1\n")
    assert run("index", str(root)).code == 0
    shutil.rmtree(tmp_path / "mounted" / "deep")
    with terminal(monkeypatch, "y\n"):
        # It is not even asked about.
        done = run("clean")
    assert (done.code, done.err) == (0, "")
    assert "Kept the index of there: " in done.out
    assert "is a disk not mounted?" in done.out
    assert clean(run)["repositories_kept"][0]["parent_missing"] is True
    assert known(run) == ["there"]
    assert clean(run, "--yes")["repositories_kept"] == []
    assert known(run) == []


def test_a_repository_that_moved_is_kept(run: Run, indexed: Path, tmp_path: Path) -> None:
    os.chdir(tmp_path)
    new = tmp_path / "elsewhere"
    indexed.rename(new)
    found = clean(run, "--yes")
    assert (found["repositories_removed"], found["repositories_kept"]) == ([], [])
    assert found["left_alone"] == [f"shop has moved to {new}; run `asterism index {new}`."]
    assert known(run) == ["shop"]


def test_a_vanished_one_of_two_in_a_project(run: Run, vanished: Path, tmp_path: Path) -> None:
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "b.py").write_text("def beside(): ...\n")
    assert run("index", str(tmp_path / "beside"), "--project", "shop").code == 0
    found = clean(run, "--yes")
    assert [entry["repository"] for entry in found["repositories_removed"]] == ["shop"]
    assert sorted(found["maintained"]) == ["shop", "stays"]
    assert known(run) == ["beside", "stays"]
    assert run("symbols", "beside", str(tmp_path / "beside")).code == 0


def test_a_damaged_list_keeps_what_it_may_lack(run: Run, indexed: Path, places: Path) -> None:
    directory = orphan(places, "lost-01234567")
    (places / "data" / "registry.sqlite").write_bytes(b"nonsense" * 1000)
    done = run("clean", "--yes")
    assert (done.code, "was damaged (it is kept as" in done.err) == (0, True)
    assert "Indexes without a project were kept" in done.out
    assert directory.exists()
    assert len(list((places / "data").rglob("catalogue.sqlite"))) == 2
    assert run("clean", "--yes").code == 0
    assert not directory.exists()


@pytest.mark.parametrize("arguments", [["now"], ["--all"]])
def test_wrong_input_is_one_line(run: Run, indexed: Path, arguments: list[str]) -> None:
    done = run("clean", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "unrecognized arguments" in done.err
