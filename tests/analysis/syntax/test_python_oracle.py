"""Python outlines say what the standard library's `ast` says, over the fixtures and the library itself.

Where the two differ on purpose, the reading of the tree says so: `last_line`, `formatted_names`,
`documentation`. Files the running interpreter cannot parse have no oracle and are skipped.
"""

import ast
import os
import re
import sysconfig
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from asterism.analysis.source.text import decode
from asterism.analysis.syntax.outlines import outline
from asterism.types.outline import Outline

FIXTURES = Path(__file__).parents[2] / "fixtures" / "python"
LIBRARY = Path(sysconfig.get_paths()["stdlib"])

# Tests and templates of the library are broken on purpose; installed packages differ by machine.
LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "__pycache__", "lib-dynload"}

Fact = tuple[object, ...]
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_HEAD = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def facts_of_tree(tree: ast.Module, lines: list[str]) -> Iterator[Fact]:
    """Everything the outline must say, read off `ast`, outermost scope first."""
    pending: list[tuple[ast.AST, tuple[str, ...], str]] = [(tree, (), "module")]
    while pending:
        node, path, scope = pending.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, DEFINITIONS):
                inner = (*path, child.name)
                yield from definition_facts(child, inner, scope, lines)
                pending.append(
                    (child, inner, "class" if isinstance(child, ast.ClassDef) else "def")
                )
                continue
            if scope != "def" and isinstance(child, ast.Assign | ast.AnnAssign):
                kind = "property" if scope == "class" else "variable"
                for name in assigned(child):
                    yield "symbol", kind, (*path, name.id), child.lineno, child.end_lineno
            elif isinstance(child, ast.Import | ast.ImportFrom):
                yield from import_facts(child)
            pending.append((child, path, scope))


def definition_facts(
    node: Definition, path: tuple[str, ...], scope: str, lines: list[str]
) -> Iterator[Fact]:
    kind = (
        "class" if isinstance(node, ast.ClassDef) else "method" if scope == "class" else "function"
    )
    first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
    yield "symbol", kind, path, first, last_line(node, lines)
    yield "doc", path, first, documentation(node)
    heads = (_HEAD.search(ast.unparse(mark)) for mark in node.decorator_list)
    yield "decorators", path, first, tuple(head.group() for head in heads if head)
    yield "async", path, first, isinstance(node, ast.AsyncFunctionDef)


def documentation(node: Definition) -> str:
    """The docstring without outer blanks, which mean nothing and which `cleandoc` may leave."""
    return (ast.get_docstring(node) or "").strip()


def last_line(node: Definition, lines: list[str]) -> int:
    """Where a definition ends. A comment indented like its body is part of it; `ast` drops those."""
    last = node.end_lineno or node.lineno
    if node.body[0].lineno == node.lineno:
        return last
    indent = len(indentation(lines[node.body[0].lineno - 1]))
    for number, line in enumerate(lines[last:], last + 1):
        if line.lstrip().startswith("#") and len(indentation(line)) >= indent:
            last = number
        elif line.strip():
            break
    return last


def indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())].replace("\f", "").expandtabs(8)


def plain_names(target: ast.expr) -> Iterator[ast.Name]:
    """The names a target binds; `a.b = 1` and `a[0] = 1` bind none."""
    if isinstance(target, ast.Name):
        yield target
    elif isinstance(target, ast.Tuple | ast.List):
        yield from chain.from_iterable(map(plain_names, target.elts))
    elif isinstance(target, ast.Starred):
        yield from plain_names(target.value)


def import_facts(node: ast.Import | ast.ImportFrom) -> Iterator[Fact]:
    lines = node.lineno, node.end_lineno
    if isinstance(node, ast.ImportFrom):
        names = tuple((alias.name, alias.asname) for alias in node.names)
        yield "import", "." * node.level + (node.module or ""), names, *lines
    else:
        for alias in node.names:
            local = alias.asname or alias.name.split(".")[0]
            yield "import", alias.name, (("*", local),), *lines


def facts_of_outline(found: Outline) -> Iterator[Fact]:
    """The same facts as our outline states them."""
    for item in found.items:
        if item.kind in ("function", "method", "class"):
            yield "symbol", item.kind, item.path, item.start_line, item.end_line
            yield "doc", item.path, item.start_line, item.doc or ""
            yield "decorators", item.path, item.start_line, item.decorators
            yield "async", item.path, item.start_line, "async" in item.modifiers
        elif item.kind in ("variable", "property"):
            yield "symbol", item.kind, item.path, item.start_line, item.end_line
    for entry in found.imports:
        if not entry.dynamic:
            names = tuple((name.name, name.alias) for name in entry.names)
            yield "import", entry.module, names, entry.start_line, entry.end_line


def uses_of_tree(tree: ast.Module) -> Iterator[Fact]:
    """Every use of a name: name, line, column, whether of a member, the definition around it."""
    pending: list[tuple[ast.AST, tuple[str, ...], frozenset[str]]] = [(tree, (), frozenset())]
    while pending:
        node, path, outer = pending.pop()
        if isinstance(node, ast.JoinedStr):
            # `ast` gets the places in formatted strings wrong before 3.12; see `formatted_names`.
            continue
        if isinstance(node, DEFINITIONS):
            path = (*path, node.name)
            outer = frozenset(names_of_others(node))
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno, node.col_offset, False, path
        elif isinstance(node, ast.Attribute):
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            column = node.end_col_offset - len(node.attr.encode())
            yield node.attr, node.end_lineno, column, True, path
        for name in assigned(node):
            # An assignment uses a name where it does not define it: `x += 1`, `global x`.
            if isinstance(node, ast.AugAssign) or name.id in outer:
                yield name.id, name.lineno, name.col_offset, False, path
        pending.extend((child, path, outer) for child in ast.iter_child_nodes(node))


def names_of_others(node: Definition) -> Iterator[str]:
    """What a function declares `global` or `nonlocal`."""
    pending = list[ast.AST](node.body)
    while pending:
        inner = pending.pop()
        if isinstance(inner, ast.Global | ast.Nonlocal):
            yield from inner.names
        elif not isinstance(inner, DEFINITIONS):
            pending.extend(ast.iter_child_nodes(inner))


def assigned(node: ast.AST) -> Iterator[ast.Name]:
    """The names an assignment of any form is to."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign | ast.AugAssign):
        targets = [node.target]
    return chain.from_iterable(map(plain_names, targets))


def formatted_names(tree: ast.AST) -> Iterator[tuple[str, int, int]]:
    """Names used in formatted strings, with the lines they may stand on."""
    for outer in ast.walk(tree):
        if isinstance(outer, ast.JoinedStr):
            for node in ast.walk(outer):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    yield node.id, outer.lineno, outer.end_lineno or outer.lineno


def uses_of_outline(found: Outline) -> Iterator[Fact]:
    """Our references, with the innermost definition around each."""
    for use in found.references:
        at = use.enclosing
        while at is not None and found.items[at].kind not in ("function", "method", "class"):
            at = found.items[at].parent
        path = found.items[at].path if at is not None else ()
        yield use.name, use.line, use.column, use.receiver is not None, path


def sample(count: int) -> list[Path]:
    """The fixtures and every n-th file of the library, about `count`."""
    files: list[Path] = []
    for folder, folders, names in os.walk(LIBRARY):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        files.extend(Path(folder, name) for name in names if name.endswith(".py"))
    step = max(1, len(files) // count)
    return [*sorted(FIXTURES.glob("*.py")), *sorted(FIXTURES.glob("*.pyi")), *sorted(files)[::step]]


def parsed(path: Path) -> tuple[bytes, ast.Module]:
    source = decode(path.read_bytes())
    try:
        return source, ast.parse(source)
    except SyntaxError:
        pytest.skip("not valid for the running interpreter")


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("path", sample(150), ids=name_of)
def test_outline_agrees_with_ast(path: Path) -> None:
    source, tree = parsed(path)
    found = outline(path.name, source)
    assert found.problems == ()
    lines = source.decode().split("\n")
    assert sorted(map(repr, facts_of_outline(found))) == sorted(
        map(repr, facts_of_tree(tree, lines))
    )

    formatted = list(formatted_names(tree))
    inside = {line for _, first, last in formatted for line in range(first, last + 1)}
    expected, uses = set(uses_of_tree(tree)), set(uses_of_outline(found))
    assert expected - uses == set()
    assert {use for use in uses - expected if use[1] not in inside} == set()
    places = defaultdict(set)
    for use in found.references:
        places[use.name].add(use.line)
    for name, first, last in formatted:
        assert any(line in places[name] for line in range(first, last + 1)), (name, first)
