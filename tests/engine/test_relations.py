"""Callers, callees and references through the engine, as deep as was asked."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.engine.engine import Engine
from asterism.engine.relations import Relation, RelationsReply, RelationsRequest
from asterism.engine.stores import DataDirectories
from asterism.store.registry import Registered
from asterism.types.errors import IndexMissing, UsageError
from asterism.types.structure import CallTree
from tests.engine.conftest import NO_SERVERS, SETTINGS, make
from tests.structure.compilers import needs_checker

CHAIN = """\
from b import middle


def first():
    return middle()


def loop(n):
    return again(n)


def again(n):
    return loop(n)


def lonely():
    return 1


class Handler:
    def run(self):
        return first()
"""
MIDDLE = """\
def middle():
    return last()


def last():
    return 1


class Handler:
    def run(self):
        return last()
"""


@pytest.fixture(params=["off", pytest.param("", marks=needs_checker)])
def asking(
    request: pytest.FixtureRequest, places: DataDirectories, tmp_path: Path
) -> Iterator["Asking"]:
    """A repository of two files, connected by name and by the type checker."""
    settings = replace(SETTINGS, structure=replace(NO_SERVERS, python=request.param))
    engine = Engine(places, lambda _root: settings)
    registered = engine.register(make(tmp_path / "chain", a=CHAIN, b=MIDDLE))
    engine.index(registered)
    yield Asking(engine, registered)
    engine.close()


class Asking:
    def __init__(self, engine: Engine, registered: Registered) -> None:
        self.engine = engine
        self.registered = registered

    def __call__(
        self, name: str, relation: str = "callers", depth: int = 1, below: str = ""
    ) -> RelationsReply:
        request = RelationsRequest(name=name, relation=Relation(relation), depth=depth, below=below)
        return self.engine.relations(self.registered, request)


def drawn(tree: CallTree | None) -> str:
    """A tree as `root(child(…) child)`, with its marks."""
    assert tree is not None
    mark = {"cycle": "↺", "depth": "…", None: ""}[tree.mark]
    below = " ".join(map(drawn, tree.children))
    return f"{tree.edge.target.name}{mark}" + (f"({below})" if below else "")


TREES = [
    ("last", "callers", 1, "last(middle… Handler.run…)"),
    ("last", "callers", 2, "last(middle(first…) Handler.run)"),
    ("last", "callers", 3, "last(middle(first(Handler.run…)) Handler.run)"),
    ("a.py > Handler.run", "callees", 4, "Handler.run(first(middle(last)))"),
    ("loop", "callers", 5, "loop(again(loop↺))"),
    ("loop", "callees", 5, "loop(again(loop↺))"),
    ("lonely", "callees", 1, "lonely"),
]


@pytest.mark.parametrize(("name", "relation", "depth", "wanted"), TREES)
def test_trees(asking: Asking, name: str, relation: str, depth: int, wanted: str) -> None:
    reply = asking(name, relation, depth)
    assert [drawn(related.tree) for related in reply.related] == [wanted]
    assert reply.total == 1


def test_files_that_refer_to_it(asking: Asking) -> None:
    (middle,) = asking("middle", "references").related
    assert (middle.connections.references, middle.tree) == (("a.py",), None)
    (lonely,) = asking("lonely", "references").related
    # Names cannot prove that there are no callers.
    is_by_name = asking.engine.settings_of(asking.registered).structure.python == "off"
    assert lonely.connections.references == (None if is_by_name else ())


def test_no_callers_are_only_reported_when_known(asking: Asking) -> None:
    (lonely,) = asking("lonely").related
    is_by_name = asking.engine.settings_of(asking.registered).structure.python == "off"
    assert lonely.connections.callers == ()
    assert [*lonely.unknown] == ([lonely.connections.symbol] if is_by_name else [])
    assert any("is off" in note for note in asking("lonely").notes) is is_by_name


def test_several_definitions_and_one_of_them(asking: Asking) -> None:
    both = asking("Handler.run", "callees")
    assert (len(both.related), both.total) == (2, 2)
    one = asking("Handler.run", "callees", below="b.py")
    assert [related.connections.symbol.path for related in one.related] == ["b.py"]
    assert asking("Handler.run", "callees", below="b").total == 0
    assert asking("Handler.run", "callees", below="src/").total == 0


def test_a_name_that_is_not_there(asking: Asking) -> None:
    reply = asking("midle")
    assert (reply.related, reply.total, reply.did_you_mean) == ((), 0, ("middle",))
    # The likeliest is the one inside the container that was written before it.
    assert asking("Handler.rum").did_you_mean[0] == "Handler.run"


@pytest.mark.parametrize(("name", "depth"), [("", 1), ("  ", 1), ("last", 0), ("last", 11)])
def test_what_may_not_be_asked(asking: Asking, name: str, depth: int) -> None:
    with pytest.raises(UsageError, match="; give"):
        asking(name, depth=depth)


OVERLOADS = """\
class Pier {
  void moor() { tie(); }
  void moor(int ships) { moor(); }
  void tie() {}
  void land() { moor(2); }
}
"""


def test_overloads_with_one_answer_are_one(places: DataDirectories, tmp_path: Path) -> None:
    (tmp_path / "pier").mkdir()
    (tmp_path / "pier" / "Pier.java").write_text(OVERLOADS)
    engine = Engine(places, lambda _root: SETTINGS)
    registered = engine.register(tmp_path / "pier")
    engine.index(registered)

    def asked(relation: Relation) -> RelationsReply:
        return engine.relations(registered, RelationsRequest(name="Pier.moor", relation=relation))

    callers = asked(Relation.callers)
    assert [drawn(related.tree) for related in callers.related] == [
        "Pier.moor(Pier.moor… Pier.land…)"
    ]
    assert (callers.related[0].connections.symbol.line, callers.total) == (2, 1)
    callees = asked(Relation.callees)
    assert [related.connections.symbol.line for related in callees.related] == [2, 3]
    assert callees.total == 2
    engine.close()


def test_where_there_is_no_index(places: DataDirectories, tmp_path: Path) -> None:
    engine = Engine(places, lambda _root: SETTINGS)
    registered = engine.register(make(tmp_path / "none", a="x = 1\n"))
    with pytest.raises(IndexMissing, match="asterism index"):
        engine.relations(registered, RelationsRequest(name="x", relation=Relation.callers))


def test_more_definitions_than_are_looked_at(places: DataDirectories, tmp_path: Path) -> None:
    settings = replace(SETTINGS, structure=replace(NO_SERVERS, python="off"))
    engine = Engine(places, lambda _root: settings)
    files = {f"f{number}": "def same():\n    return 1\n" for number in range(14)}
    registered = engine.register(make(tmp_path / "many", **files))
    engine.index(registered)
    reply = engine.relations(registered, RelationsRequest(name="same", relation=Relation.callers))
    assert (len(reply.related), reply.total) == (10, 14)
    engine.close()


def test_headings_are_definitions_only_where_code_has_none(
    places: DataDirectories, tmp_path: Path
) -> None:
    engine = Engine(places, lambda _root: SETTINGS)
    root = make(tmp_path / "texts", a="def Setup():\n    pass\n")
    (root / "README.md").write_text("# Texts\n\n## Setup\n\nRun it.\n\n## Licence\n\nFree.\n")
    asking = Asking(engine, engine.register(root))
    engine.index(asking.registered)
    setup, licence = asking("Setup", "references"), asking("Licence", "references")
    engine.close()
    found = [related.connections.symbol.path for related in setup.related]
    assert (found, setup.total) == (["a.py"], 1)
    assert [related.connections.kind for related in licence.related] == ["section"]
