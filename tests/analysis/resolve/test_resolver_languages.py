"""Languages that no compiler answers for: imports, members, inheritance, extensions of each."""

import pytest

from asterism.analysis.resolve.candidates import GUESS, Meaning
from asterism.analysis.resolve.resolver import Resolver
from tests.analysis.resolve.in_memory_world import InMemoryWorld

# Of each language, its files, then what the first of them uses and what that means: `path:name`,
# `? path:name` for a guess, the package alone for what is outside, nothing where none is known.
ELIXIR = {
    "lib/box.ex": """defmodule Harbor.Box do
  alias Harbor.Lids.Lid
  alias Harbor.{Tools, Ropes}
  alias Harbor.Tools, as: Kit
  import Harbor.Paint
  @behaviour Harbor.Opens
  @limit 3
  def open(box, n) do
    close(box)
    Lid.turn(box.lid)
    Tools.oil(n)
    Kit.oil(n)
    Ropes.tie()
    colour(n)
    Harbor.Lids.Lid.turn(n)
    Enum.map([1], &Lid.turn/1)
    __MODULE__.close(box)
    Inner.deep(@limit)
  end
  defp close(box), do: box
  defmodule Inner do
    def deep(x), do: x
  end
end
""",
    "lib/lid.ex": "defmodule Harbor.Lids.Lid do\n  def turn(x), do: x\nend\n",
    "lib/tools.ex": "defmodule Harbor.Tools do\n  def oil(x), do: x\nend\n",
    "lib/other.ex": "defmodule Other.Tools do\n  def oil(x), do: x\n  def tie, do: 1\nend\n",
    "lib/paint.ex": "defmodule Harbor.Paint do\n  def colour(x), do: x\nend\n",
}
CSHARP = {
    "Box.cs": """using Harbor.Lids;
using Cover = Harbor.Lids.Lid;
namespace Harbor
{
    public class Box : Base, IOpens
    {
        private readonly Lid _lid;
        public Lid Spare { get; set; }
        public Box(Lid lid) { _lid = lid; }
        public Lid Open(Lid other, string text, IList list)
        {
            Close();
            Shut();
            _lid.Turn();
            this._lid.Turn();
            other?.Turn();
            Spare.Turn();
            var fresh = new Lid(3);
            fresh.Turn();
            text.Turn();
            text.Quote();
            list.Quote();
            Lid.Count();
            base.Shut();
            new Cover().Turn();
            fresh.Oil();
            Strange.Count();
            return null;
        }
        void Close() {}
    }
    public class Base { protected void Shut() {} }
}
""",
    "lids/Lid.cs": """namespace Harbor.Lids;
public class Lid { public Lid(int n) {} public void Turn() {} public static int Count() => 1; }
public static class More { public static void Oil(this Lid lid) {} }
public static class Texts { public static void Quote(this string text) {} }
""",
    "other/Lid.cs": "namespace Harbor.Other;\npublic class Lid { public void Turn() {} }\n",
}
SWIFT = {
    "Sources/Box.swift": """import Foundation
class Box: Base, Opens {
    let lid: Lid
    var other: Lid?
    lazy var third = Lid()
    func open(_ n: Lid, with text: String) -> State? {
        close()
        shut()
        lid.turn()
        self.lid.turn()
        other?.turn()
        n.turn()
        third.turn()
        let fresh = Lid(3)
        fresh.turn()
        let made = makeLid()
        made.turn()
        Lid.count()
        n.oiled()
        text.turn()
        text.quoted()
        return nil
    }
    func close() {}
}
class Base { func shut() {} }
""",
    "Sources/Lids/Lid.swift": """struct Lid {
    func turn() {}
    static func count() {}
}
func makeLid() -> Lid { Lid() }
""",
    "Sources/Lids/Oil.swift": "extension Lid { func oiled() { turn() } }\n"
    "extension String { func quoted() {} }\n",
}
KOTLIN = {
    "src/harbor/Box.kt": """package harbor
import harbor.lids.Lid
import harbor.tools.oil
import harbor.paint.*
class Box(private val lid: Lid) : Base(lid), Opens {
    val other: Lid = Lid(1)
    var third: Lid? = null
    fun open(n: Lid, text: String): Lid {
        close()
        shut()
        lid.turn()
        this.lid.turn()
        third?.turn()
        n.turn()
        val fresh = Lid(3)
        fresh.turn()
        oil(n)
        colour(n)
        n.oiled()
        Kit.fix()
        text.turn()
        return n
    }
    fun close() {}
}
abstract class Base {
    fun shut() {}
}
object Kit {
    fun fix() {}
}
""",
    "src/harbor/lids/Lid.kt": "package harbor.lids\nclass Lid(n: Int) { fun turn() {} }\n",
    "src/harbor/lids/More.kt": "package harbor.lids\nfun Lid.oiled() = turn()\n",
    "src/harbor/tools/Tools.kt": "package harbor.tools\nfun oil(x: Any) {}\n",
    "src/harbor/paint/All.kt": "package harbor.paint\nfun colour(x: Any) {}\n",
    "src/other/Tools.kt": "package other\nfun oil(x: Any) {}\nclass String2 { fun turn() {} }\n",
}
SCALA = {
    "src/harbor/Box.scala": """package harbor
import harbor.lids.{Lid, Key => K}
import harbor.tools.Kit._
class Box(lid: Lid) extends Base(lid) with Opens {
  val other: Lid = new Lid(1)
  def open(n: Lid)(implicit k: K): Option[Lid] = {
    close()
    shut()
    lid.turn()
    other.turn()
    n.turn()
    val fresh = new Lid(3)
    fresh.turn()
    k.press()
    Helper.fix()
    super.shut()
    None
  }
  def close(): Unit = ()
}
class Base(l: Lid) { def shut(): Unit = () }
object Helper { def fix() = 1 }
trait Opens
""",
    "src/harbor/lids/Lid.scala": """package harbor.lids
class Lid(n: Int) { def turn(): Unit = () }
class Key { def press(): Unit = () }
""",
}
PHP = {
    "src/Harbor/Box.php": """<?php
namespace App\\Harbor;
use App\\Lids\\Lid;
use App\\Lids\\{Key, Cover as C};
use function App\\Tools\\oil;
class Box extends Base implements Opens {
    use Paints;
    private Lid $lid;
    public function __construct(private Key $key) {}
    public function open(Lid $other, ?C $c, string $text): ?Lid {
        $this->close();
        $this->shut();
        $this->lid->turn();
        $other->turn();
        $c?->fold();
        $fresh = new Lid(3);
        $fresh->turn();
        oil($fresh);
        Lid::count();
        self::make();
        static::make();
        parent::shut();
        $this->key->press();
        $this->colour();
        helper();
        $text->turn();
        return null;
    }
    public static function make(): self { return new static(); }
    private function close(): void {}
}
function helper() {}
""",
    "src/Harbor/Base.php": "<?php\nnamespace App\\Harbor;\nclass Base { function shut() {} }\n",
    "src/Harbor/Paints.php": "<?php\nnamespace App\\Harbor;\ntrait Paints { function colour() {} }\n",
    "src/Lids/Lid.php": "<?php\nnamespace App\\Lids;\nclass Lid { function turn() {} static function count() {} }\n",
    "src/Lids/all.php": """<?php
namespace App\\Lids;
class Key { function press() {} }
class Cover { function fold() {} }
""",
    "src/Tools/functions.php": "<?php\nnamespace App\\Tools;\nfunction oil($x) {}\n",
    "other/functions.php": "<?php\nnamespace Other;\nfunction oil($x) {}\n",
}
HASKELL = {
    "src/Harbor/Box.hs": """module Harbor.Box (Box(..), open) where
import Harbor.Lids (Lid(..), turn)
import qualified Harbor.Tools as T
import qualified Harbor.Keys
import Harbor.Paint
data Box = Box { lid :: Lid, size :: Int } | Crate Lid
class Opens a where
  open :: a -> Lid -> State
instance Opens Box where
  open b l = close (turn (lid b))
close :: Lid -> State
close l = T.oil l
other :: Box -> Lid
other b = Harbor.Keys.press (colour b)
again b = open b Crate
""",
    "src/Harbor/Lids.hs": "module Harbor.Lids where\ndata Lid = Lid\nturn :: Lid -> Lid\nturn l = l\n",
    "src/Harbor/Tools.hs": "module Harbor.Tools where\noil :: a -> a\noil x = x\n",
    "src/Harbor/Keys.hs": "module Harbor.Keys where\npress :: a -> a\npress x = x\n",
    "src/Harbor/Paint.hs": "module Harbor.Paint where\ncolour :: a -> a\ncolour x = x\n",
    "src/Other/Tools.hs": "module Other.Tools where\noil :: a -> a\noil x = x\n",
}
LUA = {
    "lua/harbor/box.lua": """local lids = require("harbor.lids")
local tools = require("harbor.tools")
local M = {}
local function helper(n) return n end
function M.open(n)
  helper(n)
  M.close(n)
  lids.turn(n)
  tools.oil(n)
  string.format("x")
  n.press()
end
M.close = function(n) end
function M:method() self:other() end
function M:other() end
return M
""",
    "lua/harbor/lids.lua": "local L = {}\nfunction L.turn(n) end\nreturn L\n",
    "lua/harbor/tools/init.lua": "local T = {}\nT.oil = function(n) end\nreturn T\n",
    "lua/other/tools.lua": "local T = {}\nT.oil = function(n) end\nfunction T.press() end\nreturn T\n",
}
ZIG = {
    "src/box.zig": """const std = @import("std");
const lids = @import("lids.zig");
const Lid = @import("lids.zig").Lid;
const Key = lids.Key;
const Rope = @import("Rope.zig");
pub const Box = struct {
    lid: Lid,
    pub fn init(lid: Lid) Box { return .{ .lid = lid }; }
    pub fn open(self: *Box, n: *const Lid, k: Key, r: Rope) !void {
        self.close();
        self.lid.turn();
        n.turn();
        k.press();
        r.tie();
        lids.make();
        const fresh = Lid.init();
        fresh.turn();
        helper(n);
        std.debug.print("x", .{});
        Box.init(n);
    }
    fn close(self: *Box) void { _ = self; }
};
fn helper(n: anytype) void { _ = n; }
""",
    "src/lids.zig": """pub const Lid = struct {
    pub fn init() Lid { return .{}; }
    pub fn turn(self: *const Lid) void { _ = self; }
};
pub const Key = struct { pub fn press(self: Key) void { _ = self; } };
pub fn make() void {}
""",
    "src/Rope.zig": "const Rope = @This();\npub fn tie(self: Rope) void { _ = self; }\n",
}
BASH = {
    "bin/box.sh": """#!/bin/bash
source ./lib/lids.sh
open_box() {
  local n=$1
  turn_lid "$n"
  x=$(close_box)
  oil | helper
  echo "$LIMIT"
}
function close_box { :; }
helper() { :; }
LIMIT=3
open_box 3
""",
    "lib/lids.sh": "turn_lid() { :; }\n",
    "lib/a.sh": "oil() { :; }\n",
    "lib/b.sh": "oil() { :; }\n",
}
CPP = {
    "src/box.cc": """#include "box.h"
namespace harbor {
State Box::Open(const Lid& other, std::unique_ptr<Key> key) {
  Close();
  Shut();
  lid_->Turn();
  other.Turn();
  Lid fresh(3);
  fresh.Turn();
  auto* made = new Lid();
  made->Turn();
  auto again = MakeLid();
  again.Turn();
  this->Close();
  Lid::Count();
  harbor::helper(3);
  name_.Turn();
  key->Press();
  std::move(key);
  return kOpen;
}
void Box::Close() {}
static int helper(int n) { return n; }
}
""",
    "src/box.h": """namespace harbor {
enum State { kOpen, kShut };
class Base { public: void Shut() {} };
class Box : public Base {
 public:
  State Open(const Lid& other, std::unique_ptr<Key> key);
  void Close();
 private:
  Lid* lid_;
  std::string name_;
};
}
""",
    "src/lid.h": """namespace harbor {
class Lid { public: explicit Lid(int n); void Turn() {} static int Count(); };
class Key { public: void Press() {} };
Lid MakeLid();
}
""",
}
C = {
    "src/box.c": """#include "box.h"
struct box { struct lid *lid; int (*cb)(int); };
static int helper(int x);
int box_open(struct box *b, lid_t *l, int n) {
  TURN(n);
  lid_turn(n);
  b->cb(n);
  b->lid->depth = OPEN;
  l->depth = 3;
  puts("x");
  return helper(n);
}
static int helper(int x) { return x; }
""",
    "src/box.h": "#define TURN(x) lid_turn(x)\nenum state { OPEN, SHUT };\nint lid_turn(int n);\n",
    "src/lid.c": "int lid_turn(int n) { return n; }\nstatic int puts(char *s) { return 0; }\n",
    "src/lid.h": "struct lid { int depth; };\ntypedef struct lid lid_t;\n",
    "src/other.c": "static int helper(int x) { return 2; }\n",
}
RUBY = {
    "lib/box.rb": """module Harbor
  class Box < Base
    include Paints
    LIMIT = 3
    attr_reader :lid
    def initialize(lid)
      @lid = Lids::Lid.new
      @key = Key.new
    end
    def open(other)
      close
      shut
      colour
      @lid.turn
      @key.press
      fresh = Lids::Lid.new(3)
      fresh.turn
      Lids::Lid.count
      Box.make(1)
      other.turn_twice
      other.turn
      LIMIT
    end
    def self.make(n); new; end
    private
    def close; end
  end
end
""",
    "lib/base.rb": "module Harbor\n  class Base\n    def shut; end\n  end\nend\n",
    "lib/paints.rb": "module Harbor\n  module Paints\n    def colour; end\n  end\nend\n",
    "lib/lid.rb": """module Harbor
  module Lids
    class Lid
      def turn; end
      def turn_twice; end
      def self.count; end
    end
  end
end
""",
    "lib/key.rb": "module Harbor\n  class Key\n    def press; end\n  end\nend\n",
    "lib/other.rb": "class Key\n  def press; end\n  def turn; end\nend\n",
}
RUST = {
    "src/main.rs": """mod lids;
mod keys;
use crate::lids::{self, Lid as Cover, Turn};
use crate::keys::*;
use std::collections::HashMap;
pub enum State { Open, Shut(Cover) }
pub struct Chest { lid: Cover, held: Box<Cover>, map: HashMap<String, Cover> }
impl Chest {
    pub const MAX: usize = 3;
    pub fn new(lid: Cover) -> Self { Self { lid } }
    pub fn open(&mut self, other: &Cover, key: Option<Cover>) -> Result<State, Error> {
        self.close();
        self.lid.turn();
        self.held.turn();
        self.map.turn();
        other.turn();
        lids::make();
        crate::lids::make();
        lids::inner::deep();
        let c = Cover::new();
        c.turn();
        let x = Self::new(c);
        x.close();
        let tried = lids::attempt()?;
        tried.turn();
        let s = State::Open;
        Self::MAX;
        press();
        knock!();
        shout!["x"];
        key.turn();
        self.fold();
        Ok(s)
    }
    fn close(&self) {}
}
impl Turn for Chest { fn fold(&self) { self.close() } }
""",
    "src/lids/mod.rs": """pub mod inner;
pub struct Lid;
impl Lid {
    pub fn new() -> Lid { Lid }
    pub fn turn(&self) {}
}
pub trait Turn { fn fold(&self); }
pub fn make() -> Lid { Lid }
pub fn attempt() -> Result<Lid, String> { Ok(Lid) }
""",
    "src/lids/inner.rs": "pub fn deep() {}\n",
    "src/shouts.rs": "macro_rules! shout {\n    () => {};\n}\n",
    "src/keys.rs": "pub fn press() {}\npub fn knock() {}\npub struct Key;\nimpl Key { pub fn turn(&self) {} }\n",
}
JAVA = {
    "src/harbor/Box.java": """package harbor;
import harbor.lids.*;
import static harbor.lids.Tools.oil;
import java.util.List;
public class Box extends Base implements Opens {
  private final Lid lid;
  private List<Lid> lids;
  private Lid[] kinds;
  @Override
  int open(Lid other, String text) {
    super.shut();
    lid.turn();
    lids.turn();
    oil(other);
    var fresh = new Lid(3);
    fresh.turn();
    Lid made = Tools.make();
    made.turn();
    Inner inner = new Inner();
    inner.deep();
    text.turn();
    ((Lid) thing).turn();
    new StringBuilder().append('(').oil(1);
    Integer.oil(1);
    "x".oil();
    kinds.oil();
    Lid.Kind kind = Lid.Kind.OPEN;
    return 1;
  }
  static class Inner { void deep() {} }
}
""",
    "more/harbor/Base.java": "package harbor;\npublic class Base { void shut() {} }\n",
    "src/harbor/lids/Lid.java": """package harbor.lids;
public class Lid { public void turn() {} public enum Kind { OPEN } }
""",
    "src/harbor/lids/Tools.java": """package harbor.lids;
public class Tools { public static void oil(Lid l) {} static Lid make() { return null; } }
""",
    "src/other/Lid.java": "package other;\npublic class Lid { public void turn() {} }\n",
}
GO = {
    "gin.go": """package gin
import (
	"fmt"
	"example.com/gin/binding"
	yaml "gopkg.in/yaml.v3"
)
type node struct { children []*node; kind Kind }
type Engine struct {
	router
	trees *node
	log *Logger
}
func (e *Engine) Open(a, b *node, names ...string) (*node, error) {
	e.Close()
	e.Route()
	e.trees.walk()
	a.walk()
	names.walk()
	binding.Bind(b)
	bound := binding.New()
	bound.Check()
	fresh, err := newNode()
	fresh.walk()
	other := new(bytes.Buffer)
	other.walk()
	err.walk()
	made := &node{}
	made.walk()
	fmt.Println(err)
	yaml.Bind(a)
	e.log.Check()
	return nil, nil
}
func newNode() (*node, error) { return nil, nil }
func (n *node) walk() {}
""",
    "router.go": "package gin\ntype router struct{}\nfunc (r *router) Route() {}\nfunc (e *Engine) Close() {}\n",
    "binding/b.go": """package binding
type Binder struct{}
func (b *Binder) Check() {}
func New() *Binder { return nil }
func Bind(x any) {}
""",
    "other/b.go": "package other\nfunc Bind(x any) {}\nfunc Println(x any) {}\n",
    "go.mod": "module example.com/gin\n\ngo 1.19\n",
}
JAVASCRIPT = {
    "box.js": """const { turn, Lid } = require('./lids');
const tools = require('./tools');
class Box extends Lid {
  constructor() { super(); this.lid = new Lid(); }
  open(n) {
    this.close();
    this.lid.spin();
    this.spin();
    turn(n);
    tools.oil(n);
    const fresh = new Lid();
    fresh.spin();
    const text = 'x';
    text.press();
    n.press();
  }
  close() {}
}
""",
    "lids.js": "class Lid { spin() {} }\nfunction turn(n) {}\nmodule.exports = { turn, Lid };\n",
    "tools.js": "exports.oil = function (n) {};\nclass Key { press() {} }\n",
}
PYTHON = {
    "pkg/box.py": """from __future__ import annotations
import os
from typing import Optional
from . import lids
from .lids import Lid
import pkg.tools
class Base:
    size: int
    hue: int
class Box(Base):
    def __init__(self, lid: Lid, key: "Optional[Lid]" = None):
        self.lid = lid
        self.made = lids.make()
        self.names = []
        self.hue = self.size
    def open(self, other: Lid | None, text: str, items: list[Lid]):
        self.lid.turn()
        self.made.turn()
        self.names.turn()
        other.turn()
        text.turn()
        items.turn()
        pkg.tools.oil()
        lid = self.lid
        lid.turn()
        with Lid() as held:
            held.turn()
        os.oil()
        print(other)
        chained = Lid().other().third()
        chained.turn()
        chained.split()
""",
    "pkg/__init__.py": "",
    "pkg/lids.py": "class Lid:\n    def turn(self): ...\n    def split(self): ...\ndef make() -> Lid: ...\ndef print(): ...\n",
    "pkg/tools.py": "def oil(): ...\n",
}

LID_CS, LID_SW, LID_KT = (
    "lids/Lid.cs:Lid",
    "Sources/Lids/Lid.swift:Lid",
    "src/harbor/lids/Lid.kt:Lid",
)
LID_RS, LID_RB = "src/lids/mod.rs:Lid", "lib/lid.rb:Harbor.Lids.Lid"
USES: list[tuple[dict[str, str], dict[str, str]]] = [
    (
        ELIXIR,
        {
            "close": "lib/box.ex:Harbor.Box.close",
            "Lid.turn": "lib/lid.ex:Harbor.Lids.Lid.turn",
            "Tools.oil": "lib/tools.ex:Harbor.Tools.oil",
            "Kit.oil": "lib/tools.ex:Harbor.Tools.oil",
            "Ropes.tie": "Harbor.Ropes",
            "colour": "lib/paint.ex:Harbor.Paint.colour",
            "Harbor.Lids.Lid.turn": "lib/lid.ex:Harbor.Lids.Lid.turn",
            "Enum.map": "Enum",
            "__MODULE__.close": "lib/box.ex:Harbor.Box.close",
            "Inner.deep": "lib/box.ex:Harbor.Box.Inner.deep",
            "@.limit": "lib/box.ex:Harbor.Box.@limit",
        },
    ),
    (
        CSHARP,
        {
            "Close": "Box.cs:Harbor.Box.Close",
            "Shut": "Box.cs:Harbor.Base.Shut",
            "_lid.Turn": f"{LID_CS}.Turn",
            "this._lid.Turn": f"{LID_CS}.Turn",
            "other.Turn": f"{LID_CS}.Turn",
            "Spare.Turn": f"{LID_CS}.Turn",
            "fresh.Turn": f"{LID_CS}.Turn",
            "text.Turn": "string",
            "list.Quote": "? lids/Lid.cs:Texts.Quote",
            "text.Quote": "lids/Lid.cs:Texts.Quote",
            "Lid.Count": f"{LID_CS}.Count",
            "base.Shut": "Box.cs:Harbor.Base.Shut",
            "new Cover().Turn": f"{LID_CS}.Turn",
            "fresh.Oil": "lids/Lid.cs:More.Oil",
            "Strange.Count": "",
        },
    ),
    (
        SWIFT,
        {
            "close": "Sources/Box.swift:Box.close",
            "shut": "Sources/Box.swift:Base.shut",
            "lid.turn": f"{LID_SW}.turn",
            "self.lid.turn": f"{LID_SW}.turn",
            "other.turn": f"{LID_SW}.turn",
            "n.turn": f"{LID_SW}.turn",
            "third.turn": f"{LID_SW}.turn",
            "fresh.turn": f"{LID_SW}.turn",
            "made.turn": f"{LID_SW}.turn",
            "Lid.count": f"{LID_SW}.count",
            "n.oiled": "Sources/Lids/Oil.swift:Lid.oiled",
            "text.turn": "String",
            "text.quoted": "Sources/Lids/Oil.swift:String.quoted",
        },
    ),
    (
        KOTLIN,
        {
            "close": "src/harbor/Box.kt:Box.close",
            "shut": "src/harbor/Box.kt:Base.shut",
            "lid.turn": f"{LID_KT}.turn",
            "this.lid.turn": f"{LID_KT}.turn",
            "third.turn": f"{LID_KT}.turn",
            "n.turn": f"{LID_KT}.turn",
            "fresh.turn": f"{LID_KT}.turn",
            "oil": "src/harbor/tools/Tools.kt:oil",
            "colour": "src/harbor/paint/All.kt:colour",
            "n.oiled": "src/harbor/lids/More.kt:Lid.oiled",
            "Kit.fix": "src/harbor/Box.kt:Kit.fix",
            "text.turn": "String",
        },
    ),
    (
        SCALA,
        {
            "close": "src/harbor/Box.scala:Box.close",
            "shut": "src/harbor/Box.scala:Base.shut",
            "lid.turn": "src/harbor/lids/Lid.scala:Lid.turn",
            "other.turn": "src/harbor/lids/Lid.scala:Lid.turn",
            "n.turn": "src/harbor/lids/Lid.scala:Lid.turn",
            "fresh.turn": "src/harbor/lids/Lid.scala:Lid.turn",
            "k.press": "src/harbor/lids/Lid.scala:Key.press",
            "Helper.fix": "src/harbor/Box.scala:Helper.fix",
            "super.shut": "src/harbor/Box.scala:Base.shut",
            "Option": "",
        },
    ),
    (
        PHP,
        {
            "$this.close": "src/Harbor/Box.php:Box.close",
            "$this.shut": "src/Harbor/Base.php:Base.shut",
            "$this->lid.turn": "src/Lids/Lid.php:Lid.turn",
            "$other.turn": "src/Lids/Lid.php:Lid.turn",
            "$c.fold": "src/Lids/all.php:Cover.fold",
            "$fresh.turn": "src/Lids/Lid.php:Lid.turn",
            "oil": "src/Tools/functions.php:oil",
            "Lid.count": "src/Lids/Lid.php:Lid.count",
            "self.make": "src/Harbor/Box.php:Box.make",
            "static.make": "src/Harbor/Box.php:Box.make",
            "parent.shut": "src/Harbor/Base.php:Base.shut",
            "$this->key.press": "src/Lids/all.php:Key.press",
            "$this.colour": "src/Harbor/Paints.php:Paints.colour",
            "helper": "src/Harbor/Box.php:helper",
            "$text.turn": "string",
        },
    ),
    (
        HASKELL,
        {
            "close": "src/Harbor/Box.hs:close",
            "turn": "src/Harbor/Lids.hs:turn",
            "lid": "src/Harbor/Box.hs:Box.Box.lid",
            "T.oil": "src/Harbor/Tools.hs:oil",
            "Harbor.Keys.press": "src/Harbor/Keys.hs:press",
            "colour": "src/Harbor/Paint.hs:colour",
            "open": "src/Harbor/Box.hs:Opens.open",
            "Crate": "src/Harbor/Box.hs:Box.Crate",
            "Opens": "src/Harbor/Box.hs:Opens",
        },
    ),
    (
        LUA,
        {
            "helper": "lua/harbor/box.lua:helper",
            "M.close": "lua/harbor/box.lua:M.close",
            "lids.turn": "lua/harbor/lids.lua:L.turn",
            "tools.oil": "lua/harbor/tools/init.lua:T.oil",
            "self.other": "lua/harbor/box.lua:M.other",
            "n.press": "? lua/other/tools.lua:T.press",
            "string.format": "",
        },
    ),
    (
        ZIG,
        {
            "self.close": "src/box.zig:Box.close",
            "self.lid.turn": "src/lids.zig:Lid.turn",
            "n.turn": "src/lids.zig:Lid.turn",
            "k.press": "src/lids.zig:Key.press",
            "r.tie": "src/Rope.zig:tie",
            "lids.make": "src/lids.zig:make",
            "fresh.turn": "src/lids.zig:Lid.turn",
            "helper": "src/box.zig:helper",
            "std.debug.print": "std",
            "Box.init": "src/box.zig:Box.init",
        },
    ),
    (
        BASH,
        {
            "turn_lid": "lib/lids.sh:turn_lid",
            "close_box": "bin/box.sh:close_box",
            "helper": "bin/box.sh:helper",
            "oil": "",
            "echo": "",
            "LIMIT": "bin/box.sh:LIMIT",
            "open_box": "bin/box.sh:open_box",
        },
    ),
    (
        CPP,
        {
            "Close": "src/box.cc:harbor.Box.Close",
            "Shut": "src/box.h:harbor.Base.Shut",
            "lid_.Turn": "src/lid.h:harbor.Lid.Turn",
            "other.Turn": "src/lid.h:harbor.Lid.Turn",
            "fresh.Turn": "src/lid.h:harbor.Lid.Turn",
            "made.Turn": "src/lid.h:harbor.Lid.Turn",
            "again.Turn": "src/lid.h:harbor.Lid.Turn",
            "this.Close": "src/box.cc:harbor.Box.Close",
            "Lid.Count": "src/lid.h:harbor.Lid.Count",
            "harbor.helper": "src/box.cc:harbor.helper",
            "name_.Turn": "std::string",
            "key.Press": "src/lid.h:harbor.Key.Press",
            "kOpen": "src/box.h:harbor.State.kOpen",
            "std.move": "",
        },
    ),
    (
        C,
        {
            "TURN": "src/box.h:TURN",
            "lid_turn": "src/lid.c:lid_turn",
            "b.cb": "src/box.c:box.cb",
            "b->lid.depth": "src/lid.h:lid.depth",
            "l.depth": "src/lid.h:lid.depth",
            "OPEN": "src/box.h:state.OPEN",
            "helper": "src/box.c:helper",
            "puts": "",
        },
    ),
    (
        RUBY,
        {
            "close": "lib/box.rb:Harbor.Box.close",
            "shut": "lib/base.rb:Harbor.Base.shut",
            "colour": "lib/paints.rb:Harbor.Paints.colour",
            "@lid.turn": f"{LID_RB}.turn",
            "@key.press": "lib/key.rb:Harbor.Key.press",
            "fresh.turn": f"{LID_RB}.turn",
            "Lids::Lid.count": f"{LID_RB}.count",
            "Box.make": "lib/box.rb:Harbor.Box.make",
            "other.turn_twice": f"? {LID_RB}.turn_twice",
            "other.turn": "",
            "LIMIT": "lib/box.rb:Harbor.Box.LIMIT",
        },
    ),
    (
        RUST,
        {
            "self.close": "src/main.rs:Chest.close",
            "self.lid.turn": f"{LID_RS}.turn",
            "self.held.turn": f"{LID_RS}.turn",
            "self.map.turn": "std::collections",
            "other.turn": f"{LID_RS}.turn",
            "lids.make": "src/lids/mod.rs:make",
            "crate::lids.make": "src/lids/mod.rs:make",
            "lids::inner.deep": "src/lids/inner.rs:deep",
            "Cover.new": f"{LID_RS}.new",
            "c.turn": f"{LID_RS}.turn",
            "Self.new": "src/main.rs:Chest.new",
            "x.close": "src/main.rs:Chest.close",
            "tried.turn": f"{LID_RS}.turn",
            "State.Open": "src/main.rs:State.Open",
            "Self.MAX": "src/main.rs:Chest.MAX",
            "press": "src/keys.rs:press",
            # Only a macro can be meant, and no macro has that name.
            "knock": "",
            "shout": "src/shouts.rs:shout",
            "key.turn": "Option",
            "self.fold": "src/main.rs:Chest.fold",
            "Ok": "",
            "Turn": "src/lids/mod.rs:Turn",
            "Self": "src/main.rs:Chest",
        },
    ),
    (
        JAVA,
        {
            "super.shut": "more/harbor/Base.java:Base.shut",
            "lid.turn": "src/harbor/lids/Lid.java:Lid.turn",
            "lids.turn": "java.util.List",
            "oil": "src/harbor/lids/Tools.java:Tools.oil",
            "fresh.turn": "src/harbor/lids/Lid.java:Lid.turn",
            "made.turn": "src/harbor/lids/Lid.java:Lid.turn",
            "Tools.make": "src/harbor/lids/Tools.java:Tools.make",
            "inner.deep": "src/harbor/Box.java:Box.Inner.deep",
            "text.turn": "String",
            "((Lid) thing).turn": "src/harbor/lids/Lid.java:Lid.turn",
            "new StringBuilder().append('(').oil": "StringBuilder",
            "Integer.oil": "",
            '"x".oil': "",
            "kinds.oil": "",
            "Lid.Kind.OPEN": "src/harbor/lids/Lid.java:Lid.Kind.OPEN",
        },
    ),
    (
        GO,
        {
            "e.Close": "router.go:Engine.Close",
            "e.Route": "router.go:router.Route",
            "e.trees.walk": "gin.go:node.walk",
            "a.walk": "gin.go:node.walk",
            "names.walk": "",
            "binding.Bind": "binding/b.go:Bind",
            "bound.Check": "binding/b.go:Binder.Check",
            "fresh.walk": "gin.go:node.walk",
            "other.walk": "bytes.Buffer",
            "err.walk": "",
            "made.walk": "gin.go:node.walk",
            "fmt.Println": "fmt",
            "yaml.Bind": "gopkg.in/yaml.v3",
            "e.log.Check": "Logger",
            "newNode": "gin.go:newNode",
        },
    ),
    (
        JAVASCRIPT,
        {
            "this.close": "box.js:Box.close",
            "this.lid.spin": "lids.js:Lid.spin",
            "this.spin": "lids.js:Lid.spin",
            "turn": "lids.js:turn",
            "tools.oil": "tools.js:oil",
            "fresh.spin": "lids.js:Lid.spin",
            "text.press": "",
            "n.press": "? tools.js:Key.press",
        },
    ),
    (
        PYTHON,
        {
            "self.lid.turn": "pkg/lids.py:Lid.turn",
            "self.made.turn": "pkg/lids.py:Lid.turn",
            "self.names.turn": "",
            "self.size": "pkg/box.py:Base.size",
            "self.hue": "? pkg/box.py:Base.hue",
            "chained.split": "",
            "other.turn": "pkg/lids.py:Lid.turn",
            "text.turn": "str",
            "items.turn": "list",
            "pkg.tools.oil": "pkg/tools.py:oil",
            "lid.turn": "pkg/lids.py:Lid.turn",
            "held.turn": "pkg/lids.py:Lid.turn",
            "os.oil": "os",
            "print": "",
            "chained.turn": "? pkg/lids.py:Lid.turn",
        },
    ),
]
CASES = [(files, use, meaning) for files, uses in USES for use, meaning in uses.items()]


@pytest.mark.parametrize(
    ("files", "use", "meaning"),
    CASES,
    ids=[f"{next(iter(files))} {use}" for files, use, _ in CASES],
)
def test_meaning(files: dict[str, str], use: str, meaning: str) -> None:
    world = InMemoryWorld(files)
    resolver, scope = Resolver(world), world.scope(next(iter(files)))
    assert scope is not None
    found = {
        shown(resolver, resolver.resolve(scope, reference))
        for reference in scope.outline.references
        if ".".join(filter(None, (reference.receiver, reference.name))) == use
    }
    assert found == {meaning}


def shown(resolver: Resolver, meaning: Meaning | None) -> str:
    """A meaning as the tables above write it."""
    if meaning is None or meaning.declaration is None:
        return (meaning.module or "") if meaning else ""
    name = f"{meaning.declaration.path}:{resolver.item(meaning.declaration).qualified_name}"
    return f"? {name}" if meaning.confidence <= GUESS else name


def test_a_type_is_meant_where_a_file_only_adds_to_it() -> None:
    world = InMemoryWorld(SWIFT)
    resolver, scope = Resolver(world), world.scope("Sources/Lids/Oil.swift")
    assert scope is not None
    assert shown(resolver, resolver.bare(scope, "Lid", None)) == LID_SW
