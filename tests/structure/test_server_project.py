"""Are the connections that a language server knows told as they are, and what if it does not?"""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from asterism.analysis.source.discovery import discover
from asterism.lsp.keeper import KeeperOptions, ServerCondition
from asterism.structure.positions import SymbolTarget
from asterism.structure.repository import FileReader
from asterism.structure.servers.catalogue import BY_FAMILY, CLANGD
from asterism.structure.servers.project import ServerOptions, ServerProject
from asterism.types.errors import ServerDied, ServerGivenUp, ServerMissing, ServerStarting
from tests.faults.workplace import wait_until
from tests.structure.descriptions import described
from tests.structure.scripts import scripted, written

GO = {
    "go.mod": "module harbor\n",
    "door.go": "package harbor\n\ntype Door interface {\n\tShut()\n}\n\n// Gate is Door\n"
    "type Gate struct {\n}\n",
    "shut.go": "package harbor\n\nfunc shut(gate Gate) Gate {\n\tlatch()\n\tstray()\n"
    "\t// calls bolt\n\treturn gate\n}\n\nfunc latch() {\n}\n\nfunc bolt() {\n}\n",
    "main.go": 'package harbor\n\nfunc run() {\n\t_ = "größe"; shut(Gate{})\n\tnext := shut\n'
    "\t_ = next\n}\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "harbor"\n',
    "Cargo.lock": "version = 3\n",
    "src/lib.rs": "pub trait Door {\n}\n\npub struct Gate {\n}\n\nimpl Door for Gate {\n}\n\n"
    "pub fn open(gate: Gate) {\n    latch();\n}\n\nfn latch() {\n}\n",
}
JAVA = {
    "src/Door.java": "interface Door {\n}\n",
    "src/Gate.java": "class Gate implements Door {\n    void open() {\n        Gate next = new Gate();\n"
    "    }\n}\n",
}
CPP = {
    "include/gate.h": "#pragma once\n\nint open(int width);\n",
    "src/gate.c": '#include "gate.h"\n\nint open(int width) {\n    return width;\n}\n',
    "src/main.c": '#include "gate.h"\n\nint main() {\n    return open(3);\n}\n',
}

CASES: list[tuple[str, dict[str, str], str, str, dict[str, Any]]] = [
    (
        "go",
        GO,
        "shut.go",
        "shut",
        {
            "signature": "func shut(gate Gate) Gate",
            "calls": ["latch shut.go:10 <4>", "bolt shut.go:13 <6>"],
            "callers": ["run main.go:3 <4>"],
            "users": ["run main.go:3 <5>"],
            "references": ["main.go"],
            "types_in": ["gate: Gate <- Gate door.go:8 <3>"],
            "types_out": ["Gate <- Gate door.go:8 <3>"],
            "gaps": ["the language server does not know stray"],
        },
    ),
    (
        "go",
        GO,
        "door.go",
        "Door",
        {
            "signature": "type Door interface",
            "subtypes": ["Gate door.go:8"],
            "users": ["Gate door.go:8 <7>"],
            "members": ["4 method Shut()"],
        },
    ),
    (
        "rust",
        RUST,
        "src/lib.rs",
        "Door",
        {
            "signature": "pub trait Door",
            "subtypes": ["Gate src/lib.rs:4 <7>"],
        },
    ),
    (
        "java",
        JAVA,
        "src/Gate.java",
        "Gate",
        {
            "signature": "class Gate implements Door",
            "implements": ["Door src/Door.java:1 <1>"],
            "callers": ["Gate.open src/Gate.java:2 <3>"],
            "users": ["Gate.open src/Gate.java:2 <3>"],
            "members": ["2 method void open()"],
        },
    ),
    (
        "cpp",
        CPP,
        "src/gate.c",
        "open",
        {
            "signature": "int open(int width)",
            "callers": ["main src/main.c:3 <4>"],
            "references": ["src/main.c"],
            "types_in": ["width: int"],
            "types_out": ["int"],
            "gaps": [
                "the repository has no compile_commands.json, so code that its build would switch "
                "on may be unseen"
            ],
        },
    ),
]


class Opened:
    """A repository with a server of its own."""

    def __init__(self, project: ServerProject, root: Path) -> None:
        self.project = project
        self.root = root

    def ask(self, path: str, name: str) -> dict[str, Any]:
        target = SymbolTarget(path, name, 1)
        (found,) = self.project.connections([target], discover(str(self.root)).files)
        return described(found)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    made: list[ServerProject] = []

    def make(
        family: str, files: dict[str, str], mode: str = "", wait: float = 30.0, program: str = ""
    ) -> Opened:
        root = written(tmp_path / "harbor", files)
        options = ServerOptions(keeper=KeeperOptions(wait_seconds=wait))
        place = (str(root), tmp_path / "cache")
        start = program or scripted(tmp_path / "program", mode)
        project = ServerProject(BY_FAMILY[family], start, FileReader(str(root)), place, options)
        made.append(project)
        return Opened(project, root)

    yield make
    for project in made:
        project.close()


def test_rust_is_told_which_projects_there_are(
    opened: Callable[..., Opened], tmp_path: Path
) -> None:
    """It would read a rust-project.json otherwise, which can name a toolchain to run."""
    inner = {"tools/Cargo.toml": "", "tools/Cargo.lock": "", "free/Cargo.toml": ""}
    files = {**RUST, **inner, "rust-project.json": '{"sysroot": "evil", "crates": []}'}
    opened("rust", files, mode="notes").ask("src/lib.rs", "latch")
    told = json.loads((tmp_path / "program/told.json").read_text())
    assert told["linkedProjects"] == [f"{tmp_path}/harbor/Cargo.toml"]
    assert told["cargo"]["buildScripts"]["enable"] is False
    assert told["procMacro"]["enable"] is False
    assert told["checkOnSave"] is False


@pytest.mark.parametrize(("family", "files", "path", "name", "expected"), CASES)
def test_connections(
    opened: Callable[..., Opened],
    family: str,
    files: dict[str, str],
    path: str,
    name: str,
    expected: dict[str, Any],
) -> None:
    assert opened(family, files).ask(path, name) == expected


def test_what_changed_is_heard_of(opened: Callable[..., Opened]) -> None:
    place = opened("go", GO)
    place.ask("shut.go", "shut")
    process = place.project.pid
    (place.root / "more.go").write_text("package harbor\n\nfunc more(g Gate) {\n\tshut(g)\n}\n")
    found = place.ask("shut.go", "shut")
    assert found["callers"] == ["run main.go:3 <4>", "more more.go:3 <4>"]
    assert place.project.pid == process


def test_a_server_that_hears_nothing_is_started_anew(opened: Callable[..., Opened]) -> None:
    place = opened("cpp", CPP)
    place.ask("src/gate.c", "open")
    process = place.project.pid
    (place.root / "src/more.c").write_text("int more() {\n    return open(4);\n}\n")
    found = place.ask("src/gate.c", "open")
    assert found["callers"] == ["main src/main.c:3 <4>", "more src/more.c:1 <2>"]
    assert place.project.pid not in (None, process)


def test_files_and_symbols_that_are_gone(opened: Callable[..., Opened]) -> None:
    place = opened("go", GO)
    assert place.ask("gone.go", "x")["gaps"] == ["gone.go is not there any more"]
    assert place.ask("main.go", "x")["gaps"] == ["main.go no longer declares x"]


def test_a_server_that_knows_nothing_of_a_file(opened: Callable[..., Opened]) -> None:
    found = opened("go", GO, mode="refuses").ask("shut.go", "shut")
    (why,) = found["gaps"]
    assert why == "the language server refused: textDocument/references: no package metadata"
    assert "callers" not in found


def test_a_server_that_dies_of_a_question(opened: Callable[..., Opened]) -> None:
    place = opened("go", GO, mode="dies at references")
    with pytest.raises((ServerDied, ServerGivenUp)):
        place.ask("shut.go", "shut")
    wait_until(lambda: place.project.pid is None, "its end")


def test_a_server_without_what_it_needs(opened: Callable[..., Opened]) -> None:
    place = opened("go", {"main.go": GO["main.go"]})
    with pytest.raises(ServerMissing, match=r"needs a go\.mod or go\.work"):
        place.ask("main.go", "run")
    assert place.project.pid is None


def test_a_server_that_warns_is_not_taken_for_complete(opened: Callable[..., Opened]) -> None:
    found = opened("rust", RUST, mode="warns").ask("src/lib.rs", "latch")
    assert found["callers"] == ["open src/lib.rs:10 <11>"]
    assert found["gaps"] == ["rust-analyzer warns: Failed to read metadata"]


def test_a_server_that_would_write_a_file(opened: Callable[..., Opened]) -> None:
    bare = {name: text for name, text in RUST.items() if name != "Cargo.lock"}
    with pytest.raises(ServerMissing, match=r"Cargo\.toml in the .* Cargo\.lock beside it"):
        opened("rust", bare).ask("src/lib.rs", "open")


def test_a_symbol_that_the_server_does_not_know(opened: Callable[..., Opened]) -> None:
    files = {**GO, "odd.go": "package harbor\n\nconst Odd = 1\n"}
    found = opened("go", files).ask("odd.go", "Odd")
    assert found["gaps"] == ["the language server does not know this symbol"]


def test_a_heavy_server_is_not_started_for_one_question(opened: Callable[..., Opened]) -> None:
    place = opened("go", GO, wait=1.0)
    with pytest.raises(ServerStarting, match="needs about 3 seconds to read this repository, more"):
        place.ask("shut.go", "shut")
    assert (place.project.pid, place.project.condition) == (None, ServerCondition.resting)
    with pytest.raises(ServerStarting, match="has just begun"):
        place.ask("shut.go", "shut")
    wait_until(lambda: place.project.condition is ServerCondition.ready, "the server")
    assert place.ask("shut.go", "shut")["callers"] == ["run main.go:3 <4>"]


def test_a_load_that_is_not_over_in_time_is_remembered(
    opened: Callable[..., Opened], tmp_path: Path
) -> None:
    place = opened("cpp", CPP, mode="slow", wait=2.0)
    with pytest.raises(ServerStarting, match="still loading"):
        place.ask("src/gate.c", "open")
    kept = json.loads((tmp_path / "cache/clangd/load.json").read_text())
    # A quarter was done in two seconds.
    assert kept == {"seconds": 6.0}
    place.project.close()
    again = opened("cpp", CPP, wait=2.0)
    with pytest.raises(ServerStarting, match="needs about 6 seconds"):
        again.ask("src/gate.c", "open")
    assert again.project.pid is None


def test_nothing_is_written_into_the_repository(
    opened: Callable[..., Opened], tmp_path: Path
) -> None:
    place = opened("cpp", CPP)
    place.ask("src/gate.c", "open")
    assert {str(one.relative_to(place.root)) for one in place.root.rglob("*.*")} == {*CPP}
    entries = json.loads((tmp_path / "cache/clangd/compile_commands.json").read_text())
    assert [entry["file"] for entry in entries] == [
        f"{place.root}/src/gate.c",
        f"{place.root}/src/main.c",
    ]
    assert f"-I{place.root}/include" in entries[0]["arguments"]


@pytest.mark.skipif(shutil.which("clangd") is None, reason="clangd is not installed")
def test_clangd(opened: Callable[..., Opened]) -> None:
    program = shutil.which(CLANGD.program) or ""
    found = opened("cpp", CPP, program=program, wait=60.0).ask("src/gate.c", "open")
    assert found == CASES[-1][-1]
