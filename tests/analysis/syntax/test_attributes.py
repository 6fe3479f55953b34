"""What stands before a declaration belongs to it: attributes, their comments, their names."""

import pytest

from asterism.analysis.syntax import language
from asterism.analysis.syntax.outlines import outline
from asterism.types.outline import Item, Outline


def check(path: str, source: str, name: str) -> tuple[Item, set[str]]:
    """The symbol of that name, and the names it uses."""
    found = outline(path, source.encode())
    index, item = next((i, item) for i, item in found.symbols() if item.name == name)
    return item, {ref.name for ref in found.references if ref.enclosing == index}


def test_a_comment_behind_an_attribute_does_not_part_it() -> None:
    """`#[ignore] // slow` still belongs to the function below."""
    item, _ = check("a.rs", "#[test]\n#[ignore] // slow\nfn a() {}\n", "a")
    assert item.decorators == ("test", "ignore")
    assert (item.start_line, item.end_line) == (1, 3)


def test_code_between_parts_an_attribute_from_what_follows() -> None:
    """An attribute belongs to the next declaration only if nothing else stands between."""
    item, _ = check("a.rs", "#[test]\nlog!(1);\nfn a() {}\n", "a")
    assert item.decorators == ()


@pytest.mark.parametrize(
    ("path", "source", "decorators"),
    [
        ("a.kt", '@get:JvmName("x")\nval a = 1\n', ("JvmName",)),
        ("a.cs", "class K { [return: NotNull] int a() { return 1; } }\n", ("NotNull",)),
        ("a.ts", "class K { @core.Input() a = 1 }\n", ("core.Input",)),
        ("a.rs", "#[tokio::test]\nfn a() {}\n", ("tokio::test",)),
    ],
)
def test_the_name_of_an_attribute(path: str, source: str, decorators: tuple[str, ...]) -> None:
    """What the attribute is aimed at is not its name."""
    assert check(path, source, "a")[0].decorators == decorators


@pytest.mark.parametrize(
    ("path", "source", "used"),
    [
        ("a.ts", "class K {\n  @Get(PATH)\n  a() {}\n}\n", {"Get", "PATH"}),
        ("a.ex", "defmodule K do\n  @spec a(Foo.t) :: x\n  def a(_), do: 1\nend\n", {"Foo", "t"}),
        ("a.py", "@cache(size)\ndef a(): pass\n", {"cache", "size"}),
    ],
)
def test_what_an_attribute_uses_its_declaration_uses(
    path: str, source: str, used: set[str]
) -> None:
    """References in attributes are the declaration's, not those of what is around it."""
    assert used <= check(path, source, "a")[1]


@pytest.mark.parametrize(
    ("path", "source", "line"),
    [
        ("a.go", "package p\nfunc f() {\n\tnode := 1\n\t_ = &node{}\n\t_ = node\n}\n", 4),
        ("a.rs", "fn f() {\n    let slice = 1;\n    slice::len();\n    slice;\n}\n", 3),
        ("a.rb", "def f\n  node = 1\n  node(2)\n  node\nend\n", 3),
    ],
)
def test_a_type_module_or_callee_is_no_local(path: str, source: str, line: int) -> None:
    """A local of the same name does not take what can only be a type, a module or a method."""
    found: Outline = outline(path, source.encode())
    marks = {ref.line: ref.local for ref in found.references if ref.name in ("node", "slice")}
    assert marks == {line: False, line + 1: True}


def test_a_module_path_of_elixir_is_split() -> None:
    """`Foo.Bar` uses `Foo`, so that `alias X.Foo` is known to be used."""
    found = outline("a.ex", b"defmodule K do\n  def a, do: Foo.Bar.run()\nend\n")
    assert {(ref.name, ref.receiver) for ref in found.references} >= {
        ("Foo", None),
        ("Bar", "Foo"),
        ("run", "Foo.Bar"),
    }


def test_a_parse_that_takes_too_long_is_read_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Garbage in a source file must not hang a search; the outline says what happened."""
    monkeypatch.setattr(language.Table, "parse", lambda _table, _source: None)
    found = outline("a.js", b"function f() {}\n")
    assert [item.kind for item in found.items] == ["text"]
    assert "could not be parsed in reasonable time" in found.problems[0].message
