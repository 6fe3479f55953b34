"""Which language server answers how symbols connect, and the notes if none does."""

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from asterism.config.sections import StructureSettings, TrustSettings
from asterism.engine.connector import Connector
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.lsp.keeper import ServerCondition
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.registry import Registered
from asterism.structure.positions import SymbolTarget
from asterism.structure.shapes import NO_FILES_BY_NAME, NONE_BY_NAME
from asterism.types.errors import LanguageServerError
from asterism.types.structure import Connections, Fact, Known
from tests.engine.conftest import NO_SERVERS, SETTINGS
from tests.structure.compilers import needs_checker, needs_typescript
from tests.structure.scripts import scripted

FILES = {
    "a.ts": 'import { b } from "./b";\nexport function a(): void {\n  b();\n}\n',
    "b.ts": 'import { a } from "./a";\nexport function b(): void {\n  a();\n}\n',
    "first.py": "import second\n\n\ndef one():\n    return second.two()\n",
    "second.py": "import first\n\n\ndef two():\n    return first.one()\n",
    "circle.py": "class Egg(Hen):\n    pass\n\n\nclass Hen(Egg):\n    def lay(self):\n        pass\n",
    "circle.ts": "export class Egg extends Hen {}\nexport class Hen extends Egg { lay() {} }\n",
    "main.go": "package main\n\nfunc helper() {}\n\nfunc main() {\n\thelper()\n}\n",
}


class Connected(NamedTuple):
    """What is known of each target, and what the reader should know about how."""

    connections: tuple[Connections | None, ...]
    notes: tuple[str, ...]


class Opened:
    """A repository of several languages with its connector."""

    def __init__(
        self,
        places: DataDirectories,
        root: Path,
        structure: StructureSettings,
        is_trusted: bool = True,
    ) -> None:
        trust = TrustSettings(repositories=(str(root),) if is_trusted else ())
        settings = replace(SETTINGS, structure=structure, trust=trust)
        self.engine = Engine(places, lambda _root: settings)
        self.registered: Registered = self.engine.register(root)
        self.engine.index(self.registered)
        self.connector: Connector = self.engine.connector(self.registered)

    def ask(self, *targets: SymbolTarget) -> Connected:
        with self.engine.snapshot(self.registered) as snapshot:
            questions = self.connector.questions(snapshot)
            return Connected(questions.ask(targets), tuple(questions.notes))

    def warm_up(self, *languages: str) -> None:
        with Catalogue.open(self.registered.project.directory) as catalogue:
            self.connector.warm_up(catalogue, languages)


@pytest.fixture
def opened(places: DataDirectories, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    made: list[Opened] = []

    def make(
        typescript: str = "", python: str = "", go: str = "off", is_trusted: bool = True
    ) -> Opened:
        root = tmp_path / "mixed"
        root.mkdir(exist_ok=True)
        for name, text in FILES.items():
            (root / name).write_text(text)
        structure = replace(NO_SERVERS, typescript=typescript, python=python, go=go)
        made.append(Opened(places, root, structure, is_trusted))
        return made[-1]

    yield make
    for one in made:
        one.engine.close()


def callers(known: Connections | None) -> list[tuple[str, Known]]:
    assert known is not None
    return [(edge.target.name, edge.known) for edge in known.callers]


A, ONE, HELPER = (
    SymbolTarget("a.ts", "a", 2),
    SymbolTarget("first.py", "one", 4),
    SymbolTarget("main.go", "helper", 3),
)


@needs_typescript
@needs_checker
def test_each_language_has_its_witness(opened: Callable[..., Opened]) -> None:
    one = opened()
    found = one.ask(HELPER, A, ONE)
    assert [callers(known) for known in found.connections] == [
        [("main", Known.by_name)],
        [("b", Known.resolved)],
        [("two", Known.resolved)],
    ]
    assert found.notes == ()


def test_a_language_server_is_asked(opened: Callable[..., Opened], tmp_path: Path) -> None:
    one = opened(go=scripted(tmp_path / "program"))
    bare = one.ask(HELPER)
    assert bare.notes == (
        "Connected by name: The language server gopls needs a go.mod or go.work in the repository.",
    )
    root = Path(one.registered.repository.root)
    (root / "go.mod").write_text("module mixed\n")
    (root / "main.go").write_text(SERVED)
    one.engine.index(one.registered)
    found = one.ask(HELPER, SymbolTarget("main.go", "main", 5))
    assert found.notes == ()
    assert [callers(known) for known in found.connections] == [[("main", Known.resolved)], []]
    main = found.connections[1]
    assert main is not None
    # What the server does not know is known by name, and said to be.
    assert [(edge.target.name, edge.known) for edge in main.calls] == [
        ("helper", Known.resolved),
        ("later", Known.by_name),
    ]
    assert [gap.why for gap in main.gaps] == ["the language server does not know later"]


SERVED = """package main

func helper() {}

func main() {
\thelper()
\tlater()
}

var later = func() {}
"""


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("refuses", "main.go: the language server refused: textDocument/references: no package"),
        ("dies at references", "The language server gopls failed"),
    ],
)
def test_a_language_server_that_does_not_answer(
    opened: Callable[..., Opened], tmp_path: Path, mode: str, why: str
) -> None:
    one = opened(go=scripted(tmp_path / "program", mode))
    Path(one.registered.repository.root, "go.mod").write_text("module mixed\n")
    one.engine.index(one.registered)
    found = one.ask(HELPER)
    assert [callers(known) for known in found.connections] == [[("main", Known.by_name)]]
    (note,) = found.notes
    assert note.startswith(f"Connected by name: {why}")


def test_a_language_server_that_is_not_there(opened: Callable[..., Opened]) -> None:
    found = opened(go="/nowhere/gopls").ask(HELPER)
    assert [callers(known) for known in found.connections] == [[("main", Known.by_name)]]
    assert found.notes == (
        "Connected by name: There is no program at /nowhere/gopls: the setting structure.go must "
        "name gopls, by its absolute path.",
    )


def test_a_language_server_waits_for_trust(opened: Callable[..., Opened], tmp_path: Path) -> None:
    """Not even one that the user names starts, and the advice is given once."""
    one = opened(go=scripted(tmp_path / "program"), is_trusted=False)
    (Path(one.registered.repository.root) / "go.mod").write_text("module mixed\n")
    found = one.ask(HELPER, SymbolTarget("main.go", "main", 5))
    (note,) = found.notes
    assert note.endswith(f"`asterism trust {one.registered.repository.root}` allows it.")
    assert [callers(known) for known in found.connections] == [[("main", Known.by_name)], []]
    one.warm_up("go")
    with pytest.raises(LanguageServerError, match="asterism trust"):
        one.connector.witness("go")
    # What is off is nothing that trust would bring.
    assert opened(go="off", is_trusted=False).ask(HELPER).notes == ()


OFF = {"typescript": "off", "python": "off"}
MISSING = {"typescript": "/nowhere/tsc", "python": "/nowhere/ty"}


@pytest.mark.parametrize("structure", [OFF, MISSING])
def test_without_a_language_server(
    opened: Callable[..., Opened], structure: dict[str, str]
) -> None:
    found = opened(**structure).ask(A, ONE)
    assert [callers(known) for known in found.connections] == [
        [("b", Known.by_name)],
        [("two", Known.by_name)],
    ]
    assert len(found.notes) == 2
    assert all(note.startswith("Connected by name: The") for note in found.notes)


@pytest.mark.parametrize(
    ("text", "name", "references", "why"),
    [
        ("package a\n\ntype Exported struct{}\n", "Exported", None, NO_FILES_BY_NAME),
        ("package a\n\nfunc Exported() {}\n", "Exported", None, NONE_BY_NAME),
        ("package a\n\ntype hidden struct{}\n", "hidden", (), None),
    ],
)
def test_no_file_is_only_said_where_it_is_known(
    opened: Callable[..., Opened],
    text: str,
    name: str,
    references: tuple[str, ...] | None,
    why: str | None,
) -> None:
    one = opened(**OFF)
    Path(one.registered.repository.root, "alone.go").write_text(text)
    one.engine.index(one.registered)
    (known,) = one.ask(SymbolTarget("alone.go", name, 3)).connections
    assert known is not None
    assert known.references == references
    assert [gap.why for gap in known.gaps if Fact.references in gap.facts] == ([why] if why else [])


@pytest.mark.parametrize("structure", [OFF, pytest.param({}, marks=[needs_typescript])])
@pytest.mark.parametrize("path", ["circle.py", "circle.ts"])
def test_circular_inheritance(
    opened: Callable[..., Opened], structure: dict[str, str], path: str
) -> None:
    one = opened(**structure)
    found = one.ask(
        SymbolTarget(path, "Egg", 1), SymbolTarget(path, "Hen", 5 if path == "circle.py" else 2)
    )
    for known, other in zip(found.connections, ("Hen", "Egg"), strict=True):
        assert known is not None
        assert [edge.target.name for edge in known.extends] == [other]


def test_a_symbol_that_is_not_there(opened: Callable[..., Opened]) -> None:
    assert opened(**OFF).ask(SymbolTarget("a.ts", "gone", 1)).connections == (None,)
    assert opened(**OFF).ask(SymbolTarget("nothing.go", "gone", 1)).connections == (None,)


@needs_typescript
def test_warming_up_starts_what_the_files_need(opened: Callable[..., Opened]) -> None:
    one = opened(python="off")
    one.warm_up("go")
    assert one.connector.witness("typescript").condition is ServerCondition.resting
    one.warm_up()
    assert one.connector.witness("javascript").condition is not ServerCondition.resting
    assert callers(one.ask(A).connections[0]) == [("b", Known.resolved)]
    pid = one.connector.witness("typescript").pid
    one.warm_up()
    assert one.connector.witness("typescript").pid == pid


@needs_typescript
def test_a_compiler_that_is_killed_between_questions(opened: Callable[..., Opened]) -> None:
    one = opened()
    assert callers(one.ask(A).connections[0]) == [("b", Known.resolved)]
    pid = one.connector.witness("typescript").pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    again = one.ask(A)
    assert (callers(again.connections[0]), again.notes) == ([("b", Known.resolved)], ())


@needs_typescript
@needs_checker
def test_file_names_that_no_message_can_hold(opened: Callable[..., Opened]) -> None:
    one = opened()
    root = os.fsencode(one.registered.repository.root)
    for name in (b"caf\xe9.ts", b"caf\xe9.py", b"two\nlines.ts"):
        with open(os.path.join(root, name), "wb") as file:  # noqa: PTH118, PTH123 - bytes
            file.write(b"export function odd() { even(); }\nexport function even() {}\n")
    one.engine.index(one.registered)
    one.warm_up()
    found = one.ask(
        A, SymbolTarget("caf\udce9.ts", "even", 2), SymbolTarget("two\nlines.ts", "even", 2), ONE
    )
    assert [callers(known) for known in found.connections] == [
        [("b", Known.resolved)],
        [("odd", Known.by_name)],
        [("odd", Known.resolved)],
        [("two", Known.resolved)],
    ]
    assert found.notes == ("Connected by name: compilers know no file names that are no UTF-8.",)
    shown = one.engine.context(one.registered, SearchRequest(text="symbol = even"))
    assert shown.shown == 2
    graph, *codes = (part.text for part in shown.assembly.parts)
    assert {" caf\\xe9.ts:2 · function", " two\\nlines.ts:2 · function"} <= {*graph.splitlines()}
    assert sorted(code.split("\n")[0] for code in codes) == [
        "// caf\\xe9.ts",
        "// two\\nlines.ts",
    ]


@needs_typescript
def test_files_as_they_are_now(opened: Callable[..., Opened]) -> None:
    one = opened()
    assert callers(one.ask(A).connections[0]) == [("b", Known.resolved)]
    root = Path(one.registered.repository.root)
    (root / "c.ts").write_text('import { a } from "./a";\nexport const c = () => a();\n')
    (root / "b.ts").unlink()
    assert callers(one.ask(A).connections[0]) == [("c", Known.resolved)]


def test_indexing_and_watching_start_no_server(opened: Callable[..., Opened]) -> None:
    one = opened()
    one.engine.index(one.registered, force=True)
    one.engine.status(one.registered)
    watcher = one.engine.watcher(one.registered)
    assert watcher is not None
    assert one.connector._witnesses == {}
