"""What a walk meets and survives: links, pipes, strange names, refusals, wrong roots."""

import errno
import inspect
import os
import socket
import sys
from pathlib import Path

import pytest

from asterism.analysis.source.discovery import discover, walk
from asterism.types.errors import PathMissing, PathUnreadable, WrongPathKind
from asterism.types.files import FoundFile, SkippedFile, SkipReason
from tests.analysis.source.conftest import CODE, Tree, check


def test_links(tree: Tree, tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    tree(root, {"real/a.py": CODE})
    tree(outside, {"b.py": CODE})
    for name, target in {
        "file": "real/a.py", "folder": "real", "self": "self", "up": ".", "real/loop": "..",
        "gone": "nothing", "out": "../outside", "outfile": str(outside / "b.py"), "sneaky": "../root2",
        ".env": "real/a.py",
    }.items():  # fmt: skip
        (root / name).symlink_to(target)
    (tmp_path / "root2").mkdir()
    expected = {
        "real/a.py": "indexed", "file": "linked_duplicate", "folder": "linked_duplicate",
        "up": "linked_duplicate", "real/loop": "linked_duplicate", "self": "broken_link",
        "gone": "broken_link", "out": "outside_link", "outfile": "outside_link",
        "sneaky": "outside_link", ".env": "secret",
    }  # fmt: skip
    check(root, expected)
    (tmp_path / "alias").symlink_to(root)
    check(tmp_path / "alias", expected)
    assert discover(str(tmp_path / "alias")).root == str(root.resolve())


def test_linked_ignore_files_are_not_read(tree: Tree, tmp_path: Path) -> None:
    tree(tmp_path, {"rules": "*.py\n", "a.py": CODE})
    (tmp_path / ".gitignore").symlink_to("rules")
    check(tmp_path, {"rules": "indexed", "a.py": "indexed", ".gitignore": "linked_duplicate"})


def test_pipes_and_sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        check(tmp_path, {"pipe": "special", "socket": "special"})


def test_strange_names(tmp_path: Path) -> None:
    names = [
        "a b.py",
        "line\nbreak.py",
        "#x.py",
        "!y.py",
        "tail ",
        "é.py",
        "\udcff\udcfe.py",
        "\\.py",
        "\t",
    ]
    for name in names:
        (tmp_path / name).write_text(CODE)
    (tmp_path / "d\udcff").mkdir()
    (tmp_path / "d\udcff" / "in.py").write_text(CODE)
    (tmp_path / "d\udcff" / ".gitignore").write_text("in.py\n")
    judged = dict.fromkeys(names, "indexed")
    check(tmp_path, {**judged, "d\udcff/in.py": "gitignored", "d\udcff/.gitignore": "indexed"})


def test_size_and_time_are_the_files(tree: Tree, tmp_path: Path) -> None:
    tree(tmp_path, {"a/b.py": CODE})
    os.utime(tmp_path / "a/b.py", ns=(1, 1_700_000_000_123_456_789))
    found = discover(str(tmp_path))
    changed = (tmp_path / "a/b.py").stat().st_ctime_ns
    assert found.files == (
        FoundFile("a/b.py", len(CODE), 1_700_000_000_123_456_789, ctime_ns=changed),
    )


def test_walk_is_stable_and_discover_sorts(tree: Tree, tmp_path: Path) -> None:
    tree(tmp_path, dict.fromkeys(["b/x.py", "a/y.py", "c.py", "a/z/q.py", "a.png"], CODE))
    walked = list(walk(str(tmp_path)))
    assert walked == list(walk(str(tmp_path)))
    found = discover(str(tmp_path))
    assert [file.path for file in found.files] == ["a/y.py", "a/z/q.py", "b/x.py", "c.py"]
    assert sorted(entry.path for entry in walked) == ["a.png", *(f.path for f in found.files)]


def test_deep_trees_do_not_exhaust_the_stack(tmp_path: Path) -> None:
    (tmp_path / ("d/" * 300)).mkdir(parents=True)
    (tmp_path / ("d/" * 300) / "deep.py").write_text(CODE)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 150)
    try:
        found = discover(str(tmp_path))
    finally:
        sys.setrecursionlimit(limit)
    assert [file.path.count("/") for file in found.files] == [300]


def refuse(monkeypatch: pytest.MonkeyPatch, call: str, ending: str, number: int) -> None:
    """Make an operating system call fail for paths that end so, as chmod does not for root."""
    real = getattr(os, call)

    def refusing(path: str, *rest: object, **more: object) -> object:
        if str(path).rstrip("/").endswith(ending):
            raise OSError(number, os.strerror(number), path)
        return real(path, *rest, **more)

    monkeypatch.setattr(os, call, refusing)


def test_unreadable_folders_and_files(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, {"shut/a.py": CODE, "open/a.py": CODE, "open/b.py": CODE})
    refuse(monkeypatch, "scandir", "/shut", errno.EACCES)
    refuse(monkeypatch, "open", "/b.py", errno.EACCES)
    found = discover(str(tmp_path))
    denied = os.strerror(errno.EACCES)
    assert found.skipped == (
        SkippedFile("open/b.py", SkipReason.unreadable, denied),
        SkippedFile("shut/", SkipReason.unreadable, denied),
    )
    assert [file.path for file in found.files] == ["open/a.py"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permissions_of_the_file_system(tree: Tree, tmp_path: Path) -> None:
    tree(tmp_path, {"shut/a.py": CODE, "b.py": CODE})
    (tmp_path / "shut").chmod(0)
    (tmp_path / "b.py").chmod(0)
    check(tmp_path, {"shut/": "unreadable", "b.py": "unreadable"})
    (tmp_path / "shut").chmod(0o700)


def test_what_vanishes_during_the_walk_is_not_there(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, {"gone/a.py": CODE, "gone.py": CODE, "b.py": CODE})
    refuse(monkeypatch, "scandir", "/gone", errno.ENOENT)
    refuse(monkeypatch, "open", "/gone.py", errno.ENOENT)
    check(tmp_path, {"b.py": "indexed"})


def test_roots_that_cannot_be_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "shut").mkdir()
    refuse(monkeypatch, "scandir", "/shut", errno.EACCES)
    for name, error, words in (
        ("nothing", PathMissing, "check the path"),
        ("file/below", PathMissing, "check the path"),
        ("file", WrongPathKind, "give the directory"),
        ("shut", PathUnreadable, "check its permissions"),
    ):
        with pytest.raises(error, match=words) as caught:
            discover(str(tmp_path / name))
        assert str(tmp_path / name) in str(caught.value)
