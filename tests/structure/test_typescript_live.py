"""Do the compiler's answers follow the files, and survive the compiler's own misfortunes?"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from asterism.analysis.source.discovery import discover
from asterism.lsp.keeper import ServerCondition
from asterism.structure.positions import SymbolTarget
from asterism.structure.typescript.project import (
    TypeScriptOptions,
    TypeScriptProject,
    find_compiler,
    require_compiler,
)
from asterism.types.errors import ServerMissing, ServerTimeout
from tests.faults.workplace import wait_until
from tests.structure.compilers import TYPESCRIPT, needs_typescript
from tests.structure.descriptions import described

Ask = Callable[[str], dict[str, Any]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "repository"
    place.mkdir()
    (place / "a.ts").write_text("export function greet(name: string) { return name; }\n")
    (place / "b.ts").write_text(
        'import { greet } from "./a";\nexport const b = () => greet("b");\n'
    )
    return place


@pytest.fixture
def project(root: Path, tmp_path: Path) -> Iterator[TypeScriptProject]:
    assert TYPESCRIPT is not None
    made = TypeScriptProject(TYPESCRIPT, str(root), str(tmp_path / "cache"))
    yield made
    made.close()


@pytest.fixture
def ask(root: Path, project: TypeScriptProject) -> Ask:
    def asking(words: str) -> dict[str, Any]:
        path, _, name = words.partition("#")
        files = discover(str(root)).files
        return described(project.connections([SymbolTarget(path, name, 1)], files)[0])

    return asking


@needs_typescript
def test_a_changed_file_counts_at_once(root: Path, ask: Ask) -> None:
    assert ask("a.ts#greet")["callers"] == ["b b.ts:2 <2>"]
    (root / "b.ts").write_text(
        'import { greet } from "./a";\n\nexport const c = () => greet("c");\n'
    )
    assert ask("a.ts#greet")["callers"] == ["c b.ts:3 <3>"]
    (root / "a.ts").write_text("\n\nexport function greet(name: number) { return [name]; }\n")
    assert ask("a.ts#greet")["signature"] == "export function greet(name: number): number[]"
    assert ask("b.ts#c")["calls"] == ["greet a.ts:3 <3>"]


@needs_typescript
def test_new_and_deleted_files_count_at_once(root: Path, ask: Ask) -> None:
    assert ask("a.ts#greet")["references"] == ["b.ts"]
    (root / "c.js").write_text('import { greet } from "./a";\ngreet("c");\n')
    assert ask("a.ts#greet")["references"] == ["b.ts", "c.js"]
    (root / "b.ts").unlink()
    assert ask("a.ts#greet")["references"] == ["c.js"]
    assert ask("b.ts#b")["gaps"] == ["the compiler does not have this file"]


@needs_typescript
def test_a_new_configuration_counts_at_once(root: Path, ask: Ask) -> None:
    (root / "b.ts").write_text('import { greet } from "~/a";\nexport const b = () => greet("b");\n')
    assert ask("b.ts#b")["calls"] == ["greet ~/a ~0.9 <2>"]
    (root / "tsconfig.json").write_text('{"compilerOptions": {"paths": {"~/*": ["./*"]}}}')
    assert ask("b.ts#b")["calls"] == ["greet a.ts:1 <2>"]


@needs_typescript
def test_a_repository_without_source_has_an_answer_too(root: Path, ask: Ask) -> None:
    (root / "a.ts").unlink()
    (root / "b.ts").unlink()
    assert ask("a.ts#greet")["gaps"] == ["the compiler does not have this file"]
    (root / "a.ts").write_text("export function greet() {}\n")
    assert ask("a.ts#greet")["signature"] == "export function greet(): void"


@needs_typescript
def test_an_alias_that_gets_a_second_meaning_counts_at_once(root: Path, ask: Ask) -> None:
    for app in ("one", "two"):
        (root / app).mkdir()
        (root / app / "x.ts").write_text("export const x = () => 1;\n")
        (root / app / "y.ts").write_text('import { x } from "@/x";\nexport const y = () => x();\n')
    config = '{"compilerOptions": {"paths": {"@/*": ["./*"]}}}'
    (root / "one" / "tsconfig.json").write_text(config)
    assert ask("one/x.ts#x")["references"] == ["one/y.ts", "two/y.ts"]
    (root / "two" / "tsconfig.json").write_text(config)
    assert ask("one/x.ts#x")["references"] == ["one/y.ts"]
    assert ask("two/x.ts#x")["references"] == ["two/y.ts"]
    (root / "one" / "tsconfig.json").unlink()
    assert ask("two/x.ts#x")["references"] == ["one/y.ts", "two/y.ts"]


@needs_typescript
def test_nothing_is_written_into_the_repository(root: Path, ask: Ask) -> None:
    ask("a.ts#greet")
    assert sorted(path.name for path in root.rglob("*")) == ["a.ts", "b.ts"]


@needs_typescript
def test_a_killed_compiler_is_replaced(root: Path, project: TypeScriptProject, ask: Ask) -> None:
    assert ask("a.ts#greet")["references"] == ["b.ts"]
    assert project.pid is not None
    os.kill(project.pid, signal.SIGKILL)
    (root / "c.ts").write_text('export { greet } from "./a";\n')
    assert ask("a.ts#greet")["references"] == ["b.ts", "c.ts"]


def stop(pid: int) -> None:
    """Stop a process, and wait until all its threads stand still: the signal is only a request."""
    os.kill(pid, signal.SIGSTOP)
    wait_until(
        lambda: all(_state(task) == "T" for task in Path(f"/proc/{pid}/task").iterdir()), "T"
    )


def _state(task: Path) -> str:
    return (task / "stat").read_text().rpartition(")")[2].split()[0]


@needs_typescript
def test_a_stopped_compiler_meets_the_deadline(root: Path, tmp_path: Path) -> None:
    assert TYPESCRIPT is not None
    options = TypeScriptOptions(request_seconds=1.0)
    project = TypeScriptProject(TYPESCRIPT, str(root), str(tmp_path / "cache"), options)
    files = discover(str(root)).files
    wanted = [SymbolTarget("a.ts", "greet", 1)]
    project.connections(wanted, files)
    assert project.pid is not None
    stop(project.pid)
    with pytest.raises(ServerTimeout, match="The TypeScript compiler failed: No answer"):
        project.connections(wanted, files)
    assert project.connections(wanted, files)[0].references == ("b.ts",)
    project.close()


@needs_typescript
def test_threads_share_one_compiler(root: Path, project: TypeScriptProject) -> None:
    files = discover(str(root)).files
    project.warm_up(files)
    found: list[Any] = []

    def work() -> None:
        found.extend(project.connections([SymbolTarget("a.ts", "greet", 1)], files))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [connections.references for connections in found] == [("b.ts",)] * 6
    assert project.condition is ServerCondition.ready


@needs_typescript
@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("interface A extends B {}\ninterface B extends A {}\n", "A"),
        ("class A extends A {}\n", "A"),
        ("export default function () {}\n", "default"),
        ("export = { a: 1 };\nconst A = 1;\n", "A"),
        ("function A(", "A"),
        ("class A { constructor(", "A"),
        ("const A = [A => A, ({ A }) => A, async A => A]\n", "A"),
        ("function A() {}\nfunction A() {}\n", "A"),
        ("@dec() export class A { @dec() b() {} }\n", "A.b"),
        ("type A = A | A[];\n", "A"),
        ("namespace A.B.C { export const d = 1; }\n", "A"),
        ("class A { [x: string]: number; static { this.x; } get #b() { return this.#b; } }\n", "A"),
        ("declare global { interface A {} }\nexport {};\n", "A"),
        ("enum A { a = 1 << 2, b = a }\n", "A.b"),
        ("\r\nconst A = '\u2028\U0001f600', B = A;\r\n", "B"),
        ("", "A"),
    ],
)
def test_odd_source_always_has_an_answer(root: Path, ask: Ask, source: str, name: str) -> None:
    (root / "odd.ts").write_bytes(source.encode())
    facts = ask(f"odd.ts#{name}")
    assert facts["signature"] or facts["gaps"]


@needs_typescript
def test_a_large_class_is_answered_whole(root: Path, ask: Ask) -> None:
    methods = "".join(f"  m{n}() {{\n    return this.m{n - 1}();\n  }}\n" for n in range(1, 2000))
    (root / "large.ts").write_text(f"export class Large {{\n  m0() {{ return 1; }}\n{methods}}}\n")
    facts = ask("large.ts#Large")
    assert len(facts["members"]) == 2000
    assert facts["members"][1] == "3 method m1(): number"
    assert ask("large.ts#Large.m7")["callers"] == ["Large.m8 large.ts:24 <25>"]


def test_a_missing_compiler_is_explained(tmp_path: Path) -> None:
    (tmp_path / "tsc").touch(mode=0o755)
    assert find_compiler(str(tmp_path / "tsc")) is None
    with pytest.raises(
        ServerMissing, match=r"There is no TypeScript compiler at .*version 7\.0\.2"
    ):
        require_compiler(str(tmp_path / "tsc"))
    (tmp_path / "lib.es5.d.ts").touch()
    assert require_compiler(str(tmp_path / "tsc")) == str(tmp_path / "tsc")
