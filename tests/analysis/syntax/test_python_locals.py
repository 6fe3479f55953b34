"""A name is marked local exactly where the interpreter's own symbol table says a function binds it."""

import ast
import symtable
from collections.abc import Iterator
from pathlib import Path

import pytest

from asterism.analysis.source.text import decode
from asterism.analysis.syntax.outlines import outline
from tests.analysis.syntax.test_python_oracle import name_of, sample

COMPREHENSIONS = {
    ast.ListComp: "listcomp",
    ast.SetComp: "setcomp",
    ast.DictComp: "dictcomp",
    ast.GeneratorExp: "genexpr",
}
Tables = tuple[symtable.SymbolTable, ...]
Scope = tuple[list[ast.AST], Tables]


def uses(tree: ast.Module, top: symtable.SymbolTable) -> Iterator[tuple[ast.Name, Tables]]:
    """Every name that is read, with the scopes around it, innermost last."""
    taken: set[int] = set()
    pending: list[tuple[ast.AST, Tables]] = [(tree, (top,))]
    while pending:
        node, tables = pending.pop()
        if isinstance(node, ast.JoinedStr):
            continue
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                yield node, tables
            continue
        for nodes, scopes in scopes_of(node, tables, taken):
            pending.extend((inner, scopes) for inner in reversed(nodes))


def scopes_of(node: ast.AST, tables: Tables, taken: set[int]) -> Iterator[Scope]:
    """The children of a node, each with the scopes it is read in."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield header(node), tables
        yield list(node.body), (*tables, table_of(node, node.name, tables, taken))
    elif isinstance(node, ast.Lambda):
        yield [node.body], (*tables, table_of(node, "lambda", tables, taken))
    elif isinstance(node, ast.ClassDef):
        yield [*node.bases, *node.keywords], tables
        yield list(node.body), (*tables, table_of(node, node.name, tables, taken))
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        first = node.generators[0]
        inner = [child for child in ast.iter_child_nodes(node) if child is not first]
        yield [first.iter], tables
        name = COMPREHENSIONS[type(node)]
        yield [first.target, *first.ifs, *inner], (*tables, table_of(node, name, tables, taken))
    else:
        yield list(ast.iter_child_nodes(node)), tables


def header(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.AST]:
    """What a function's header uses, which is looked up outside the function."""
    given = node.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    parts = [
        *node.decorator_list,
        *given.defaults,
        *given.kw_defaults,
        *(parameter.annotation for parameter in parameters if parameter is not None),
        node.returns,
    ]
    return [part for part in parts if part is not None]


def table_of(
    node: ast.expr | ast.stmt, name: str, tables: Tables, taken: set[int]
) -> symtable.SymbolTable:
    """The symbol table the compiler made for a node: the first of that name and line not used yet."""
    for table in tables[-1].get_children():
        at_node = table.get_name() == name and table.get_lineno() == node.lineno
        if at_node and table.get_id() not in taken:
            taken.add(table.get_id())
            return table
    pytest.skip(f"this interpreter keeps its scopes differently: {name} in line {node.lineno}")


def is_local(name: str, tables: Tables) -> bool | None:
    """Whether a function around the name binds it; None where we record a symbol or import instead."""
    if tables[-1].get_type() != "function" or any(
        table.get_name() == "top" for table in tables[1:]
    ):
        # Up to 3.12 `symtable` takes a function called `top` for the module.
        return None
    for table in reversed(tables):
        try:
            symbol = table.lookup(name)
        except KeyError:
            # A private name, which the compiler has renamed after its class.
            return None
        if symbol.is_global() or table.get_type() == "module":
            return False
        if table.get_type() == "function" and symbol.is_local():
            return None if symbol.is_imported() or symbol.is_namespace() else True
    return None


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("path", sample(75), ids=name_of)
def test_locals_agree_with_symtable(path: Path) -> None:
    source = decode(path.read_bytes())
    try:
        tree, top = ast.parse(source), symtable.symtable(source.decode(), path.name, "exec")
    except SyntaxError:
        pytest.skip("not valid for the running interpreter")
    ours = {(use.line, use.column): use.local for use in outline(path.name, source).references}
    wrong = []
    for name, tables in uses(tree, top):
        expected = is_local(name.id, tables)
        if expected is not None and ours.get((name.lineno, name.col_offset)) is not expected:
            wrong.append((name.id, name.lineno, expected))
    assert wrong == []
