"""Whose rules hold where: subdirectories, worktrees, submodules, nested clones, global excludes."""

from pathlib import Path

import pytest

from asterism.analysis.source.checkouts import global_excludes
from asterism.analysis.source.discovery import DiscoveryOptions, discover
from tests.analysis.source.conftest import Git, Tree

NAMES_ONLY = DiscoveryOptions(sniff=False)


def found_in(root: Path, options: DiscoveryOptions = NAMES_ONLY) -> set[str]:
    return {file.path for file in discover(str(root), options).files}


def reason_of(root: Path, path: str) -> str:
    return next(e.reason.value for e in discover(str(root), NAMES_ONLY).skipped if e.path == path)


@pytest.fixture
def repo(git: Git, tree: Tree, tmp_path: Path) -> Path:
    """Make a committed repository with an exclude file of its own."""
    root = tmp_path / "repo"
    tree(root, {"a.py": "", "sub/b.py": ""})
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "x")
    (root / ".git/info/exclude").write_text("*.tmp\n/sub/anchored\n")
    return root


def test_subdirectories_see_the_rules_above(tree: Tree, repo: Path) -> None:
    tree(
        repo, {".gitignore": "*.log\n/sub/in/x.c\n!keep.log\n", ".asterismignore": "/sub/own.py\n"}
    )
    tree(repo, {"sub/.gitignore": "in/*.h\n"})
    tree(repo, dict.fromkeys(["sub/in/x.c", "sub/in/x.h", "sub/in/x.log", "sub/in/keep.log"], ""))
    tree(repo, dict.fromkeys(["sub/own.py", "sub/anchored", "sub/x.tmp", "sub/in/ok.py"], ""))
    assert found_in(repo / "sub") == {".gitignore", "b.py", "in/keep.log", "in/ok.py"}
    assert found_in(repo / "sub" / "in") == {"keep.log", "ok.py"}


def test_rules_above_the_checkout_do_not_hold(tree: Tree, repo: Path) -> None:
    tree(repo.parent, {".gitignore": "*.py\n", ".asterismignore": "*.py\n"})
    assert found_in(repo) == {"a.py", "sub/b.py"}


def test_a_directory_without_git_has_its_own_rules(tree: Tree, tmp_path: Path) -> None:
    tree(tmp_path, {".gitignore": "*.py\n"})
    tree(tmp_path / "plain", {".gitignore": "*.log\n", "a.log": "", "a.py": ""})
    assert found_in(tmp_path / "plain") == {".gitignore", "a.py"}


def test_an_ignored_directory_that_is_asked_for_is_walked(tree: Tree, repo: Path) -> None:
    tree(repo, {".gitignore": "build/\n*.log\n", "build/a.py": "", "build/a.log": ""})
    assert found_in(repo / "build") == {"a.py"}


def test_a_linked_worktree_uses_the_shared_exclude_file(git: Git, tree: Tree, repo: Path) -> None:
    linked = repo.parent / "linked"
    git(repo, "worktree", "add", "-q", str(linked))
    tree(linked, {"x.tmp": "", "new.py": ""})
    assert found_in(linked) == {"a.py", "sub/b.py", "new.py"}
    assert reason_of(linked, "x.tmp") == "gitignored"
    assert reason_of(linked, ".git") == "vcs"


def test_worktrees_inside_their_repository_are_not_indexed_twice(git: Git, repo: Path) -> None:
    git(repo, "worktree", "add", "-q", ".claude/worktrees/y")
    git(repo, "worktree", "add", "-q", "sub/wt")
    assert found_in(repo) == {"a.py", "sub/b.py"}
    assert reason_of(repo, ".claude/worktrees/y/") == "nested_checkout"
    assert found_in(repo / "sub") == {"b.py"}
    assert "a.py" in found_in(repo / "sub" / "wt"), "asked for by name it is walked"


def test_side_by_side_the_main_checkout_wins(git: Git, repo: Path) -> None:
    git(repo, "worktree", "add", "-q", "../a-feature")
    git(repo, "worktree", "add", "-q", "../z-feature")
    assert {path for path in found_in(repo.parent) if path.endswith("a.py")} == {"repo/a.py"}
    assert reason_of(repo.parent, "a-feature/") == "nested_checkout"


def test_of_worktrees_alone_the_first_is_indexed(git: Git, repo: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        git(repo, "worktree", "add", "-q", str(tmp_path / "both" / name))
    assert found_in(tmp_path / "both") == {"one/a.py", "one/sub/b.py"}
    assert reason_of(tmp_path / "both", "two/") == "nested_checkout"


def test_submodules_have_their_own_rules(git: Git, tree: Tree, repo: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    tree(inner, {"c.py": "", "c.log": "", ".gitignore": "*.bak\n"})
    git(inner, "init", "-q")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "x")
    tree(repo, {".gitignore": "*.log\nc.py\n/mod/d.py\n"})
    git(repo, "submodule", "add", "-q", str(inner), "mod")
    tree(
        repo, {"mod/d.py": "", "mod/x.bak": "", "mod/x.tmp": "", "mod/only.here": "", "top.log": ""}
    )
    (repo / ".git/modules/mod/info/exclude").write_text("/only.here\n")
    expected = {"mod/c.py", "mod/c.log", "mod/d.py", "mod/.gitignore", "mod/x.tmp"}
    listed = git(repo / "mod", "ls-files", "-co", "--exclude-standard").decode().split()
    assert {f"mod/{path}" for path in listed} == expected
    assert found_in(repo) == {*expected, "a.py", "sub/b.py", ".gitignore", ".gitmodules"}
    assert found_in(repo / "mod") == set(listed)


def test_nested_clones(git: Git, tree: Tree, repo: Path) -> None:
    git(repo, "clone", "-q", str(repo), "clone")
    git(repo, "clone", "-q", str(repo), "unwanted")
    git(repo, "clone", "-q", "--bare", str(repo), "mirror.git")
    tree(repo, {".gitignore": "unwanted/\n*.py\n"})
    assert found_in(repo) == {".gitignore", "clone/a.py", "clone/sub/b.py"}
    assert reason_of(repo, "unwanted/") == "gitignored"
    assert reason_of(repo, "mirror.git/") == "vcs"


def test_our_own_rules_hold_inside_nested_checkouts(git: Git, tree: Tree, repo: Path) -> None:
    git(repo, "clone", "-q", str(repo), "clone")
    tree(repo, {".asterismignore": "/clone/sub/\n"})
    assert found_in(repo) == {".asterismignore", "a.py", "sub/b.py", "clone/a.py"}


def test_a_broken_git_file_is_no_checkout(tree: Tree, repo: Path) -> None:
    tree(repo, {"copied/.git": "gitdir: /nowhere\n", "copied/x.log": "", ".gitignore": "*.log\n"})
    assert "copied/x.log" not in found_in(repo)


def test_global_excludes_hold_everywhere_but_last(git: Git, tree: Tree, repo: Path) -> None:
    tree(repo.parent, {"excludes": "*.py\n*.swp\n/sub/b.c\n"})
    tree(repo, {".gitignore": "!a.py\n", "a.swp": "", "sub/b.c": "", "b.c": ""})
    options = DiscoveryOptions(sniff=False, global_excludes=str(repo.parent / "excludes"))
    assert found_in(repo, options) == {"a.py", "b.c", ".gitignore"}
    assert found_in(repo / "sub", options) == set()
    git(repo, "config", "core.excludesFile", "~/mine")
    tree(repo.parent, {"home/mine": "*.c\n"})
    options = DiscoveryOptions(
        sniff=False, global_excludes=str(repo.parent / "excludes"), home=str(repo.parent / "home")
    )
    assert found_in(repo, options) == {"a.py", "sub/b.py", "a.swp", ".gitignore"}


CONFIGURATIONS: dict[str, tuple[dict[str, str], str | None]] = {
    "nothing": ({}, None),
    "the default": ({".config/git/ignore": ""}, ".config/git/ignore"),
    "home": ({".gitconfig": "[core]\n\texcludesFile = ~/g\n", "g": ""}, "g"),
    "any case": ({".gitconfig": "[CORE]\nEXCLUDESFILE=~/g\n", "g": ""}, "g"),
    "quotes": ({".gitconfig": '[core]\nexcludesfile = "~/g h" ; x\n', "g h": ""}, "g h"),
    "comment": ({".gitconfig": "[core]\nexcludesfile = ~/g # mine\n", "g": ""}, "g"),
    "one line": ({".gitconfig": "[core] excludesfile = ~/g\n", "g": ""}, "g"),
    "last wins": ({".gitconfig": "[core]\nexcludesfile=~/f\nexcludesfile=~/g\n", "g": "", "f": ""}, "g"),
    "other section": ({".gitconfig": '[core "x"]\nexcludesfile=~/g\n', "g": ""}, None),
    "commented out": ({".gitconfig": "[core]\n# excludesfile=~/g\n", "g": ""}, None),
    "names a missing file": ({".gitconfig": "[core]\nexcludesfile=~/no\n"}, None),
    "setting beats default": (
        {".gitconfig": "[core]\nexcludesfile=~/g\n", "g": "", ".config/git/ignore": ""}, "g",
    ),
    "xdg": ({".config/git/config": "[core]\nexcludesfile=~/g\n", "g": ""}, "g"),
    "home beats xdg": (
        {".config/git/config": "[core]\nexcludesfile=~/f\n", "f": "",
         ".gitconfig": "[core]\nexcludesfile=~/g\n", "g": ""}, "g",
    ),
    "include": ({".gitconfig": "[include]\npath = more\n", "more": "[core]\nexcludesfile=~/g\n", "g": ""}, "g"),
    "include itself": ({".gitconfig": "[include]\npath = .gitconfig\n"}, None),
    "not a configuration": ({".gitconfig": "]]]\n=\n[[\n\\"}, None),
}  # fmt: skip


@pytest.mark.parametrize("case", CONFIGURATIONS)
def test_where_global_excludes_are(tree: Tree, tmp_path: Path, case: str) -> None:
    files, expected = CONFIGURATIONS[case]
    tree(tmp_path, files)
    chosen = global_excludes(str(tmp_path), system_config=str(tmp_path / "etc"))
    assert chosen == (None if expected is None else str(tmp_path / expected))


def test_global_excludes_elsewhere(tree: Tree, tmp_path: Path) -> None:
    tree(tmp_path, {"xdg/git/ignore": "", "etc": "[core]\nexcludesfile = /dev/null\n"})
    home, xdg = str(tmp_path / "home"), str(tmp_path / "xdg")
    assert global_excludes(home, xdg, str(tmp_path / "none")) == str(tmp_path / "xdg/git/ignore")
    assert global_excludes(home, xdg, str(tmp_path / "etc")) is None
