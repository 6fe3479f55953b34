"""The example in docs/adding-a-language.md does what the page says."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from asterism.analysis.syntax.catalogue import Entry
from asterism.analysis.syntax.walker import outline_tree

PAGE = Path(__file__).resolve().parents[3] / "docs" / "adding-a-language.md"
HOME = "worked_example"


def block(language: str) -> str:
    """The page's first code block in a language."""
    found = re.search(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert found is not None
    return found.group(1)


def test_worked_example(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType(HOME)
    exec(block("python"), module.__dict__)
    monkeypatch.setitem(sys.modules, f"asterism.languages.{HOME}", module)
    entry = Entry(HOME, "lua", "Lua", f"{HOME}:LUA", (".lua",))

    found = outline_tree("a.lua", entry, block("lua").encode())

    add, statement = found.items
    assert (add.kind, add.name, add.start_line, add.end_line) == ("function", "add", 2, 4)
    assert add.signature == "local function add(a, b)"
    assert (add.modifiers, add.doc, add.exported) == (("local",), "Adds two numbers.", False)
    assert (statement.kind, statement.name) == ("expression", "print(add(1, 2))")
    assert [(use.name, use.receiver, use.enclosing, use.local) for use in found.references] == [
        ("math", None, 0, False),
        ("floor", "math", 0, False),
        ("a", None, 0, True),
        ("b", None, 0, True),
        ("print", None, 1, False),
        ("add", None, 1, False),
    ]
    assert found.problems == ()
