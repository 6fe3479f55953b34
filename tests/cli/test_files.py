"""`asterism files`: what would be indexed, what not, and why."""

import json
from pathlib import Path

from tests.cli.conftest import Run
from tests.disclosure.examples import AWS, GITHUB, private_key


def test_files_and_a_summary(run: Run, repository: Path) -> None:
    done = run("files", ".")
    assert (done.code, done.err) == (0, "")
    *lines, summary = done.out.rstrip("\n").split("\n")
    assert [line.split("  ")[0] for line in lines] == [
        "broken.py",
        "main.py",
        "notes.xyz",
        "src/tokens.ts",
    ]
    assert summary.startswith("4 files, ")
    assert summary.endswith("2 skipped (1 secret, 1 binary)")


def test_skipped_with_reasons(run: Run, repository: Path) -> None:
    lines = run("files", ".", "--skipped").out.split("\n")
    assert [line.split("  ")[:2] for line in lines[:2]] == [
        [".env", "secret"],
        ["image.xyz", "binary"],
    ]


def test_json(run: Run, repository: Path) -> None:
    found = json.loads(run("files", ".", "--json").out)
    assert list(found) == ["root", "files", "skipped", "counts"]
    assert found["root"] == str(repository)
    assert found["files"][1] == {"file_path": "main.py", "size": 25}
    assert [entry["reason"] for entry in found["skipped"]] == ["secret", "binary"]
    assert found["counts"] == {"files": 4, "skipped": {"secret": 1, "binary": 1}}


def test_nothing_to_index(run: Run, repository: Path) -> None:
    (repository / "bare").mkdir()
    done = run("files", "bare")
    assert done.code == 0
    assert "Nothing to index here." in done.out


def test_tokens_by_place_and_kind(run: Run, repository: Path) -> None:
    """What they are is not shown."""
    (repository / "main.py").write_text(f"import os\n\nKEY = '{AWS}', '{GITHUB}'\n")
    (repository / "id_work").write_text(private_key())
    done = run("files", ".", "--tokens")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "main.py:3  AWS access key\n"
        "main.py:3  GitHub token  checksum right\n"
        "2 tokens (1 AWS access key, 1 GitHub token)\n"
    )
    found = json.loads(run("files", ".", "--tokens", "--json").out)
    assert found["counts"] == {"AWS access key": 1, "GitHub token": 1}
    assert found["tokens"][0] == {
        "file_path": "main.py",
        "line": 3,
        "kind": "AWS access key",
        "proven": False,
    }
    assert AWS not in done.out


def test_a_secret_by_its_content_is_skipped_with_what_it_is(run: Run, repository: Path) -> None:
    (repository / "id_work").write_text(private_key())
    assert "id_work  secret  a private key" in run("files", ".", "--skipped").out.split("\n")
    refused = run("outline", "id_work")
    assert refused.code == 2
    assert "holds a private key; such files are never shown or kept" in refused.err
