"""Does a link in a repository show anything of a file outside of it, whatever the command?"""

from pathlib import Path

import pytest

from tests.cli.conftest import Run

WORD = "outside_word"


@pytest.fixture
def linked(repository: Path, places: Path, tmp_path: Path, run: Run) -> Path:
    """An indexed checkout with links to a file and to a folder outside of it."""
    outside = tmp_path / "private"
    outside.mkdir()
    (outside / "keys.py").write_text(f"def {WORD}():\n    return 1\n")
    (repository / ".git").mkdir()
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (repository / "link.py").symlink_to(outside / "keys.py")
    (repository / "folder").symlink_to(outside)
    (repository / "alias.py").symlink_to("main.py")
    (repository / "settings.py").symlink_to(".env")
    assert run("index").code == 0
    return repository


COMMANDS = [
    *(["outline"], ["chunks", "--show", "source"], ["validate"], ["similar"]),
    *(["search", WORD], ["symbols", WORD], ["show", WORD], ["refs", WORD]),
]


@pytest.mark.parametrize("path", ["link.py", "folder/keys.py"])
@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_a_link_out_of_the_repository_is_refused(
    linked: Path, run: Run, arguments: list[str], path: str
) -> None:
    done = run(*arguments, path)
    assert (done.code, done.out) == (2, "")
    assert f"{path} leads out of {linked} through a link, to {linked.parent}/private/" in done.err
    assert "give that path itself if you mean it." in done.err


@pytest.mark.parametrize("arguments", [["files"], ["validate"]])
def test_a_folder_behind_a_link_is_refused(linked: Path, run: Run, arguments: list[str]) -> None:
    done = run(*arguments, "folder")
    assert (done.code, done.out) == (2, "")
    assert f"folder leads out of {linked} through a link" in done.err


@pytest.mark.usefixtures("linked")
@pytest.mark.parametrize("path", ["link.py", "folder/keys.py"])
def test_debug_says_why_and_shows_nothing(run: Run, path: str) -> None:
    done = run("debug", "file", path, "--text")
    assert "outside_link" in done.out
    assert WORD not in done.out


@pytest.mark.usefixtures("linked")
@pytest.mark.parametrize("arguments", COMMANDS[:2], ids=lambda arguments: arguments[0])
def test_a_link_to_a_secret_is_one(run: Run, arguments: list[str]) -> None:
    done = run(*arguments, "settings.py")
    assert (done.code, done.out) == (2, "")
    assert "settings.py looks like a secret by its name" in done.err


def test_what_the_user_names_is_shown(linked: Path, run: Run) -> None:
    """The file itself, a link inside of the repository, and a link that is in none."""
    assert WORD in run("outline", str(linked.parent / "private" / "keys.py")).out
    assert "main" in run("outline", "alias.py").out
    (linked.parent / "loose.py").symlink_to(linked.parent / "private" / "keys.py")
    assert WORD in run("outline", str(linked.parent / "loose.py")).out
