"""Invariants of ARCHITECTURE.md that hold for every module, and whether its names are true."""

import ast
import re
import tomllib

import pytest

from scripts.house.files import ROOT, SOURCE, text_of, tree_of

PAGE = text_of("ARCHITECTURE.md") or ""
TESTS = sorted(set(re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)))
MODULES = sorted(set(re.findall(r"`([a-z]+(?:/[a-z_]+)+)`", PAGE)))

# Modules that read or set variables of the environment, beside `config`, with the reason.
MAY_READ_THE_ENVIRONMENT = {
    "src/asterism/analysis/parallel.py": "sets limits of threads for worker processes",
    "src/asterism/programs/start.py": "passes on the variables that a row of the table names",
    "src/asterism/store/lance/process.py": "sets defaults of Lance and Arrow",
    "src/asterism/store/lance/table.py": "sets the log level of Lance",
    "src/asterism/structure/servers/catalogue.py": "finds the toolchain of Rust",
}
MAY_READ_THE_DIRECTORY = ("src/asterism/api/", "src/asterism/cli/", "src/asterism/config/")
# Records that change, with the reason.
MAY_CHANGE = {"HelperTime": "adds up while helper processes run"}


def test_few_modules_read_the_environment() -> None:
    texts = {name: text_of(name) or "" for name in SOURCE}
    found = {name for name, text in texts.items() if re.search(r"\bos\.(environ|getenv)\b", text)}
    outside = {name for name in found if not name.startswith("src/asterism/config/")}
    assert outside == set(MAY_READ_THE_ENVIRONMENT)
    wanted = re.compile(r"\bos\.getcwd\(|\bPath\.cwd\(")
    located = [name for name, text in texts.items() if wanted.search(text)]
    assert [name for name in located if not name.startswith(MAY_READ_THE_DIRECTORY)] == []


def test_records_are_frozen() -> None:
    names = [name for name in SOURCE if name.startswith("src/asterism/types/")]
    assert sorted(each for name in names for each in _changing(tree_of(name))) == [*MAY_CHANGE]


def _changing(tree: ast.Module) -> list[str]:
    """The dataclasses that are not frozen."""
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for decorator in map(ast.unparse, node.decorator_list)
        if decorator.startswith("dataclass") and "frozen=True" not in decorator
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("@dataclass\nclass A: ...", ["A"]),
        ("@dataclass(slots=True)\nclass A: ...", ["A"]),
        ("@dataclass(frozen=True)\nclass A: ...", []),
        ("class A(NamedTuple): ...", []),
    ],
)
def test_what_counts_as_changing(source: str, expected: list[str]) -> None:
    assert _changing(ast.parse(source)) == expected


def test_layers_of_the_page_are_those_that_are_checked() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    assert "\n".join(["", *(f"    {layer}" for layer in layers), ""]) in PAGE


def test_every_package_has_its_row() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    packages = {name.strip() for layer in layers for name in layer.split("|")}
    assert {name for name in packages if PAGE.count(f"\n| `{name}` | ") != 1} == set()


@pytest.mark.parametrize(("path", "name"), TESTS)
def test_named_tests_exist(path: str, name: str) -> None:
    assert f"def {name}(" in (text_of(f"tests/{path}") or "")


@pytest.mark.parametrize("module", MODULES)
def test_named_modules_exist(module: str) -> None:
    place = ROOT / "src" / "asterism" / module
    assert place.is_dir() or place.with_suffix(".py").is_file()


def test_names_are_found() -> None:
    assert len(TESTS) > 40
    assert len(MODULES) > 20
