"""Names find their declarations by scopes, imports and declared types, in every language alike."""

from typing import NamedTuple

import pytest

from asterism.analysis.resolve.candidates import GUESS, Declaration
from asterism.analysis.resolve.resolver import Resolver
from tests.analysis.resolve.in_memory_world import InMemoryWorld

PYTHON = {
    "box.py": """
from lids import Lid, make as build
import lids
from . import tools

class Base:
    def shut(self): ...

class Box(Base):
    lid: Lid
    def open(self, other: Lid, anything):
        self.close()
        self.shut()
        super().shut()
        self.lid.turn()
        other.turn()
        fresh = Lid()
        fresh.turn()
        made = build()
        made.turn()
        lids.make()
        tools.oil(made)
        anything.turn_twice()
        anything.close()
    def close(self): ...
""",
    "lids.py": """
class Lid:
    def turn(self): ...
    def turn_twice(self): ...
def make() -> Lid: ...
def close(): ...
""",
    "tools.py": "def oil(what): ...\n",
}
GO = {
    "store/box.go": """package store
import "example.com/harbor/lids"
type Box struct {
	Shelf
	inner *Lid
}
func (b *Box) Open(l *Lid, far *lids.Lid) {
	b.Close()
	b.inner.Turn()
	l.Turn()
	far.Twist()
	fresh := NewLid()
	fresh.Turn()
	lids.Make()
	b.Dust()
}
""",
    "store/lid.go": """package store
type Lid struct{}
func (l *Lid) Turn() {}
func NewLid() *Lid { return nil }
func (b *Box) Close() {}
type Shelf struct{}
func (s Shelf) Dust() {}
""",
    "lids/lid.go": """package lids
type Lid struct{}
func (l *Lid) Twist() {}
func Make() *Lid { return nil }
""",
}
JAVA = {
    "src/harbor/Box.java": """package harbor;
import harbor.lids.Lid;
public class Box extends Base implements Opens {
  private Lid lid;
  int open(Lid other, CharSequence text) {
    close();
    shut();
    lid.turn();
    this.lid.turn();
    other.turn();
    Lid fresh = new Lid(3);
    fresh.turn();
    text.length();
    return Lid.count();
  }
  void close() {}
}
""",
    "src/harbor/Base.java": "package harbor;\npublic class Base { void shut() {} }\n",
    "src/harbor/Opens.java": "package harbor;\npublic interface Opens {}\n",
    "src/harbor/lids/Lid.java": """package harbor.lids;
public class Lid {
  public Lid(int n) {}
  public void turn() {}
  public static int count() { return 0; }
}
""",
    "src/harbor/Text.java": "package harbor;\npublic class Text { int length() { return 0; } }\n",
}
RUST = {
    "src/main.rs": """mod lids;
use crate::lids::{Lid, make};
pub struct Chest { lid: Lid }
impl Chest {
    pub fn open(&self, other: &Lid) {
        self.close();
        self.lid.turn();
        other.turn();
        let fresh = make();
        fresh.turn();
        Lid::new();
    }
    fn close(&self) {}
}
""",
    "src/lids.rs": """pub struct Lid;
impl Lid {
    pub fn new() -> Lid { Lid }
    pub fn turn(&self) {}
}
pub fn make() -> Lid { Lid }
""",
}
TYPESCRIPT = {
    "box.ts": """import { Lid } from './all';
import * as tools from './tools';
import build from './tools';
export class Box extends Base {
  private lid: Lid;
  open(other: Lid) {
    this.close();
    this.lid.turn();
    other.turn();
    const fresh = new Lid();
    fresh.turn();
    tools.oil();
    build();
  }
  close() {}
}
class Base {}
""",
    "all.ts": "export * from './lid';\n",
    "lid.ts": "export class Lid { turn() {} }\n",
    "tools.ts": "export function oil() {}\nexport default function make() {}\n",
}
RUBY = {
    "box.rb": """class Box < Base
  def open(lid)
    close
    shut
    Lid.new(3).turn
    self.close
  end
  def close; end
end
""",
    "base.rb": "class Base\n  def shut; end\nend\n",
    "lid.rb": "class Lid\n  def turn; end\nend\n",
}
C = {
    "box.c": """#include "lid.h"
static int helper(int x);
int box_open(int n) { lid_turn(n); return helper(n); }
static int helper(int x) { return x; }
""",
    "lid.h": "int lid_turn(int n);\n",
    "lid.c": '#include "lid.h"\nint lid_turn(int n) { return n; }\n',
}


class Case(NamedTuple):
    """A name as it is used, and what it means."""

    files: dict[str, str]
    use: str
    """The receiver and the name."""
    meaning: str
    """`path:qualified name`, or the package alone for what is outside."""
    guessed: bool = False


CASES = [
    Case(PYTHON, "self.close", "box.py:Box.close"),
    Case(PYTHON, "self.shut", "box.py:Base.shut"),
    Case(PYTHON, "super().shut", "box.py:Base.shut"),
    Case(PYTHON, "self.lid.turn", "lids.py:Lid.turn"),
    Case(PYTHON, "other.turn", "lids.py:Lid.turn"),
    Case(PYTHON, "fresh.turn", "lids.py:Lid.turn"),
    Case(PYTHON, "made.turn", "lids.py:Lid.turn"),
    Case(PYTHON, "build", "lids.py:make"),
    Case(PYTHON, "lids.make", "lids.py:make"),
    Case(PYTHON, "tools.oil", "tools.py:oil"),
    Case(PYTHON, "anything.turn_twice", "lids.py:Lid.turn_twice", guessed=True),
    Case(PYTHON, "anything.close", "box.py:Box.close", guessed=True),
    Case(GO, "b.Close", "store/lid.go:Box.Close"),
    Case(GO, "b.inner.Turn", "store/lid.go:Lid.Turn"),
    Case(GO, "l.Turn", "store/lid.go:Lid.Turn"),
    Case(GO, "far.Twist", "lids/lid.go:Lid.Twist"),
    Case(GO, "fresh.Turn", "store/lid.go:Lid.Turn"),
    Case(GO, "NewLid", "store/lid.go:NewLid"),
    Case(GO, "lids.Make", "lids/lid.go:Make"),
    Case(GO, "b.Dust", "store/lid.go:Shelf.Dust"),
    Case(JAVA, "close", "src/harbor/Box.java:Box.close"),
    Case(JAVA, "shut", "src/harbor/Base.java:Base.shut"),
    Case(JAVA, "lid.turn", "src/harbor/lids/Lid.java:Lid.turn"),
    Case(JAVA, "this.lid.turn", "src/harbor/lids/Lid.java:Lid.turn"),
    Case(JAVA, "other.turn", "src/harbor/lids/Lid.java:Lid.turn"),
    Case(JAVA, "fresh.turn", "src/harbor/lids/Lid.java:Lid.turn"),
    Case(JAVA, "Lid.count", "src/harbor/lids/Lid.java:Lid.count"),
    Case(JAVA, "Base", "src/harbor/Base.java:Base"),
    Case(JAVA, "text.length", "CharSequence"),
    Case(RUST, "self.close", "src/main.rs:Chest.close"),
    Case(RUST, "self.lid.turn", "src/lids.rs:Lid.turn"),
    Case(RUST, "other.turn", "src/lids.rs:Lid.turn"),
    Case(RUST, "fresh.turn", "src/lids.rs:Lid.turn"),
    Case(RUST, "Lid.new", "src/lids.rs:Lid.new"),
    Case(TYPESCRIPT, "this.close", "box.ts:Box.close"),
    Case(TYPESCRIPT, "this.lid.turn", "lid.ts:Lid.turn"),
    Case(TYPESCRIPT, "other.turn", "lid.ts:Lid.turn"),
    Case(TYPESCRIPT, "fresh.turn", "lid.ts:Lid.turn"),
    Case(TYPESCRIPT, "tools.oil", "tools.ts:oil"),
    Case(TYPESCRIPT, "build", "tools.ts:make"),
    Case(TYPESCRIPT, "Base", "box.ts:Base"),
    Case(RUBY, "close", "box.rb:Box.close"),
    Case(RUBY, "shut", "base.rb:Base.shut"),
    Case(RUBY, "Lid.new(3).turn", "lid.rb:Lid.turn"),
    Case(C, "lid_turn", "lid.c:lid_turn"),
    Case(C, "helper", "box.c:helper"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{next(iter(case.files))} {case.use}")
def test_meaning(case: Case) -> None:
    world = InMemoryWorld(case.files)
    resolver = Resolver(world)
    scope = world.scope(next(iter(case.files)))
    assert scope is not None
    uses = [
        reference
        for reference in scope.outline.references
        if ".".join(filter(None, (reference.receiver, reference.name))) == case.use
    ]
    assert uses, "the fixture does not use the name"
    meanings = {resolver.resolve(scope, use) for use in uses}
    assert len(meanings) == 1
    meaning = meanings.pop()
    assert meaning is not None
    if meaning.declaration is None:
        assert meaning.module == case.meaning
        return
    item = resolver.item(meaning.declaration)
    assert f"{meaning.declaration.path}:{item.qualified_name}" == case.meaning
    assert (meaning.confidence <= GUESS) == case.guessed


HIDDEN = [
    (
        "go",
        """package store
type Tree struct{}
type Other struct{}
func (o *Other) insert() {}
func (t *Tree) insert() {}
func (t *Tree) Walk(n int) {
	defer func() {
		t := recover()
		log(t)
	}()
	each(func(x int) { t := Other{}; t.inner() })
	if t := find("}"); t != nil {
		t.inner()
	} else {
		t.inner()
	}
	if n > 1 {
		var t Other
		t.inner()
	}
	t.insert()
}
""",
        "Tree.insert",
    ),
    (
        "java",
        """class Other { void insert() {} }
class Tree {
  Other t;
  void insert() {}
  void walk(Tree t) {
    each((Other u) -> { Other v = make(); v.inner(); });
    for (Other o : all()) {
      o.inner();
    }
    t.insert();
  }
  void each(Other o) {}
}
""",
        "Tree.insert",
    ),
    (
        "ts",
        """class Other { insert() {} }
class Tree { insert() {} }
function walk(t: Tree) {
  each((x) => {
    const t = new Other()
    t.inner()
  })
  t.insert()
}
""",
        "Tree.insert",
    ),
    (
        "py",
        """class Other:
    def insert(self): ...
class Tree:
    def insert(self): ...
def walk(t: Tree):
    def inner():
        t = Other()
        t.inner()
    t.insert()
""",
        "Tree.insert",
    ),
    (
        "go",
        """package store
type Tree struct{}
type Other struct{}
func (o *Other) insert() {}
func (t *Tree) insert() {}
func (t *Tree) Walk(n int) {
	t := Other{}
	if n > 1 {
		t.insert()
	}
	t.insert()
}
""",
        "Other.insert",
    ),
    (
        "ts",
        """class Other { insert() {} }
class Tree { insert() {} }
function walk() {
  let t
  before(() => {
    t = new Tree()
  })
  check(() => t.insert())
}
""",
        "Tree.insert",
    ),
]


@pytest.mark.parametrize(("ending", "source", "expected"), HIDDEN)
def test_a_variable_ends_with_its_block(ending: str, source: str, expected: str) -> None:
    path = f"store/a.{ending}"
    world = InMemoryWorld({path: source})
    resolver, scope = Resolver(world), world.scope(path)
    assert scope is not None
    uses = [one for one in scope.outline.references if one.name == "insert" and one.receiver]
    assert uses
    for use in uses:
        meaning = resolver.resolve(scope, use)
        assert meaning is not None
        assert meaning.declaration is not None
        assert resolver.item(meaning.declaration).qualified_name == expected
        assert meaning.confidence > GUESS


def test_a_function_with_a_body_is_meant_rather_than_its_declaration() -> None:
    world = InMemoryWorld(C)
    resolver, scope = Resolver(world), world.scope("box.c")
    assert scope is not None
    meaning = resolver.bare(scope, "lid_turn", None)
    assert meaning is not None
    assert meaning.declaration is not None
    assert resolver.item(meaning.declaration).body is not None


def test_two_of_one_name_elsewhere_mean_neither() -> None:
    world = InMemoryWorld(
        {
            "a/use.py": "def f(x): x.go()\n",
            "b/one.py": "class One:\n    def go(self): ...\n",
            "c/two.py": "class Two:\n    def go(self): ...\n",
        }
    )
    scope = world.scope("a/use.py")
    assert scope is not None
    (use,) = [reference for reference in scope.outline.references if reference.name == "go"]
    assert Resolver(world).resolve(scope, use) is None


def test_circles_end() -> None:
    world = InMemoryWorld(
        {
            "a.py": "from b import thing\nclass A(B):\n    def f(self): self.g()\nclass B(A): ...\n",
            "b.py": "from a import thing\n",
        }
    )
    resolver, scope = Resolver(world), world.scope("a.py")
    assert scope is not None
    assert resolver.bare(scope, "thing", None) is None
    (use,) = [reference for reference in scope.outline.references if reference.name == "g"]
    assert resolver.resolve(scope, use) is None


def test_bases_tell_interfaces_apart() -> None:
    world = InMemoryWorld(JAVA)
    resolver, scope = Resolver(world), world.scope("src/harbor/Box.java")
    assert scope is not None
    number = scope.top_level("Box")
    assert number is not None
    bases = resolver.bases(Declaration("src/harbor/Box.java", number))
    assert [(base.name, implements) for _, base, implements in bases] == [
        ("Base", False),
        ("Opens", True),
    ]
