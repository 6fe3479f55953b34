"""Connections by name over a real index: several languages, live files, honest gaps."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from asterism.config.model_sections import EmbeddingSettings
from asterism.config.sections import WorkSettings
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.store.catalogue.catalogue import Catalogue
from asterism.structure.facts import ByName, ByNameOptions
from asterism.structure.positions import SymbolTarget
from asterism.structure.repository import FileReader, IndexedRepository
from asterism.structure.uses import TreeOptions, call_tree
from asterism.types.structure import Connections, Edge, Fact, SymbolPlace

SETTINGS = Settings(embedding=EmbeddingSettings(), work=WorkSettings(jobs=1))
FILES = {
    "go.mod": "module example.com/harbor\n\ngo 1.19\n",
    "store/box.go": """package store

type Opener interface{ Open(l *Lid) error }

type Box struct {
	Shelf
	lid *Lid
}

func (b *Box) Open(l *Lid) error {
	b.close()
	l.Turn()
	return nil
}

func (b *Box) close() {}
""",
    "store/lid.go": """package store

const Limit = 3

type Shelf struct{}

type Lid struct{}

func (l *Lid) Turn() { spin(Limit) }

func NewLid() *Lid { return &Lid{} }

func spin(n int) {}
""",
    "main.go": """package main

import "example.com/harbor/store"

func main() {
	lid := store.NewLid()
	lid.Turn()
	var box store.Box
	box.Open(lid)
}
""",
    "src/harbor/Crate.java": """package harbor;

public class Crate extends Base implements Opens {
  static final int SIZE = 4;

  @Deprecated
  void open(Hinge hinge) {
    close();
    close(1);
    hinge.swing();
  }

  void close() {}

  void close(int times) {
    close();
  }
}
""",
    "src/harbor/Base.java": "package harbor;\n\npublic class Base {}\n",
    "src/harbor/Opens.java": """package harbor;

public interface Opens {
  void open(Hinge hinge);
}
""",
    "src/harbor/Hinge.java": """package harbor;

public class Hinge {
  void swing() {}
}
""",
    "native/lid.h": "int lid_turn(int n);\n",
    "native/lid.c": '#include "lid.h"\n\nint lid_turn(int n) {\n  return n;\n}\n',
    "native/box.c": '#include "lid.h"\n\nint box_open(int n) {\n  return lid_turn(n);\n}\n',
    "lib/chest.ex": """defmodule Harbor.Chest do
  alias Harbor.Lids.Cover

  def open(n) do
    Cover.fold(n)
    Enum.map([n], &shut/1)
  end

  def shut(n), do: n
end
""",
    "lib/cover.ex": "defmodule Harbor.Lids.Cover do\n  def fold(n), do: n\nend\n",
    "tools/rope.py": "def tie():\n    return untie()\n\n\ndef untie():\n    return tie()\n",
    "tools/wrap.py": "def wrap(what):\n    def wrapped():\n        coil(what)\n\n    return wrapped\n\n\n"
    "def coil(what): ...\n",
    "src/harbor/Sloop.java": "package harbor;\n\nclass Sloop extends Ship {\n  void heave() {}\n}\n",
    "src/harbor/Ship.java": "package harbor;\n\nclass Ship extends Hull {\n  void lift() {}\n}\n",
    "src/harbor/Hull.java": "package harbor;\n\nclass Hull {\n  void heave() {}\n"
    "  void sail(Hull hull) {\n    hull.heave();\n  }\n}\n",
    "web/allow.ts": """export const allow = (options: string) => {
  const first = pick(options)
  return async function allow(c: string) {
    function mark(key: string) { pick(key) }
    mark(first)
    note(c)
  }
}
export function lazy(c: string) {
  const idle = () => { note(c) }
  const run = () => { pick(c) }
  return run
}
function pick(key: string) { return key }
function note(key: string) {}
""",
    "turns/gate.rs": "struct Gate;\n\nimpl Open for Gate {\n    fn go(&self) {}\n}\n\n"
    "impl Shut for Gate {\n    fn go(&self) {\n        bolt_it();\n    }\n}\n\nfn bolt_it() {}\n",
    "tools/knot.py": "from tools.rope import tie as bind\n\n\ndef knot():\n    return bind()\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return written(tmp_path / "harbor", FILES)


@pytest.fixture
def ask(root: Path, tmp_path: Path) -> Iterator[Callable[..., ByName]]:
    """Indexes the repository when it is first called."""
    engine = Engine(DataDirectories(tmp_path / "data", tmp_path / "cache"), lambda _root: SETTINGS)
    opened: list[Catalogue] = []

    def by_name(options: ByNameOptions | None = None) -> ByName:
        registered = engine.register(root)
        engine.index(registered)
        catalogue = Catalogue.open(registered.project.directory)
        opened.append(catalogue)
        repository = IndexedRepository(registered.repository.name, FileReader(str(root)), catalogue)
        return ByName(repository, options or ByNameOptions())

    yield by_name
    for catalogue in opened:
        catalogue.close()


def written(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def known(by_name: ByName, path: str, name: str, line: int = 1) -> Connections:
    found = by_name.connections(SymbolTarget(path, name, line))
    assert found is not None
    return found


def shown(edges: tuple[Edge, ...]) -> list[str]:
    return [f"{edge.target.path or edge.target.module}:{edge.target.name}" for edge in edges]


CALLS = [
    ("store/box.go", "Box.Open", ["store/box.go:Box.close", "store/lid.go:Lid.Turn"]),
    ("main.go", "main", ["store/lid.go:NewLid", "store/lid.go:Lid.Turn", "store/box.go:Box.Open"]),
    (
        "src/harbor/Crate.java",
        "Crate.open",
        ["src/harbor/Crate.java:Crate.close", "src/harbor/Hinge.java:Hinge.swing"],
    ),
    ("native/box.c", "box_open", ["native/lid.c:lid_turn"]),
    (
        "lib/chest.ex",
        "Harbor.Chest.open",
        [
            "lib/cover.ex:Harbor.Lids.Cover.fold",
            "Enum:Enum.map",
            "lib/chest.ex:Harbor.Chest.shut",
        ],
    ),
    ("tools/knot.py", "knot", ["tools/rope.py:tie"]),
    # A function that is returned calls for the one that returns it.
    ("tools/wrap.py", "wrap", ["tools/wrap.py:coil"]),
    (
        "web/allow.ts",
        "allow",
        ["web/allow.ts:pick", "web/allow.ts:allow.allow.mark", "web/allow.ts:note"],
    ),
    ("web/allow.ts", "lazy", ["web/allow.ts:pick"]),
]
CALLERS = [
    ("store/lid.go", "Lid.Turn", ["main.go:main", "store/box.go:Box.Open"]),
    ("native/lid.c", "lid_turn", ["native/box.c:box_open"]),
    ("native/lid.h", "lid_turn", ["native/box.c:box_open"]),
    ("lib/cover.ex", "Harbor.Lids.Cover.fold", ["lib/chest.ex:Harbor.Chest.open"]),
    ("tools/rope.py", "tie", ["tools/knot.py:knot", "tools/rope.py:untie"]),
]


def test_calls(ask: Callable[..., ByName]) -> None:
    by_name = ask()
    found = {name: shown(known(by_name, path, name).calls) for path, name, _ in CALLS}
    assert found == {name: calls for _, name, calls in CALLS}


def test_callers_through_aliases_headers_and_packages(ask: Callable[..., ByName]) -> None:
    by_name = ask()
    found = [(path, sorted(shown(known(by_name, path, name).callers))) for path, name, _ in CALLERS]
    assert found == [(path, callers) for path, _, callers in CALLERS]


def test_a_caller_of_two_with_one_name_is_the_one_that_contains_the_call(
    ask: Callable[..., ByName],
) -> None:
    (edge,) = known(ask(), "turns/gate.rs", "bolt_it", 13).callers
    assert (edge.target.name, edge.target.line, edge.lines) == ("Gate.go", 8, (9,))


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("src/harbor/Sloop.java", "Sloop.heave", ["calls through Hull.heave, which it overrides"]),
        ("src/harbor/Hull.java", "Hull.heave", []),
        ("src/harbor/Ship.java", "Ship.lift", []),
    ],
)
def test_a_method_that_overrides_another_is_not_called_by_none(
    ask: Callable[..., ByName], path: str, name: str, expected: list[str]
) -> None:
    gaps = known(ask(), path, name).gaps
    assert [gap.why for gap in gaps if Fact.callers in gap.facts] == expected


def test_types_of_a_signature_and_where_they_are_declared(ask: Callable[..., ByName]) -> None:
    by_name = ask()
    opened = known(by_name, "store/box.go", "Box.Open")
    (flow,) = opened.types_in
    assert (flow.name, flow.type, shown(flow.origins)) == ("l", "*Lid", ["store/lid.go:Lid"])
    assert [flow.type for flow in opened.types_out] == ["error"]
    made = known(by_name, "store/lid.go", "NewLid").types_out
    assert [(flow.type, shown(flow.origins)) for flow in made] == [("*Lid", ["store/lid.go:Lid"])]


def test_heritage_members_and_constants(ask: Callable[..., ByName]) -> None:
    by_name = ask()
    crate = known(by_name, "src/harbor/Crate.java", "Crate")
    assert shown(crate.extends) == ["src/harbor/Base.java:Base"]
    assert shown(crate.implements) == ["src/harbor/Opens.java:Opens"]
    assert [member.name for member in crate.members] == ["SIZE", "open", "close", "close"]
    opens = known(by_name, "src/harbor/Opens.java", "Opens")
    assert shown(opens.subtypes) == ["src/harbor/Crate.java:Crate"]
    assert opens.references == ("src/harbor/Crate.java",)
    size = known(by_name, "src/harbor/Crate.java", "Crate.SIZE")
    assert (size.type, size.value) == ("int", "4")
    assert shown(known(by_name, "store/lid.go", "Limit").users) == ["store/lid.go:Lid.Turn"]
    assert shown(known(by_name, "store/box.go", "Box").extends) == ["store/lid.go:Shelf"]


def test_overloads_are_one_symbol_and_that_is_said(ask: Callable[..., ByName]) -> None:
    by_name = ask()
    second = known(by_name, "src/harbor/Crate.java", "Crate.close", line=15)
    assert second.signature == "void close(int times)"
    assert shown(second.callers) == [
        "src/harbor/Crate.java:Crate.open",
        "src/harbor/Crate.java:Crate.close",
    ]
    (gap,) = second.gaps
    assert Fact.callers in gap.facts
    assert "2 declarations" in gap.why


TWO_OF_ONE_NAME = """package harbor;

class Winch {
  private Hinge hinge = made();

  Winch() { grease(); }

  private Hinge hinge() { return hinge != null ? hinge : made(); }

  static Hinge made() { return new Hinge(); }

  void grease() {}

  void turn() {
    hinge().swing();
    Runnable later = new Runnable() {
      public void run() { grease(); }
    };
  }
}
"""


def test_a_field_and_a_method_of_one_name_are_two(ask: Callable[..., ByName], root: Path) -> None:
    path = "src/harbor/Winch.java"
    (root / path).write_text(TWO_OF_ONE_NAME)
    by_name = ask()
    method = known(by_name, path, "Winch.hinge", line=8)
    assert [(edge.target.name, edge.lines) for edge in method.callers] == [("Winch.turn", (15,))]
    assert method.users == ()
    field = known(by_name, path, "Winch.hinge", line=4)
    assert field.callers == ()
    assert [(edge.target.line, edge.lines) for edge in field.users] == [(8, (8,))]
    turn = known(by_name, path, "Winch.turn").calls
    assert [(edge.target.kind, edge.target.line) for edge in turn][:1] == [("method", 8)]
    callers = known(by_name, path, "Winch.made").callers
    assert [(edge.target.kind, edge.target.line) for edge in callers] == [
        ("property", 4),
        ("method", 8),
    ]


def test_who_makes_a_call_inside_of_another_symbol(ask: Callable[..., ByName], root: Path) -> None:
    path = "src/harbor/Winch.java"
    (root / path).write_text(TWO_OF_ONE_NAME)
    by_name = ask()
    # Its fields and its constructor, not its methods.
    assert shown(known(by_name, path, "Winch").calls) == [
        f"{path}:Winch.made",
        f"{path}:Winch.grease",
    ]
    # The object inside has methods of its own.
    assert f"{path}:Winch.grease" not in shown(known(by_name, path, "Winch.turn").calls)


def test_a_function_that_is_passed_to_a_call_has_no_type_before_it(
    ask: Callable[..., ByName], root: Path
) -> None:
    text = """class Quay {
  void Land() {
    (crew ??= new List<Action>()).Add(() => {
      Rest();
    });
  }
}
"""
    (root / "src/Quay.cs").write_text(text)
    by_name = ask()
    callback = "Quay.Land.(crew ??= new List<Action>()).Add() callback"
    assert known(by_name, "src/Quay.cs", callback).types_out == ()
    assert [flow.type for flow in known(by_name, "src/Quay.cs", "Quay.Land").types_out] == ["void"]


def test_generic_names_of_rust_have_no_home(ask: Callable[..., ByName], root: Path) -> None:
    (root / "rope").mkdir()
    (root / "rope/sink.rs").write_text(
        "impl<S: Sink> Sink for &mut S {\n    type Error = S::Error;\n}\n"
    )
    (root / "rope/tests.rs").write_text("type Result<T> = T;\n")
    (root / "rope/search.rs").write_text(
        "pub fn search<S: Sink>(to: S) -> Result<S::Error> { to }\n"
    )
    found = known(ask(), "rope/search.rs", "search")
    assert [(flow.type, flow.origins) for flow in (*found.types_in, *found.types_out)] == [
        ("S", ()),
        ("Result<S::Error>", ()),
    ]


def test_a_file_that_uses_nothing_says_nothing_about_others(
    ask: Callable[..., ByName], root: Path
) -> None:
    (root / "lib/Options.php").write_text("<?php\n\nclass Options\n{\n    const SIZE = 3;\n}\n")
    (root / "README.md").write_text("# Harbor\n")
    by_name = ask()
    assert known(by_name, "lib/Options.php", "Options").gaps == ()
    (gap,) = known(by_name, "README.md", "Harbor").gaps
    assert gap.why == "uses are not read in markdown files"


def test_a_file_edited_since_the_index_was_made_is_read_as_it_is(
    ask: Callable[..., ByName], root: Path
) -> None:
    by_name = ask()
    text = FILES["native/box.c"]
    (root / "native/box.c").write_text(f"\n\n\n{text}".replace("box_open", "box_shut"))
    (edge,) = known(by_name, "native/lid.c", "lid_turn").callers
    assert (edge.target.name, edge.lines) == ("box_shut", (7,))
    assert by_name.connections(SymbolTarget("native/box.c", "box_open", 3)) is None


def test_a_file_that_is_gone_is_a_gap(ask: Callable[..., ByName], root: Path) -> None:
    by_name = ask()
    (root / "native/box.c").unlink()
    (root / "lib/chest.ex").write_bytes(b"\0\0\0")
    gone = known(by_name, "native/lid.c", "lid_turn")
    assert (gone.callers, [gap.why for gap in gone.gaps]) == (
        (),
        ["gone since the index was made, or not readable: native/box.c"],
    )
    assert known(by_name, "lib/cover.ex", "Harbor.Lids.Cover.fold").gaps
    assert by_name.connections(SymbolTarget("native/box.c", "box_open", 3)) is None


def test_files_that_were_not_read_are_counted(ask: Callable[..., ByName]) -> None:
    found = known(ask(ByNameOptions(max_files=1)), "store/lid.go", "Lid.Turn")
    assert [gap.why for gap in found.gaps] == ["1 more files mention the name and were not read"]
    assert shown(found.callers) == ["store/box.go:Box.Open"]


def test_one_question_for_several_symbols(ask: Callable[..., ByName]) -> None:
    targets = [SymbolTarget("store/lid.go", "Lid", 7), SymbolTarget("store/lid.go", "Gone", 1)]
    lid, gone = map(ask().connections, targets)
    assert lid is not None
    assert lid.symbol.line == 7
    assert gone is None


def test_trees_of_calls_end_in_circles(ask: Callable[..., ByName]) -> None:
    question = ask()
    knot = question.connections(SymbolTarget("tools/knot.py", "knot", 1))
    assert knot is not None

    def at(place: SymbolPlace) -> Connections:
        found = question.connections(SymbolTarget(place.path or "", place.name, place.line or 1))
        assert found is not None
        return found

    tree = call_tree(knot.symbol, lambda place: at(place).calls, TreeOptions(depth=5))
    path, node = [], tree
    while node.children:
        (node,) = node.children
        path.append(node.edge.target.name)
    assert (path, node.mark) == (["tie", "untie", "tie"], "cycle")
    tie = tree.children[0].edge.target
    up = call_tree(tie, lambda place: at(place).callers, TreeOptions(depth=1))
    assert sorted(child.edge.target.name for child in up.children) == ["knot", "untie"]


def test_a_class_of_thousands_of_lines(ask: Callable[..., ByName], root: Path) -> None:
    methods = "".join(f"  void m{n}() {{\n    m{n + 1}();\n  }}\n" for n in range(2000))
    (root / "src/harbor/Huge.java").write_text(f"package harbor;\n\nclass Huge {{\n{methods}}}\n")
    by_name = ask()
    huge = known(by_name, "src/harbor/Huge.java", "Huge")
    assert len(huge.members) == 2000
    assert huge.calls == ()
    assert shown(known(by_name, "src/harbor/Huge.java", "Huge.m1998").calls) == [
        "src/harbor/Huge.java:Huge.m1999"
    ]
    assert shown(known(by_name, "src/harbor/Huge.java", "Huge.m7").callers) == [
        "src/harbor/Huge.java:Huge.m6"
    ]


def test_circles_of_imports_and_of_inheritance_end(ask: Callable[..., ByName], root: Path) -> None:
    written(
        root,
        {
            "ring/a.py": "from ring.b import B\n\n\nclass A(B):\n    def go(self):\n"
            "        self.stop()\n        lid = lid.next()\n        lid.turn()\n",
            "ring/b.py": "from ring.a import A\n\n\nclass B(A):\n    def stop(self): ...\n",
        },
    )
    by_name = ask()
    assert shown(known(by_name, "ring/a.py", "A.go").calls) == ["ring/b.py:B.stop"]
    assert shown(known(by_name, "ring/a.py", "A").subtypes) == ["ring/b.py:B"]


KOTLIN = {
    "common/Use.kt": "package tide\n\nfun run() {\n  now()\n  Clock().tick()\n}\n",
    "common/Time.kt": "package tide\n\nexpect fun now(): Long\n\nexpect class Clock() {\n"
    "  fun tick()\n}\n",
    "jvm/Time.kt": "package tide\n\nactual fun now(): Long = 1\n\nactual class Clock {\n"
    "  actual fun tick() {}\n}\n",
    "js/Time.kt": "package tide\n\nactual fun now(): Long = 2\n",
    "other/Time.kt": "package other\n\nactual fun now(): Long = 3\n",
}


def test_what_each_platform_has_of_a_symbol(ask: Callable[..., ByName], root: Path) -> None:
    written(root, KOTLIN)
    by_name = ask()
    run = known(by_name, "common/Use.kt", "run")
    assert shown(run.calls) == [
        "common/Time.kt:now",
        "common/Time.kt:Clock",
        "common/Time.kt:Clock.tick",
    ]
    for path in ("common/Time.kt", "jvm/Time.kt", "js/Time.kt"):
        assert shown(known(by_name, path, "now").callers) == ["common/Use.kt:run"]
    assert shown(known(by_name, "jvm/Time.kt", "Clock.tick").callers) == ["common/Use.kt:run"]
    assert known(by_name, "other/Time.kt", "now").callers == ()


def test_a_crate_is_called_as_its_manifest_says(ask: Callable[..., ByName], root: Path) -> None:
    written(
        root,
        {
            "crates/core/Cargo.toml": '[package]\nname = "tide-core"\n',
            "crates/core/src/lib.rs": "pub fn rise() {}\n",
            "crates/core/src/rise.rs": "pub fn rise() {}\n",
            "crates/app/src/main.rs": "use tide_core::rise;\n\nfn main() {\n    rise();\n}\n",
        },
    )
    by_name = ask()
    main = known(by_name, "crates/app/src/main.rs", "main")
    assert shown(main.calls) == ["crates/core/src/lib.rs:rise"]
    rise = known(by_name, "crates/core/src/lib.rs", "rise")
    assert shown(rise.callers) == ["crates/app/src/main.rs:main"]
