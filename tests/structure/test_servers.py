"""What each language server is told, and which files and folders are its own."""

from pathlib import Path

import pytest

from asterism.structure.servers import (
    BY_FAMILY,
    CLANGD,
    GOPLS,
    RUST_ANALYZER,
    folders_of,
    options_for,
)


@pytest.mark.parametrize(
    ("paths", "folders"),
    [
        (["main.go"], []),
        (["go.mod", "a/b.go", "tools/go.mod"], [""]),
        (["gate/go.mod", "gate/tools/go.mod", "gates/go.mod"], ["gate", "gates"]),
        (["a/b/go.mod", "a/c/go.mod"], ["a/b", "a/c"]),
    ],
)
def test_workspaces(paths: list[str], folders: list[str]) -> None:
    assert folders_of(GOPLS, paths) == folders


def test_files_that_matter() -> None:
    assert [path for path in ("a.C", "a.h", "a.hpp", "a.go") if CLANGD.counts(path)] == [
        "a.C",
        "a.h",
        "a.hpp",
    ]
    assert [path for path in ("x/go.mod", "go.module", "a.go") if GOPLS.reads(path)] == [
        "x/go.mod",
        "a.go",
    ]


def test_no_lock_file_is_made(tmp_path: Path) -> None:
    bare = options_for(RUST_ANALYZER, [tmp_path])
    assert bare["cargo"]["noDeps"] is True
    assert bare["cargo"]["buildScripts"] == {"enable": False}
    (tmp_path / "Cargo.lock").touch()
    assert options_for(RUST_ANALYZER, [tmp_path]) is RUST_ANALYZER.options
    assert options_for(GOPLS, [tmp_path]) is GOPLS.options


def test_each_language_has_one() -> None:
    assert sorted(BY_FAMILY) == ["cpp", "go", "java", "rust"]
