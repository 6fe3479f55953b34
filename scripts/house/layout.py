"""Measures of the modules in src: names, sizes, importers and signatures.

Each measure lists its findings, so that a test can count them and name them when it fails.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import PurePosixPath

from scripts.house.files import SOURCE, tree_of

FAMILY = 3
"""So many modules of one folder that begin with the same word should be a package."""
SMALL = 60
"""A module with fewer lines and one importer belongs inside that importer."""
WIDE = 6
"""A function with more parameters takes a record of options instead."""

NOUNS = {"embedding", "ranking", "sampling", "setting", "string", "wiring"}
"""Words in -ing that are nouns of the field."""

NEW_LANGUAGES = {
    *("components", "dart", "graphql", "groovy", "hcl", "julia", "jupyter", "nix", "objective_c"),
    *("ocaml", "perl", "powershell", "solidity", "sql"),
}
"""Folders of languages that the targets for modules and lines leave out."""

RESOLVERS = {"locate", "repository_for", "repository"}
"""What finds the repository that a call is for: a walk up the folders, or rows of a registry."""

Trees = dict[str, ast.Module]
"""The syntax tree of each module, by its path from the root of the project."""


def families(trees: Trees) -> list[str]:
    """Every module whose first word begins the names of three or more modules of its folder."""
    kin = defaultdict(list)
    for path in map(PurePosixPath, trees):
        if path.stem != "__init__":
            kin[path.parent, path.stem.split("_")[0]].append(str(path))
    return sorted(chain.from_iterable(each for each in kin.values() if len(each) >= FAMILY))


def gerunds(trees: Trees) -> list[str]:
    """Every module whose name has a word in -ing that is not a noun of the field."""
    return sorted(name for name in trees if _gerund(PurePosixPath(name).stem))


def _gerund(stem: str) -> bool:
    return any(word.endswith("ing") and word not in NOUNS for word in stem.split("_"))


def small_with_one_importer(trees: Trees) -> list[str]:
    """Every small module that exactly one other module imports, and that one."""
    importers = importers_of(trees)
    return [
        f"{name} <- {next(iter(importers[name]))}"
        for name in sorted(trees)
        if _lines(trees[name]) < SMALL
        and len(importers[name]) == 1
        and not name.endswith("/__init__.py")
    ]


def importers_of(trees: Trees) -> dict[str, set[str]]:
    """The modules that import each module, at module level or in a function."""
    paths = {dotted(name): name for name in trees}
    importers: dict[str, set[str]] = defaultdict(set)
    for name, tree in trees.items():
        for target in imported(tree):
            if target in paths and paths[target] != name:
                importers[paths[target]].add(name)
    return importers


def imported(tree: ast.AST) -> Iterator[str]:
    """Every dotted name that the tree's imports may mean: modules and what is taken from them."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield module
                yield from (f"{module}.{alias.name}" for alias in names)


def dotted(name: str) -> str:
    """The name to import a module by, from its path."""
    parts = PurePosixPath(name.removeprefix("src/")).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def repeated_classes(trees: Trees) -> list[str]:
    """Every public class whose name another package has for a class too."""
    places: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name][_package(name)].append(name)
    return sorted(
        f"{cls} in {name}"
        for cls, packages in places.items()
        if len(packages) > 1
        for name in chain.from_iterable(packages.values())
    )


def _package(name: str) -> str:
    return PurePosixPath(name).parts[2] if name.count("/") > 2 else ""


def type_only_imports(trees: Trees) -> list[str]:
    """Every import of Asterism's own modules that only a type checker makes."""
    return sorted(
        f"{name}:{inner.lineno}"
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in node.body
        if isinstance(inner, ast.ImportFrom) and (inner.module or "").startswith("asterism.")
    )


def wide_functions(trees: Trees) -> list[str]:
    """Every function with too many parameters, and their number."""
    return [
        f"{name}:{node.name} {count}"
        for name, tree in sorted(trees.items())
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (count := _parameters(node.args)) > WIDE
    ]


def _parameters(given: ast.arguments) -> int:
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return sum(each.arg not in {"self", "cls"} for each in every)


def found_by_string(trees: Trees) -> list[str]:
    """Every place that takes an attribute whose name is computed."""
    return [
        f"{name}:{node.lineno}"
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _by_string(node)
    ]


def _by_string(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Name):
        return False
    takes = call.func.id == "getattr" and len(call.args) > 1
    return takes and not isinstance(call.args[1], ast.Constant)


def resolved_twice(trees: Trees) -> list[str]:
    """Every function that finds the repository of its call more than once."""
    return sorted(
        f"{name}:{node.name}"
        for name, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and sum(isinstance(inner, ast.Call) and _resolves(inner) for inner in ast.walk(node)) > 1
    )


def _resolves(call: ast.Call) -> bool:
    """`call.repository()` without arguments; a catalogue's `repository(name)` only reads a row."""
    name = ast.unparse(call.func).rpartition(".")[2]
    return name in RESOLVERS and (name != "repository" or not (call.args or call.keywords))


def modules(trees: Trees) -> list[str]:
    """Every module that counts for the target: no `__init__.py`, no new language."""
    new = tuple(f"src/asterism/languages/{each}/" for each in NEW_LANGUAGES)
    return [n for n in trees if not n.startswith(new) and not n.endswith("/__init__.py")]


def lines(trees: Trees) -> int:
    """The lines of all modules, the folders of new languages left out."""
    new = tuple(f"src/asterism/languages/{each}/" for each in NEW_LANGUAGES)
    return sum(_lines(tree) for name, tree in trees.items() if not name.startswith(new))


def _lines(tree: ast.Module) -> int:
    return (tree.body[-1].end_lineno or 0) if tree.body else 0


def source_trees() -> Trees:
    """The syntax trees of all modules in src."""
    return {name: tree_of(name) for name in SOURCE}


MEASURES: dict[str, Callable[[Trees], list[str]]] = {
    "modules in prefix families": families,
    "gerund module names": gerunds,
    "small modules with one importer": small_with_one_importer,
    "class names in several packages": repeated_classes,
    "own modules imported for types alone": type_only_imports,
    "functions with more than six parameters": wide_functions,
    "attributes found by a computed name": found_by_string,
    "functions that resolve a repository twice": resolved_twice,
    "modules": modules,
}
