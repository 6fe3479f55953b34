"""What each language server is told, and which files and folders are its own."""

from pathlib import Path

import pytest

from asterism.structure.servers.catalogue import (
    BY_FAMILY,
    CLANGD,
    GOPLS,
    folders_of,
    rust_toolchain,
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


def test_each_language_has_one() -> None:
    assert sorted(BY_FAMILY) == ["cpp", "go", "java", "rust"]


@pytest.mark.parametrize(
    ("variable", "settings", "toolchain"),
    [
        ("nightly", 'default_toolchain = "stable-x"\n', "nightly"),
        ("", 'default_toolchain = "stable-x"\n', "stable-x"),
        ("", "default_toolchain = 3\n", "stable"),
        ("", "not toml", "stable"),
        ("", None, "stable"),
    ],
)
def test_the_toolchain_of_the_user(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    settings: str | None,
    toolchain: str,
) -> None:
    if settings is not None:
        (tmp_path / "settings.toml").write_text(settings)
    monkeypatch.setenv("RUSTUP_HOME", str(tmp_path))
    monkeypatch.setenv("RUSTUP_TOOLCHAIN", variable)
    assert rust_toolchain() == toolchain
