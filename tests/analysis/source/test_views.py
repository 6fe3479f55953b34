"""A view of a directory notices every change that a discovery would, and no others are needed."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from asterism.analysis.source import discovery
from asterism.analysis.source.discovery import DEFAULTS, DirectoryView, DiscoveryOptions, take_view

ALWAYS = 2**63
"""Every change was before this moment."""
OLD = 1_000_000_000


def make(root: Path) -> Path:
    """A checkout with ignored and indexed files, whose times are long ago."""
    for path in ("src/deep/a.py", "src/b.py", "build/out.py", "empty/.keep", "top.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x = 1\n")
    (root / ".gitignore").write_text("build/\n*.log\n")
    (root / "src" / "noise.log").write_text("one\n")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    for folder, _, names in os.walk(root):
        for name in (*names, "."):
            os.utime(Path(folder, name), (OLD, OLD))
    return root


def view_of(root: Path, options: DiscoveryOptions = DEFAULTS) -> DirectoryView:
    view = take_view(str(root), options, {"build/"}, ALWAYS)
    assert view is not None
    return view


def _link(path: Path) -> None:
    path.unlink()
    path.symlink_to("deep/a.py")


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": lambda root: (root / "src/b.py").write_text("x = 2222\n"),
    "same size, later": lambda root: os.utime(root / "src/b.py", (OLD + 9, OLD + 9)),
    "new file": lambda root: (root / "src/deep/new.py").write_text(""),
    "new file in an empty folder": lambda root: (root / "empty/new.py").write_text(""),
    "new folder": lambda root: (root / "src/more").mkdir(),
    "removed file": lambda root: (root / "src/deep/a.py").unlink(),
    "removed folder": lambda root: shutil.rmtree(root / "src/deep"),
    "renamed file": lambda root: (root / "src/b.py").rename(root / "src/c.py"),
    "replaced by a link": lambda root: _link(root / "src/b.py"),
    "rules inside": lambda root: (root / ".gitignore").write_text("build/\n*.log\nsrc/\n"),
    "new rules inside": lambda root: (root / "src/.asterismignore").write_text("b.py\n"),
    "rules of git's own": lambda root: (root / ".git/info/exclude").write_text("src/b.py\n"),
    "settings of git": lambda root: (root / ".git/config").write_text("[core]\nignorecase=true\n"),
    "no checkout any more": lambda root: shutil.rmtree(root / ".git"),
    "no root any more": shutil.rmtree,
}


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_every_change_is_noticed(tmp_path: Path, change: str) -> None:
    root = make(tmp_path / "root")
    (root / ".git/info/exclude").write_text("*.tmp\n")
    view = view_of(root)
    assert view.is_same()
    CHANGES[change](root)
    assert not view.is_same()


def test_what_is_not_entered_is_not_looked_at(tmp_path: Path) -> None:
    root = make(tmp_path / "root")
    view = view_of(root)
    (root / "build/out.py").write_text("other = 2\n")
    (root / ".git/HEAD").write_text("ref: refs/heads/other\n")
    assert view.is_same()


def test_rules_above_the_root_count(tmp_path: Path) -> None:
    root = make(tmp_path / "root")
    view = view_of(root / "src")
    assert view.is_same()
    (root / ".gitignore").write_text("a.py\n")
    assert not view.is_same()


def test_the_users_own_rules_count(tmp_path: Path) -> None:
    root = make(tmp_path / "root")
    mine = tmp_path / "ignore"
    mine.write_text("*.bak\n")
    view = view_of(root, DiscoveryOptions(global_excludes=str(mine)))
    assert view.is_same()
    mine.write_text("*.py\n")
    assert not view.is_same()


def test_there_is_no_view_while_something_changes(tmp_path: Path) -> None:
    root = make(tmp_path / "root")
    written = (root / "src/b.py").stat().st_ctime_ns
    assert take_view(str(root), DEFAULTS, {"build/"}, written) is None


def test_there_is_no_view_over_a_checkout_inside(tmp_path: Path) -> None:
    root = make(tmp_path / "root")
    subprocess.run(["git", "init", "-q", "src/deep"], cwd=root, check=True)
    assert take_view(str(root), DEFAULTS, {"build/"}, ALWAYS) is None
    assert take_view(str(root), DEFAULTS, {"build/", "src/deep/"}, ALWAYS) is not None


def test_there_is_no_view_of_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make(tmp_path / "root")
    entries = len(view_of(root).marks)
    monkeypatch.setattr(discovery, "MOST_ENTRIES", entries)
    assert take_view(str(root), DEFAULTS, {"build/"}, ALWAYS) is not None
    monkeypatch.setattr(discovery, "MOST_ENTRIES", entries - 1)
    assert take_view(str(root), DEFAULTS, {"build/"}, ALWAYS) is None


def test_there_is_no_view_of_nothing(tmp_path: Path) -> None:
    assert take_view(str(tmp_path / "none"), DEFAULTS, (), ALWAYS) is None
