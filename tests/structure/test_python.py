"""Are the connections of Python symbols exactly those in the source?"""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from asterism.analysis.source.discovery import discover
from asterism.structure.positions import SymbolTarget
from asterism.structure.python.project import (
    PythonOptions,
    PythonProject,
    find_environment,
    require_checker,
)
from asterism.types.errors import ServerMissing
from tests.structure.compilers import CHECKER, needs_checker
from tests.structure.descriptions import described

SHOP = Path(__file__).resolve().parent.parent / "fixtures" / "python_structure" / "shop"

EXPECTED: dict[str, dict[str, Any]] = {
    "store/models.py#LIMIT": {
        "signature": "LIMIT = 3600",
        "users": ["helper store/models.py:49 <50>"],
        "type": "int",
        "value": "3600",
    },
    "store/models.py#NAMES": {
        "signature": 'NAMES: dict[str, int] = {"größe": 1}',
        "type": "dict[str, int]",
        "value": '{"größe": 1}',
    },
    "store/models.py#Base": {
        "signature": "class Base(abc.ABC)",
        "extends": ["ABC abc <16>"],
        "subtypes": ["Child app.py:13 <13>", "Order store/models.py:36 <36>"],
        "calls": ["Base.load store/models.py:31 <21>"],
        "references": ["app.py", "store/__init__.py"],
        "types_in": ["size: int", 'extra: "Order" <- Order store/models.py:36', "more: str"],
        "members": [
            '17 property kind = "base"',
            '19 method def __init__(self, size: int = 1, *extra: "Order", **more: str) -> None',
            "24 method def double(self)",
            "28 method def make(size)",
            "31 method def load(self) -> None",
        ],
    },
    "app.py#Named.__init__": {
        "signature": "def __init__(self, name: str)",
        "callers": ["NAMED app.py:38 <38>"],
        "types_in": ["name: str"],
        "gaps": ["calls of __init__ through super() are not looked for"],
    },
    "store/models.py#Base.double": {
        "signature": "def double(self)",
        "callers": ["helper store/models.py:49 <50>", "total store/models.py:53 <54>"],
    },
    "store/models.py#Base.make": {
        "signature": "def make(size)",
        "calls": ["Order store/models.py:36 <29>"],
        "callers": ["main app.py:18 <19>"],
        "references": ["app.py"],
    },
    "store/models.py#Base.load": {
        "signature": "def load(self) -> None",
        "callers": [
            "main app.py:18 <22>",
            "Base.__init__ store/models.py:19 <21>",
            "Order.load store/models.py:45 <46>",
        ],
        "references": ["app.py"],
        "types_out": ["None"],
    },
    "store/models.py#Order": {
        "signature": "class Order(Base, Priced)",
        "extends": ["Base store/models.py:16 <36>", "Priced store/models.py:12 <36>"],
        "subtypes": ["Special app.py:9 <9>"],
        "calls": ["dataclass dataclasses <35>"],
        "callers": ["Base.make store/models.py:28 <29>"],
        "users": [
            "main app.py:18 <18,19>",
            "Base.__init__ store/models.py:19 <19>",
            "Order.pay store/models.py:39 <39>",
            "Order.pay.check store/models.py:40 <40>",
            "helper store/models.py:49 <49>",
            "total store/models.py:53 <53>",
        ],
        "references": ["app.py", "store/__init__.py"],
        "members": [
            "37 property price: int = 0",
            '39 method async def pay(self, by: "Priced | None" = None) -> list["Order"]',
            "45 method def load(self)",
        ],
    },
    "store/models.py#Order.pay": {
        "signature": 'async def pay(self, by: "Priced | None" = None) -> list["Order"]',
        "calls": ["Order.pay.check store/models.py:40 <43>"],
        "types_in": ['by: "Priced | None" <- Priced store/models.py:12'],
        "types_out": ['list["Order"] <- Order store/models.py:36'],
    },
    "store/models.py#Order.pay.check": {
        "signature": "def check(order: Order) -> bool",
        "calls": ["helper store/models.py:49 <41>"],
        "callers": ["Order.pay store/models.py:39 <43>"],
        "types_in": ["order: Order <- Order store/models.py:36"],
        "types_out": ["bool"],
    },
    "store/models.py#total": {
        "signature": "def total(*orders: Order)",
        "calls": ["sum builtins <54>", "Base.double store/models.py:24 <54>"],
        "callers": ["main app.py:18 <23>"],
        "references": ["app.py", "store/__init__.py"],
        "types_in": ["orders: Order <- Order store/models.py:36"],
    },
    "app.py#Special": {
        "signature": "class Special(Order, couriers.Session, Other)",
        "extends": [
            "Order store/models.py:36 <9>",
            "couriers.Session couriers ~0.9 <9>",
            "Thing missing.things ~0.9 <9>",
        ],
        "callers": ["main app.py:18 <23>"],
    },
    "app.py#main": {
        "signature": "def main(app: Flask, order: m.Order = None)",
        "calls": [
            "decorate missing.things ~0.9 <17>",
            "Base.make store/models.py:28 <19>",
            "couriers.get couriers ~0.9 <20>",
            "Child app.py:13 <22>",
            "Base.load store/models.py:31 <22>",
            "Special app.py:9 <23>",
            "total store/models.py:53 <23>",
        ],
        "callers": ["app.py app.py:1 <30>"],
        "types_in": [
            "app: Flask <- Flask flask ~0.9",
            "order: m.Order <- Order store/models.py:36",
        ],
    },
    "app.py#decorated": {
        "signature": "def decorated()",
        "calls": ["helper store/models.py:49 <26>"],
    },
    "app.py#gone": {
        "signature": "",
        "references": None,
        "gaps": ["app.py no longer declares gone"],
    },
    "gone.py#gone": {
        "signature": "",
        "references": None,
        "gaps": ["gone.py is not there any more"],
    },
}

CALLS: dict[str, dict[str, Any]] = {
    "web.py#App.name": {"signature": "def name(self)", "callers": ["rename web.py:38 <39,40>"]},
    "web.py#app": {
        "signature": "app = App()",
        "calls": ["App web.py:4 <30>"],
        "users": ["index web.py:34 <33>"],
        "type": "App",
        "value": "App()",
    },
    "web.py#Dog.speak": {"signature": "def speak(self)", "callers": ["index web.py:34 <35>"]},
    "web.py#index": {
        "signature": "def index(pet: Cat | Dog)",
        "calls": [
            "App.get web.py:5 <33>",
            "Cat.speak web.py:18 <35>",
            "Dog.speak web.py:26 <35>",
        ],
        "types_in": ["pet: Cat | Dog <- Cat web.py:17, Dog web.py:25"],
    },
    "web.py#rename": {
        "signature": "def rename(one: App)",
        "calls": ["App.name web.py:9 <39,40>"],
        "types_in": ["one: App <- App web.py:4"],
    },
    "web.py#four": {"signature": "def four()", "calls": ["twice web.py:47 <52>"]},
}

Ask = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    made: dict[str, PythonProject] = {}

    def asking(root: Path, *wanted: str, environment: str | None = None) -> list[dict[str, Any]]:
        assert CHECKER is not None
        if str(root) not in made:
            cache = str(tmp_path_factory.mktemp("checker"))
            options = PythonOptions(cache=cache, environment=environment)
            made[str(root)] = PythonProject(CHECKER, str(root), options)
        targets = [
            SymbolTarget(words.partition("#")[0], words.partition("#")[2], 1) for words in wanted
        ]
        found = made[str(root)].connections(targets, discover(str(root)).files)
        return [described(connections) for connections in found]

    asking.projects = made  # type: ignore[attr-defined]
    yield asking
    for project in made.values():
        project.close()


@needs_checker
def test_connections(ask: Ask) -> None:
    found = ask(SHOP, *EXPECTED)
    for words, facts in zip(EXPECTED, found, strict=True):
        assert facts == EXPECTED[words], words


@needs_checker
def test_what_counts_as_a_call(ask: Ask) -> None:
    found = ask(SHOP.with_name("calls"), *CALLS)
    for words, facts in zip(CALLS, found, strict=True):
        assert facts == CALLS[words], words


@needs_checker
def test_files_that_the_repository_does_not_have_checked_count(tmp_path: Path, ask: Ask) -> None:
    settings = '[tool.ty.src]\ninclude = ["a.py"]\nexclude = ["b.py"]\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    (tmp_path / "a.py").write_text("def greet(): pass\n")
    (tmp_path / "b.py").write_text("from a import greet\ndef b(): greet()\n")
    assert ask(tmp_path, "a.py#greet")[0]["callers"] == ["b b.py:2 <2>"]


@needs_checker
def test_answers_follow_the_files(tmp_path: Path, ask: Ask) -> None:
    (tmp_path / "a.py").write_text("def greet(name: str) -> str:\n    return name\n")
    (tmp_path / "b.py").write_text("from a import greet\ndef b(): greet('b')\n")
    assert ask(tmp_path, "a.py#greet")[0]["callers"] == ["b b.py:2 <2>"]
    (tmp_path / "b.py").write_text("from a import greet\n\ndef c(): greet('c')\n")
    (tmp_path / "c.py").write_text('x = "😀"; import a; a.greet("c")\n')
    (tmp_path / "a.py").write_text("\n\ndef greet(name: int) -> int:\n    return name\n")
    (found,) = ask(tmp_path, "a.py#greet")
    assert found["signature"] == "def greet(name: int) -> int"
    assert found["references"] == ["b.py", "c.py"]
    assert ask(tmp_path, "b.py#c")[0]["calls"] == ["greet a.py:3 <3>"]
    (tmp_path / "c.py").unlink()
    assert ask(tmp_path, "a.py#greet")[0]["references"] == ["b.py"]


@needs_checker
def test_installed_packages_are_found(tmp_path: Path, ask: Ask) -> None:
    source = "import installed\nclass Child(installed.Parent):\n    def go(self): return installed.run()\n"
    (tmp_path / "app.py").write_text(source)
    before = ask(tmp_path, "app.py#Child", "app.py#Child.go")
    assert before[0]["extends"] == ["installed.Parent installed ~0.9 <2>"]
    packages = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages" / "installed"
    packages.mkdir(parents=True)
    (packages / "__init__.py").write_text("class Parent: ...\ndef run() -> int: ...\n")
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.0\n")
    environment = find_environment(str(tmp_path))
    assert environment == str(tmp_path / ".venv")
    ask.projects.pop(str(tmp_path)).close()  # type: ignore[attr-defined]
    after = ask(tmp_path, "app.py#Child", "app.py#Child.go", environment=environment)
    assert after[0]["extends"] == ["Parent installed <2>"]
    assert after[1]["calls"] == ["run installed <3>"]


@needs_checker
def test_a_killed_checker_is_replaced(tmp_path: Path, ask: Ask) -> None:
    (tmp_path / "a.py").write_text("def f(): pass\nf()\n")
    assert ask(tmp_path, "a.py#f")[0]["callers"] == ["a.py a.py:1 <2>"]
    os.kill(ask.projects[str(tmp_path)].pid, signal.SIGKILL)  # type: ignore[attr-defined]
    assert ask(tmp_path, "a.py#f")[0]["callers"] == ["a.py a.py:1 <2>"]


@needs_checker
@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("class A(A): pass\n", "A"),
        ("class A(B): pass\nclass B(A): pass\n", "A"),
        ("def f(:\n  pass\n", "f"),
        ("def f(): return f()\ndef f(): return f()\n", "f"),
        ("from a import *\nfrom . import a as f\nclass A(f.B): pass\n", "A"),
        ("\ufeffx = '😀'\r\ndef f(): return x\r\n", "f"),
        ("@property\ndef f(self): return self.f\n", "f"),
        ("", "f"),
    ],
)
def test_odd_source_always_has_an_answer(tmp_path: Path, ask: Ask, source: str, name: str) -> None:
    (tmp_path / "a.py").write_bytes(source.encode())
    (facts,) = ask(tmp_path, f"a.py#{name}")
    assert facts["signature"] or facts["gaps"]


def test_environments(tmp_path: Path) -> None:
    active = tmp_path / "active"
    active.mkdir()
    assert find_environment(str(tmp_path), str(active)) is None
    (active / "pyvenv.cfg").touch()
    assert find_environment(str(tmp_path), str(active)) == str(active)
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    assert find_environment(str(tmp_path), str(active)) == str(tmp_path / "venv")


def test_a_missing_checker_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ServerMissing, match="There is no type checker at"):
        require_checker(str(tmp_path / "ty"))
