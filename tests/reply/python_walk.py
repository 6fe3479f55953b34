"""What a part of a Python file uses of it, by the language's own parser and symbol tables."""

import ast
import symtable
from collections.abc import Iterator

Binding = dict[str, list[ast.stmt]]


def uses_and_shown(source: str, snapshot: str, lines: range) -> tuple[set[str], set[str]] | None:
    """The top-level names that a definition needs, and those that its snapshot binds beside it.

    Nothing if the definition is not found, or is inside a function, where nonlocal names would
    have to be told apart.
    """
    module = ast.parse(source)
    found = _definition(module, lines)
    if found is None:
        return None
    top, node, scope = found
    bound = _bindings(module.body)
    names = _globals(node, source, scope)
    for value in _attributes(top, node, {"self", "cls", *scope[:-1]}):
        names |= _names(value)
    needed = _closure(bound, names, top, _conditions(module.body))
    shown = set(_bindings(ast.parse(snapshot).body)) - {_name(top)}
    # Names that come with a needed one because they share its statement.
    statements = {id(statement) for name in needed for statement in bound[name]}
    company = {name for name in shown if any(id(one) in statements for one in bound.get(name, ()))}
    return needed, (shown - company) | (shown & needed)


def _definition(module: ast.Module, lines: range) -> tuple[ast.stmt, ast.stmt, list[str]] | None:
    """The top-level statement around the definition, the definition, and the names down to it."""
    for top in module.body:
        pending: list[tuple[ast.stmt, list[str]]] = [(top, [])]
        while pending:
            node, path = pending.pop()
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            if node.lineno in lines and node.end_lineno == lines[-1]:
                return top, node, [*path, node.name]
            if isinstance(node, ast.ClassDef):
                pending.extend((child, [*path, node.name]) for child in node.body)
    return None


def _globals(node: ast.AST, source: str, path: list[str]) -> set[str]:
    """The names a definition takes from its module: inside its scopes, and in its head."""
    names = set()
    for table in _tables(symtable.symtable(source, "x.py", "exec"), path, node):
        for symbol in table.get_symbols():
            if symbol.is_global() and symbol.is_referenced():
                names.add(symbol.get_name())
    for part in _head(node):
        names |= _names(part)
    return names


def _names(part: ast.AST) -> set[str]:
    return {leaf.id for leaf in ast.walk(part) if isinstance(leaf, ast.Name)}


def _attributes(top: ast.stmt, node: ast.AST, selves: set[str]) -> Iterator[ast.stmt]:
    """The declarations in the class around that a method uses through `self` and its like."""
    used = {
        leaf.attr
        for leaf in ast.walk(node)
        if isinstance(leaf, ast.Attribute)
        and isinstance(leaf.value, ast.Name)
        and leaf.value.id in selves
    }
    for around in ast.walk(top):
        body = around.body if isinstance(around, ast.ClassDef) else []
        if any(child is node for child in body):
            for child in body:
                if not used.isdisjoint(_bound_names(child)) and _is_shown(child):
                    yield child


def _tables(
    table: symtable.SymbolTable, path: list[str], node: ast.AST
) -> Iterator[symtable.SymbolTable]:
    for name in path:
        line = node.lineno if name == path[-1] and isinstance(node, ast.stmt) else None
        children = [child for child in table.get_children() if child.get_name() == name]
        # The table of a decorated definition begins at its first decorator.
        near = [child for child in children if line is None or child.get_lineno() <= line]
        if not near:
            return
        table = max(near, key=lambda child: child.get_lineno())
    pending = [table]
    while pending:
        table = pending.pop()
        yield table
        pending.extend(table.get_children())


def _head(node: ast.AST) -> Iterator[ast.AST]:
    """What is evaluated outside of a definition's own scope."""
    if isinstance(node, ast.ClassDef):
        yield from (*node.decorator_list, *node.bases, *node.keywords)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from node.decorator_list
        arguments = node.args
        yield from (value for value in (*arguments.defaults, *arguments.kw_defaults) if value)
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        for argument in (*every, arguments.vararg, arguments.kwarg):
            if argument is not None and argument.annotation is not None:
                yield argument.annotation
        if node.returns is not None:
            yield node.returns
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        for child in node.body:
            for inner in ast.walk(child):
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    yield from _head(inner)
                elif isinstance(inner, ast.AnnAssign):
                    yield inner.annotation


def _conditions(body: list[ast.stmt]) -> dict[int, set[str]]:
    """The names in the conditions around each statement of the top."""
    found: dict[int, set[str]] = {}
    pending = [(statement, set[str]()) for statement in body]
    while pending:
        statement, names = pending.pop()
        found[id(statement)] = names
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        heads = [getattr(statement, "test", None), *getattr(statement, "items", [])]
        handlers = getattr(statement, "handlers", [])
        heads += [handler.type for handler in handlers]
        below = names.union(*(_names(head) for head in heads if head is not None))
        inner = [getattr(statement, field, []) for field in ("body", "orelse", "finalbody")]
        for statements in (*inner, *(handler.body for handler in handlers)):
            pending.extend((child, below) for child in statements)
    return found


def _closure(
    bound: Binding, names: set[str], top: ast.stmt, conditions: dict[int, set[str]]
) -> set[str]:
    needed: set[str] = set()
    pending = [name for name in names if name in bound]
    while pending:
        name = pending.pop()
        if name in needed or any(one is top for one in bound[name]):
            continue
        if not all(_is_shown(statement) for statement in bound[name]):
            continue
        needed.add(name)
        for statement in bound[name]:
            pending.extend(one for one in conditions[id(statement)] if one in bound)
            if not isinstance(statement, ast.Import | ast.ImportFrom):
                leaves = (leaf for leaf in ast.walk(statement) if isinstance(leaf, ast.Name))
                pending.extend(leaf.id for leaf in leaves if leaf.id in bound)
    return needed


def _is_shown(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    if isinstance(statement, ast.ClassDef):
        functions = ast.FunctionDef | ast.AsyncFunctionDef
        return not any(isinstance(child, functions) for child in ast.walk(statement))
    return True


def _bindings(body: list[ast.stmt]) -> Binding:
    """Names bound at the top, with the statement that binds each, conditions looked into."""
    bound: Binding = {}
    pending = list(body)
    while pending:
        statement = pending.pop(0)
        for name in _bound_names(statement):
            bound.setdefault(name, []).append(statement)
        for field in ("body", "orelse", "finalbody"):
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                pending.extend(getattr(statement, field, []))
        for handler in getattr(statement, "handlers", []):
            pending.extend(handler.body)
    return bound


def _bound_names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            yield (alias.asname or alias.name).split(".")[0]
    elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            for leaf in ast.walk(target):
                if isinstance(leaf, ast.Name) and isinstance(leaf.ctx, ast.Store):
                    yield leaf.id


def _name(statement: ast.stmt) -> str:
    return getattr(statement, "name", "")
