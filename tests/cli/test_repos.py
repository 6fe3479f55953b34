"""`asterism repos`: list, add and remove repositories; the directories themselves stay."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Outcome, Run, spawn, terminal
from tests.store.spoiling import change_catalogue


def rows(done: Outcome) -> list[list[str]]:
    assert (done.code, done.err) == (0, "")
    return [line.split("  ") for line in _narrow(done.out).splitlines()[1:]]


def _narrow(text: str) -> str:
    while "   " in text:
        text = text.replace("   ", "  ")
    return text


def states(run: Run) -> dict[str, str]:
    found = json.loads(run("repos", "--json").out)["repositories"]
    return {entry["repository"]: entry["state"] for entry in found}


def test_nothing_yet(run: Run, repository: Path, places: Path) -> None:
    done = run("repos")
    assert (done.code, done.err) == (0, "")
    assert done.out == "No repositories yet. `asterism index` makes one known.\n"
    assert json.loads(run("repos", "list", "--json").out) == {"repositories": []}


def test_the_list(run: Run, indexed: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run("repos", "add", str(tmp_path / "empty"), "--name", "bare").code == 0
    done = run("repos", "list")
    assert done.out.split()[:6] == ["PROJECT", "REPOSITORY", "FILES", "CHUNKS", "STATE", "ROOT"]
    empty = tmp_path / "empty"
    assert rows(done) == [
        ["bare", "bare", "0", "0", "not indexed yet", str(empty)],
        ["shop", "shop", "4", "9", "present", str(indexed)],
        [f"{empty} is not indexed yet; run `asterism index {empty}`."],
    ]


def test_json(run: Run, indexed: Path, places: Path) -> None:
    (entry,) = json.loads(run("repos", "--json").out)["repositories"]
    assert list(entry) == [
        "project",
        "project_id",
        "repository",
        "repository_id",
        "root",
        "state",
        "files",
        "chunks",
        "index",
        "note",
    ]
    assert (entry["state"], entry["files"], entry["note"]) == ("present", 4, None)
    assert Path(entry["index"]).is_relative_to(places / "data")


def test_a_repository_that_is_gone_or_has_moved(run: Run, indexed: Path, tmp_path: Path) -> None:
    os.chdir(tmp_path)
    indexed.rename(tmp_path / "elsewhere")
    assert states(run) == {"shop": "moved"}
    shutil.rmtree(tmp_path / "elsewhere")
    assert states(run) == {"shop": "missing"}
    assert rows(run("repos"))[0][:5] == ["shop", "shop", "4", "9", "missing"]


def test_a_damaged_index(run: Run, indexed: Path, places: Path) -> None:
    (catalogue,) = (places / "data").rglob("catalogue.sqlite")
    catalogue.write_bytes(b"nonsense" * 1000)
    assert states(run) == {"shop": "damaged"}
    (entry,) = json.loads(run("repos", "--json").out)["repositories"]
    assert "run `asterism index` to build it again" in entry["note"]
    assert run("index", "--force").code == 0
    assert states(run) == {"shop": "present"}
    (table,) = (places / "data").rglob("chunks*.lance")
    shutil.rmtree(table)
    assert states(run) == {"shop": "damaged"}


def test_an_index_of_a_newer_version(run: Run, indexed: Path, places: Path) -> None:
    (catalogue,) = (places / "data").rglob("catalogue.sqlite")
    change_catalogue(catalogue.parent, "PRAGMA user_version = 999")
    assert states(run) == {"shop": "of a newer Asterism"}


def test_a_damaged_list(run: Run, indexed: Path, places: Path) -> None:
    (places / "data" / "registry.sqlite").write_bytes(b"nonsense" * 1000)
    done = run("repos")
    assert (done.code, "shop" in done.out, done.err.count("\n")) == (0, True, 1)
    assert "was damaged (it is kept as registry.sqlite.damaged-" in done.err
    assert run("repos").err == ""


def test_add_says_the_next_command(run: Run, repository: Path, places: Path) -> None:
    done = run("repos", "add", ".", "--name", "store", "--project", "all")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        f"{repository} is known as store. Nothing is indexed yet: run `asterism index "
        f"{repository}`.\n"
    )
    (entry,) = json.loads(run("repos", "--json").out)["repositories"]
    assert (entry["project"], entry["repository"]) == ("all", "store")
    assert list((places / "data").rglob("catalogue.sqlite")) == []


def test_add_what_is_there(run: Run, indexed: Path) -> None:
    done = run("repos", "add", str(indexed))
    assert done.out == f"{indexed} is known already as shop, and indexed.\n"
    added = json.loads(run("repos", "add", ".", "--json").out)
    assert (added["repository"], added["root"]) == ("shop", str(indexed))


@pytest.mark.parametrize("by", ["name", "path", "relative path", "id"])
def test_remove(run: Run, indexed: Path, places: Path, by: str) -> None:
    (entry,) = json.loads(run("repos", "--json").out)["repositories"]
    wanted = {
        "name": "shop",
        "path": str(indexed),
        "relative path": ".",
        "id": entry["repository_id"],
    }
    before = sorted(indexed.rglob("*"))
    done = run("repos", "remove", wanted[by], "--yes")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"shop is no longer indexed. {indexed} itself was not touched.\n"
    assert states(run) == {}
    assert not Path(entry["index"]).exists()
    assert sorted(indexed.rglob("*")) == before
    assert run("symbols", "main").code == 2


def test_remove_one_of_two_in_a_project(run: Run, indexed: Path, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "b.py").write_text("def second(): ...\n")
    assert run("index", str(tmp_path / "second"), "--project", "shop").code == 0
    removed = json.loads(run("repos", "remove", "shop", "--yes", "--json").out)
    assert (removed["repository"], removed["removed"]) == ("shop", True)
    assert states(run) == {"second": "present"}
    assert run("symbols", "second", str(tmp_path / "second")).code == 0
    assert run("symbols", "main", str(tmp_path / "second")).code == 1
    assert run("status", str(tmp_path / "second")).code == 0
    # What is removed can come again.
    assert run("index", str(indexed), "--project", "shop").code == 0
    assert states(run) == {"second": "present", "shop": "present"}


def test_remove_what_was_never_indexed(run: Run, indexed: Path, tmp_path: Path) -> None:
    for name, project in (("alone", None), ("beside", "shop")):
        (tmp_path / name).mkdir()
        more = ["--project", project] if project else []
        assert run("repos", "add", str(tmp_path / name), *more).code == 0
        done = run("repos", "remove", name, "--yes")
        assert (done.code, done.err) == (0, "")
    assert states(run) == {"shop": "present"}
    assert run("symbols", "main").code == 0


@pytest.mark.parametrize("damage", ["catalogue.sqlite", "chunks.lance"])
def test_remove_a_damaged_index(run: Run, indexed: Path, places: Path, damage: str) -> None:
    (part,) = (places / "data").rglob(damage)
    if part.is_dir():
        shutil.rmtree(part)
    else:
        part.write_bytes(b"nonsense" * 1000)
    done = run("repos", "remove", "shop", "--yes")
    assert (done.code, done.err) == (0, "")
    assert states(run) == {}


def test_remove_a_repository_that_is_gone(run: Run, indexed: Path, tmp_path: Path) -> None:
    os.chdir(tmp_path)
    shutil.rmtree(indexed)
    assert run("repos", "remove", str(indexed), "--yes").code == 0
    assert states(run) == {}


def test_remove_needs_a_yes(run: Run, indexed: Path) -> None:
    done = spawn(["repos", "remove", "shop"], indexed)
    assert (done.code, done.out) == (2, "")
    assert done.err == "asterism: There is no terminal to ask at; give --yes to go ahead.\n"
    assert states(run) == {"shop": "present"}


@pytest.mark.parametrize(("answer", "code", "left"), [("y\n", 0, 0), ("n\n", 1, 1), ("", 1, 1)])
def test_remove_asks_at_a_terminal(
    run: Run, indexed: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, left: int
) -> None:
    # The end of input is what Ctrl-D sends.
    with terminal(monkeypatch, answer or "\x04"):
        done = run("repos", "remove", "shop")
    assert done.code == code
    assert "Remove shop (" in done.err
    assert "The repository itself is not touched. [y/N] " in done.err
    assert len(states(run)) == left
    if left:
        assert done.out == "Nothing was removed.\n"


WRONG = {
    "unknown action": (["move"], "invalid choice: 'move'"),
    "list takes nothing": (["list", "x"], "takes no argument"),
    "add without a path": (["add"], "needs a PATH"),
    "remove without a name": (["remove", "--yes"], "needs a NAME or path"),
    "name without add": (["--name", "x"], "belong to `asterism repos add`"),
    "project with remove": (["remove", "shop", "--project", "x"], "belong to `asterism repos add`"),
    "yes without remove": (["list", "--yes"], "belongs to `asterism repos remove`"),
    "missing path": (["add", "no"], "no does not exist"),
    "file": (["add", "main.py"], "main.py is not a directory"),
    "impossible path": (["add", "a\0b"], "does not exist"),
    "bad name": (["add", ".", "--name", "a/b"], "cannot be the name of a repository"),
    "another name": (["add", ".", "--name", "other"], "is already known as shop"),
    "bad project": (["add", ".", "--project", "../x"], "cannot be the name of a project"),
    "unknown repository": (["remove", "other", "--yes"], "There is no repository other"),
    "impossible name": (["remove", "a\0b", "--yes"], "There is no repository a\\x00b"),
    "a part": (["remove", "src", "--yes"], "src is only a part of shop"),
    "outside": (["remove", "..", "--yes"], "There is no repository .."),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_one_line(run: Run, indexed: Path, case: str) -> None:
    arguments, expected = WRONG[case]
    done = run("repos", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert expected in done.err
    assert states(run) == {"shop": "present"}


def test_two_of_one_name(run: Run, repository: Path, places: Path, tmp_path: Path) -> None:
    for parent in ("a", "b"):
        (tmp_path / parent / "same").mkdir(parents=True)
        added = run("repos", "add", str(tmp_path / parent / "same"), "--name", "same")
        assert added.code == 0
    done = run("repos", "remove", "same", "--yes")
    assert done.code == 2
    assert "several repositories called same" in done.err
    assert run("repos", "remove", str(tmp_path / "b" / "same"), "--yes").code == 0
    assert states(run) == {"same": "not indexed yet"}


def test_one_directory_in_two_projects(run: Run, indexed: Path) -> None:
    assert run("repos", "add", ".", "--name", "again", "--project", "other").code == 0
    done = run("repos", "remove", ".", "--yes")
    assert done.code == 2
    assert ". is in several projects; give the id of one: " in done.err
    assert run("repos", "remove", "again", "--yes").code == 0
    assert states(run) == {"shop": "present"}
