"""`asterism debug file`: what is indexed of a file, and why not the rest."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, spawn

KEYS = "export type Key = number;\n"
USES = 'import { TokenService } from "./tokens";\nnew TokenService();\n'


@pytest.fixture
def linked(indexed: Path, run: Run) -> Path:
    """Three files that import each other."""
    (indexed / "src" / "keys.ts").write_text(KEYS)
    (indexed / "src" / "uses.ts").write_text(USES)
    assert run("index").code == 0
    return indexed


def inspect(run: Run, path: str, *options: str) -> dict[str, Any]:
    done = run("debug", "file", path, "--json", *options)
    assert (done.code, done.err) == (0, "")
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_a_file_that_is_indexed(run: Run, linked: Path) -> None:
    done = run("debug", "file", "src/tokens.ts")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == f"src/tokens.ts  in shop ({linked})"
    assert lines[1].startswith("On disk     2")
    assert lines[2:5] == [
        "Discovery   to be indexed",
        "Index       up to date",
        "Language    typescript",
    ]
    assert lines[6] == "Symbols     3 definitions, 1 export, 2 imports, 8 usages"
    assert lines[7:12] == [
        "Imports",
        "  jsonwebtoken → not in this repository  (default)",
        "  ./keys → src/keys.ts  (Key)",
        "Imported by",
        "  src/uses.ts  (TokenService)",
    ]
    assert lines[12] == "Chunks"
    assert lines[15].startswith("  class TokenService  4–12  ")
    assert "without a vector" not in done.out


def test_json(run: Run, linked: Path) -> None:
    found = inspect(run, "src/tokens.ts")
    assert list(found) == [
        "file_path",
        "repository",
        "root",
        "project",
        "on_disk",
        "discovery",
        "freshness",
        "message",
        "trouble",
        "not_read",
        "index",
        "chunks",
        "imports",
        "imported_by",
        "problems",
    ]
    assert (found["file_path"], found["repository"], found["root"]) == (
        "src/tokens.ts",
        "shop",
        str(linked),
    )
    assert found["discovery"] == {"indexed": True, "reason": None, "detail": None, "inside": None}
    assert (found["freshness"], found["trouble"], found["problems"]) == ("equal", None, [])
    assert found["imports"][1] == {
        "module": "./keys",
        "target": "src/keys.ts",
        "names": ["Key"],
        "reexports": False,
    }
    assert found["imported_by"] == [
        {"file_path": "src/uses.ts", "names": ["TokenService"], "reexports": False}
    ]
    assert [chunk["name"] for chunk in found["chunks"]][2:5] == ["TokenService", "validate", "key"]
    chunk = found["chunks"][3]
    assert (chunk["kind"], chunk["start_line"], chunk["end_line"]) == ("method", 6, 10)
    assert (chunk["has_vector"], "text" in chunk) == (True, False)


def test_the_text_a_model_reads(run: Run, linked: Path) -> None:
    text = inspect(run, "main.py", "--text")["chunks"][0]["text"]
    assert text.endswith("def main():\n    return 1")
    assert "[Python]" in text
    assert text in run("debug", "file", "main.py", "--text").out


def test_syntax_problems(run: Run, indexed: Path) -> None:
    found = inspect(run, "broken.py")
    assert found["index"]["problems"] == len(found["problems"]) > 0
    assert f"broken.py:{found['problems'][0]['line']}: " in run("debug", "file", "broken.py").out


def test_a_file_that_changed(run: Run, indexed: Path) -> None:
    (indexed / "main.py").write_text("def other(): ...\n")
    assert inspect(run, "main.py")["freshness"] == "changed"
    assert "behind: the file has changed since" in run("debug", "file", "main.py").out


def test_a_touched_file_did_not_change(run: Run, indexed: Path) -> None:
    os.utime(indexed / "main.py", (1, 1))
    assert inspect(run, "main.py")["freshness"] == "equal"


def test_a_new_file(run: Run, indexed: Path) -> None:
    (indexed / "new.py").write_text("def new(): ...\n")
    found = inspect(run, "new.py")
    assert (found["freshness"], found["index"], found["chunks"]) == ("new", None, [])
    assert "not in the index yet; run `asterism index`" in run("debug", "file", "new.py").out


def test_a_file_that_is_gone(run: Run, linked: Path) -> None:
    (linked / "src" / "tokens.ts").unlink()
    found = inspect(run, "src/tokens.ts")
    assert (found["freshness"], found["on_disk"], found["discovery"]) == ("gone", None, None)
    assert len(found["chunks"]) == 6
    assert found["imported_by"][0]["file_path"] == "src/uses.ts"
    lines = run("debug", "file", "src/tokens.ts").out.splitlines()
    assert lines[1] == "On disk     gone"
    assert lines[2].startswith("Index       behind: the file is gone, the index still has it")
    shutil.rmtree(linked / "src")
    assert inspect(run, "src/tokens.ts")["freshness"] == "gone"


def test_a_secret_is_never_opened(run: Run, indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real = os.open

    def noting(path: str, *rest: int) -> int:
        opened.append(str(path))
        return real(path, *rest)

    monkeypatch.setattr(os, "open", noting)
    found = inspect(run, ".env")
    assert found["discovery"]["reason"] == "secret"
    assert (found["freshness"], found["chunks"]) == ("skipped", [])
    done = run("debug", "file", ".env")
    assert "skipped: secret. By its name it may hold keys or passwords, so it is never" in done.out
    assert "KEY" not in done.out
    assert [path for path in opened if path.endswith(".env")] == []
    run("debug", "file", "main.py")
    assert [path for path in opened if path.endswith("main.py")] != []


SKIPPED = {
    "binary": ("image.xyz", "skipped: binary (content)", None),
    "ignored": ("run.log", "skipped: gitignored (.gitignore:1: *.log)", None),
    "inside a skipped folder": (
        "build/deep/x.py",
        "inside build/, which is skipped: gitignored (.gitignore:2: build/)",
        "build/",
    ),
    "inside a folder of dependencies": (
        "node_modules/a/b.js",
        "inside node_modules/, which is skipped: dependencies",
        "node_modules/",
    ),
    "too large": ("large.py", "skipped: too_large (1,000,002 bytes)", None),
    "link inside": ("link.py", "skipped: linked_duplicate (main.py)", None),
    "link outside": ("away.py", "skipped: outside_link (../away.py)", None),
    "broken link": ("nothing.py", "skipped: broken_link (nowhere)", None),
    "below a link outside": (
        "away/inner.py",
        "inside away/, which is skipped: outside_link (../away)",
        "away/",
    ),
}


@pytest.mark.parametrize("case", SKIPPED)
def test_why_a_file_is_skipped(run: Run, indexed: Path, tmp_path: Path, case: str) -> None:
    for path in ("build/deep/x.py", "node_modules/a/b.js", "../away/inner.py"):
        (indexed / path).parent.mkdir(parents=True)
        (indexed / path).write_text("x = 1\n")
    (indexed / ".gitignore").write_text("*.log\nbuild/\n")
    (indexed / "run.log").write_text("started\n")
    (indexed / "large.py").write_text("#" * 1_000_001 + "\n")
    (tmp_path / "away.py").write_text("x = 1\n")
    for name, target in (
        ("link.py", "main.py"),
        ("away.py", "../away.py"),
        ("nothing.py", "nowhere"),
        ("away", "../away"),
    ):
        (indexed / name).symlink_to(target)
    path, words, inside = SKIPPED[case]
    lines = run("debug", "file", path).out.splitlines()
    assert f"Discovery   {words}" in lines
    assert "Index       nothing, because the file is skipped" in lines
    assert inspect(run, path)["discovery"]["inside"] == inside


def test_indexed_and_skipped_since(run: Run, indexed: Path) -> None:
    (indexed / ".gitignore").write_text("main.py\n")
    found = inspect(run, "main.py")
    assert (found["freshness"], found["discovery"]["reason"]) == ("excluded", "gitignored")
    assert len(found["chunks"]) == 1


def test_registered_and_never_indexed(run: Run, repository: Path, places: Path) -> None:
    assert run("repos", "add", ".").code == 0
    found = inspect(run, "main.py")
    assert (found["freshness"], found["discovery"]["indexed"]) == ("unknown", True)
    assert "is not indexed yet; run `asterism index" in found["trouble"]


def test_added_to_a_project_that_has_an_index(run: Run, indexed: Path, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.py").write_text("x = 1\n")
    assert run("repos", "add", str(tmp_path / "more"), "--project", "shop").code == 0
    found = inspect(run, str(tmp_path / "more" / "a.py"))
    assert "is not indexed yet; run `asterism index" in found["trouble"]


def test_a_damaged_catalogue(run: Run, indexed: Path, places: Path) -> None:
    (catalogue,) = (places / "data").rglob("catalogue.sqlite")
    catalogue.write_bytes(b"nonsense" * 1000)
    found = inspect(run, "main.py")
    assert (found["freshness"], found["discovery"]["indexed"]) == ("unknown", True)
    assert "run `asterism index` to build it again" in found["trouble"]


def test_a_chunk_table_that_is_lost(run: Run, indexed: Path, places: Path) -> None:
    (table,) = (places / "data").rglob("chunks.lance")
    shutil.rmtree(table)
    found = inspect(run, "main.py")
    assert found["freshness"] == "equal"
    assert "run `asterism index` to build it again" in found["trouble"]
    (chunk,) = found["chunks"]
    assert (len(chunk["chunk_id"]), chunk["has_vector"], chunk["kind"]) == (32, False, None)
    assert f"  lost  {chunk['chunk_id']}" in run("debug", "file", "main.py").out


def test_a_file_reached_through_a_link(run: Run, indexed: Path, tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to(indexed)
    (indexed / "inner").symlink_to("src")
    assert inspect(run, str(tmp_path / "way" / "main.py"))["file_path"] == "main.py"
    assert inspect(run, "inner/tokens.ts")["file_path"] == "src/tokens.ts"


def test_a_file_name_that_is_not_utf8(run: Run, indexed: Path) -> None:
    (indexed / "caf\udce9.py").write_text("def espresso(): ...\n")
    assert spawn(["index"], indexed).code == 0
    done = spawn([b"debug", b"file", b"caf\xe9.py"], indexed)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("caf\\xe9.py  in shop")
    assert "Index       up to date" in done.out
    assert "  function espresso  1–1  " in done.out


WRONG = {
    "in no repository": (["file", "/dev/null"], "is in no index yet; run `asterism index /dev`"),
    "in no repository and not there": (
        ["file", "../no.py"],
        "no.py does not exist; check the path",
    ),
    "neither on disk nor indexed": (["file", "no.py"], "does not exist, and the index has nothing"),
    "a directory": (["file", "src"], "is a directory; give the path of a file in it"),
    "the root": (["file", "."], "is a directory"),
    "the directory above": (["file", ".."], "is a directory"),
    "below a file": (["file", "main.py/x"], "does not exist, and the index has nothing"),
    "impossible path": (["file", "a\0b"], "a\\x00b is not a possible path"),
    "empty path": (["file", ""], "is a directory"),
    "no path": (["file"], "required: PATH"),
    "unknown subject": (["symbol", "x"], "invalid choice: 'symbol'"),
    "nothing": ([], "required: what, PATH"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_one_line(run: Run, indexed: Path, case: str) -> None:
    arguments, expected = WRONG[case]
    done = run("debug", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert expected in done.err
