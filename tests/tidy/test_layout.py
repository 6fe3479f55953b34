"""What do the measures of the layout find?"""

import ast

import pytest

from scripts.house import layout


def check(measure: str, modules: dict[str, str], expected: list[str]) -> None:
    trees = {f"src/asterism/{name}": ast.parse(source) for name, source in modules.items()}
    found = [each.replace("src/asterism/", "") for each in layout.MEASURES[measure](trees)]
    assert found == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a/b_x.py", "a/b_y.py", "a/b.py"], ["a/b.py", "a/b_x.py", "a/b_y.py"]),
        (["a/b_x.py", "a/b_y.py", "c/b.py"], []),
        (["a/b_x.py", "a/b_y.py", "a/__init__.py"], []),
    ],
)
def test_families(names: list[str], expected: list[str]) -> None:
    check("modules in prefix families", dict.fromkeys(names, ""), expected)


@pytest.mark.parametrize(
    ("name", "is_one"),
    [("asking.py", True), ("asking_watch.py", True), ("settings.py", False), ("string.py", False)],
)
def test_gerunds(name: str, is_one: bool) -> None:
    check("gerund module names", {name: ""}, [name] if is_one else [])


@pytest.mark.parametrize(
    ("modules", "expected"),
    [
        ({"a.py": "", "b.py": "from asterism import a"}, ["a.py <- src/asterism/b.py"]),
        ({"a.py": "", "b.py": "def f():\n    from asterism.a import X"}, ["a.py <- b.py"]),
        ({"a.py": "", "b.py": "import asterism.a", "c.py": "import asterism.a"}, []),
        ({"a/__init__.py": "", "b.py": "import asterism.a"}, []),
        ({"a.py": "", "b.py": ""}, []),
    ],
)
def test_small_modules(modules: dict[str, str], expected: list[str]) -> None:
    named = [each.replace("src/asterism/", "") for each in expected]
    check("small modules with one importer", modules, named)


@pytest.mark.parametrize(
    ("modules", "expected"),
    [
        ({"a/x.py": "class A: ...", "b/x.py": "class A: ..."}, ["A in a/x.py", "A in b/x.py"]),
        ({"a/x.py": "class A: ...", "a/y.py": "class A: ..."}, []),
        ({"a/x.py": "class _A: ...", "b/x.py": "class _A: ..."}, []),
        ({"a/x.py": "class A: ...", "b/x.py": "class B:\n    class A: ..."}, []),
    ],
)
def test_repeated_classes(modules: dict[str, str], expected: list[str]) -> None:
    check("class names in several packages", modules, expected)


@pytest.mark.parametrize(
    ("measure", "source", "count"),
    [
        (
            "own modules imported for types alone",
            "if TYPE_CHECKING:\n    from asterism.a import A",
            1,
        ),
        ("own modules imported for types alone", "if TYPE_CHECKING:\n    from numpy import A", 0),
        ("own modules imported for types alone", "if other:\n    from asterism.a import A", 0),
        ("functions with more than six parameters", "def f(a, b, c, d, e, f, *, g): ...", 1),
        ("functions with more than six parameters", "def f(self, a, b, c, d, e, f): ...", 0),
        ("attributes found by a computed name", "getattr(a, b)", 1),
        ("attributes found by a computed name", "getattr(a, 'b')", 0),
        ("functions that resolve a repository twice", "def f(a):\n a.locate()\n a.locate()", 1),
        ("functions that resolve a repository twice", "def f(a):\n a.locate()", 0),
        (
            "functions that resolve a repository twice",
            "def f(a):\n a.repository()\n a.repository(1)",
            0,
        ),
        ("modules", "", 1),
    ],
)
def test_measures_of_one_module(measure: str, source: str, count: int) -> None:
    trees = {"src/asterism/a.py": ast.parse(source)}
    assert len(layout.MEASURES[measure](trees)) == count


def test_new_languages_and_package_fronts_do_not_count() -> None:
    names = ("languages/dart/rules.py", "languages/go/rules.py", "languages/go/__init__.py")
    check("modules", dict.fromkeys(names, ""), ["languages/go/rules.py"])
