"""Do real language servers and toolchains leave the programs of a trusted repository alone?"""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from asterism.analysis.source.discovery import discover
from asterism.lsp.keeper import KeeperOptions
from asterism.programs.start import Launch, prepare
from asterism.programs.table import RUST_ANALYZER
from asterism.structure.positions import SymbolTarget
from asterism.structure.repository import FileReader
from asterism.structure.servers.catalogue import BY_FAMILY, rust_toolchain
from asterism.structure.servers.project import ServerOptions, ServerProject
from tests.structure.descriptions import described
from tests.structure.scripts import written

EVIL = "#!/bin/sh\necho {name} >> {base}/canary\nexit 1\n"
GO = {
    "go.mod": "module example.com/h\n\ngo 1.19\n\nrequire example.com/dep v1.0.0\n",
    "vendor/modules.txt": "# example.com/dep v1.0.0\n## explicit; go 1.19\nexample.com/dep\n",
    "vendor/example.com/dep/dep.go": "package dep\n\nfunc Deep(a int) int { return a }\n",
    "a.go": 'package h\n\nimport "example.com/dep"\n\nfunc Add(a int) int {\n'
    "\treturn dep.Deep(a)\n}\n\nfunc Twice() int {\n\treturn Add(2)\n}\n",
    "cg/c.go": "package cg\n\n/*\n#cgo CFLAGS: -fplugin={base}/harbor/evil/p.so\n"
    "#cgo pkg-config: evil\nint one() { return 1; }\n*/\n"
    'import "C"\n\n//go:generate {base}/harbor/evil/tool\nfunc Cee() int { return int(C.one()) }\n',
    "go.env": "GOFLAGS=-toolexec={base}/harbor/evil/tool\n",
    ".vscode/settings.json": '{"gopls": {"env": {"GOFLAGS": "-toolexec={base}/harbor/evil/tool"}}}',
}
CPP = {
    ".clangd": "CompileFlags:\n  Compiler: {base}/harbor/evil/tool\n"
    "  Add: [-fplugin={base}/harbor/evil/p.so, -include, {base}/outside/secret.h]\n",
    "compile_commands.json": '[{"directory": "{base}/harbor", "file": "a.c", "command": '
    '"{base}/harbor/evil/tool -Iinclude -fplugin=p.so -I{base}/outside -DWIDTH=3 a.c"}]',
    "include/gate.h": "#pragma once\nint add(int a);\n",
    "a.c": '#include "gate.h"\n#include "../outside/secret.h"\n#include "linked.h"\n'
    '#include "{base}/outside/secret.h"\n\nint add(int a) {\n    return a + WIDTH;\n}\n\n'
    "int twice(void) {\n    return add(2) + hidden_treasure(1);\n}\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "harbor"\nversion = "0.1.0"\nbuild = "build.rs"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "harbor"\nversion = "0.1.0"\n',
    "build.rs": 'fn main() { std::fs::write("{base}/canary", "build.rs").unwrap(); }\n',
    "src/lib.rs": "pub fn add(a: i32) -> i32 { a }\n",
    "rust-toolchain.toml": '[toolchain]\npath = "{base}/harbor/evil"\n',
    ".cargo/config.toml": '[build]\nrustc = "{base}/harbor/evil/tool"\n'
    'rustc-wrapper = "{base}/harbor/evil/tool"\nrustflags = ["-Clinker=evil/tool"]\n'
    '[alias]\nmetadata = "run"\n',
}


class Place:
    """A repository with programs that leave a mark, in a folder of its own."""

    def __init__(self, base: Path, files: dict[str, str]) -> None:
        self.base = base
        self.root = written(
            base / "harbor",
            {name: text.replace("{base}", str(base)) for name, text in files.items()},
        )
        written(base / "outside", {"secret.h": "int hidden_treasure(int);\n"})
        for name in ("tool", "bin/cargo", "bin/rustc", "bin/go"):
            text = EVIL.replace("{name}", name).replace("{base}", str(base))
            written(self.root, {f"evil/{name}": text})
            (self.root / "evil" / name).chmod(0o755)
        (self.root / "linked.h").symlink_to("../outside/secret.h")

    @property
    def executed(self) -> list[str]:
        """Names of executed files of the repository."""
        canary = self.base / "canary"
        return canary.read_text().splitlines() if canary.exists() else []

    def content(self) -> dict[str, str]:
        """A checksum of every file."""
        found = (place for place in self.root.rglob("*") if place.is_file())
        return {str(place): sha256(place.read_bytes()).hexdigest() for place in found}


@pytest.mark.parametrize(
    ("family", "files", "path", "name", "calls", "callers"),
    [
        pytest.param(
            *("go", GO, "a.go", "Add"),
            ["Deep vendor/example.com/dep/dep.go:3 <6>"],
            ["Twice a.go:9 <10>"],
            marks=pytest.mark.skipif(
                not (shutil.which("gopls") and shutil.which("go")), reason="gopls is not installed"
            ),
        ),
        pytest.param(
            *("cpp", CPP, "a.c", "twice"),
            ["add a.c:6 <11>"],
            None,
            marks=pytest.mark.skipif(not shutil.which("clangd"), reason="clangd is not installed"),
        ),
    ],
)
def test_a_server(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    family: str,
    files: dict[str, str],
    path: str,
    name: str,
    calls: Any,
    callers: Any,
) -> None:
    place = Place(tmp_path, files)
    before = place.content()
    monkeypatch.setenv("GOFLAGS", f"-toolexec={place.root}/evil/tool")
    monkeypatch.setenv("GOPACKAGESDRIVER", f"{place.root}/evil/tool")
    server = BY_FAMILY[family]
    program = shutil.which(server.program)
    assert program is not None
    root = str(place.root)
    options = ServerOptions(keeper=KeeperOptions(wait_seconds=120.0))
    project = ServerProject(server, program, FileReader(root), (root, tmp_path / "cache"), options)
    try:
        (found,) = project.connections([SymbolTarget(path, name, 1)], discover(root).files)
    finally:
        project.close()
    told = described(found)
    assert (told.get("calls"), told.get("callers")) == (calls, callers)
    assert "outside" not in json.dumps(told)
    assert place.executed == []
    assert place.content() == before


def has_toolchain() -> bool:
    """Is the user's Rust toolchain there, so that rustup need not download it?"""
    if not (rustup := shutil.which("rustup")):
        return False
    command = [rustup, "which", "--toolchain", rust_toolchain(), "cargo"]
    environment = os.environ | {"RUSTUP_AUTO_INSTALL": "0"}
    return not subprocess.run(command, env=environment, capture_output=True, check=False).returncode


@pytest.mark.parametrize("is_ours", [True, False])
def test_the_toolchain_that_rust_analyzer_starts(tmp_path: Path, is_ours: bool) -> None:
    """Without the variable they obey the toolchain file of the repository."""
    if not has_toolchain():
        pytest.skip("rustup has no toolchain")
    place = Place(tmp_path, RUST)
    before = place.content()
    commands = [
        ("rustc", "--print", "sysroot"),
        ("rustc", "--print", "cfg"),
        ("cargo", "metadata", "--format-version", "1", "--offline", "--locked"),
    ]
    values = {"root": str(place.root), "cache": str(tmp_path / "cache")}
    values |= {"toolchain": rust_toolchain()} if is_ours else {}
    program = replace(RUST_ANALYZER, arguments=())
    for command in commands:
        made = prepare(Launch(program=program, command=command, values=values))
        environment = {
            k: v for k, v in made.environment.items() if is_ours or k != "RUSTUP_TOOLCHAIN"
        }
        done = subprocess.run(
            made.command, env=environment, cwd=place.root, capture_output=True, check=False
        )
        assert (done.returncode == 0) == is_ours, done.stderr
    assert place.executed == ([] if is_ours else ["bin/rustc", "bin/rustc", "bin/cargo"])
    assert place.content() == before
