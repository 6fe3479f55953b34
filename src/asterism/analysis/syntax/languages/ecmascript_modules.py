"""Imports and exports of JavaScript and TypeScript: ES modules, CommonJS, TypeScript's own."""

from collections.abc import Iterator

from tree_sitter import Node

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Level
from asterism.analysis.syntax.rules import child_of, children_of
from asterism.domain.outline import ImportedName

FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})


def string_value(builder: Builder, node: Node | None) -> str:
    """A string literal's text without its quotes."""
    return "" if node is None else builder.text(node)[1:-1]


def import_statement(builder: Builder, node: Node) -> bool:
    """`import …`, in all its forms."""
    source = node.child_by_field_name("source")
    clause = child_of("import_clause")(node)
    required = child_of("import_require_clause")(node)
    names: list[ImportedName] = []
    if required is not None:
        source = required.child_by_field_name("source")
        names = [ImportedName("*", builder.text(required.named_children[0]))]
    elif clause is not None:
        names = list(_clause_names(builder, clause))
    module = string_value(builder, source)
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{module}")
    builder.add_import(
        node,
        module,
        names,
        type_only=_has_type_keyword(node),
        side_effect=clause is None and required is None,
    )
    return False


def import_alias(builder: Builder, node: Node) -> bool:
    """`import Short = Some.Namespace`."""
    alias, target = node.named_children[0], node.named_children[-1]
    module = builder.text(target)
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{module}")
    builder.add_import(node, module, [ImportedName("*", builder.text(alias))])
    builder.defined.add(alias.start_byte)
    return True


def export_statement(builder: Builder, node: Node) -> bool:
    """`export …`: a modifier of what it declares, or a statement of its own."""
    default = any(child.type == "default" for child in node.children)
    decorators = list(children_of(node, "decorator"))
    if node.child_by_field_name("declaration") is not None:
        builder.wrap(node, ("exported", "default") if default else ("exported",), decorators)
        return True
    value = node.child_by_field_name("value")
    if value is not None:
        return _export_value(builder, node, value, decorators)
    source = node.child_by_field_name("source")
    if source is not None:
        return _reexport(builder, node, source)
    if builder.at_statement:
        builder.root_item(node, "export")
    clause = child_of("export_clause")(node)
    if clause is not None:
        type_only = _has_type_keyword(node)
        for name, local, place in _specifiers(builder, clause):
            builder.add_export(name, local, place, type_only=type_only)
    elif node.named_children and any(child.type == "=" for child in node.children):
        builder.add_export("=", builder.text(node.named_children[0]), node)
    return True


def _export_value(builder: Builder, node: Node, value: Node, decorators: list[Node]) -> bool:
    if value.type in FUNCTIONS or value.type == "class":
        # The function expression itself becomes the symbol when the walk reaches it.
        builder.wrap(node, ("exported", "default"), decorators)
        return True
    builder.root_item(node, "export")
    local = builder.text(value) if value.type == "identifier" else "default"
    builder.add_export("default", local, node)
    return True


def _reexport(builder: Builder, node: Node, source: Node) -> bool:
    module = string_value(builder, source)
    type_only = _has_type_keyword(node)
    if builder.at_statement:
        builder.root_item(node, "re-export", f"re-export:{module}")
    names = []
    clause = child_of("export_clause")(node)
    namespace = child_of("namespace_export")(node)
    if clause is not None:
        for name, local, place in _specifiers(builder, clause):
            builder.add_export(name, local, place, module, type_only)
            names.append(ImportedName(local, name if name != local else None))
    else:
        alias = builder.text(namespace.named_children[0]) if namespace is not None else None
        builder.add_export(alias or "*", "*", node, module, type_only)
        names.append(ImportedName("*", alias))
    builder.add_import(node, module, names, type_only=type_only, reexport=True)
    return False


def call_expression(builder: Builder, node: Node) -> bool:
    """`import('x')` and `require('x')`; every other call is left alone."""
    function = node.child_by_field_name("function")
    if function is None or function.type not in ("import", "identifier"):
        return True
    dynamic = function.type == "import"
    if not dynamic and builder.text(function) != "require":
        return True
    module = required_module(builder, node)
    if module is not None and node.start_byte not in builder.consumed:
        builder.add_import(node, module, dynamic=dynamic, side_effect=not dynamic)
    if not dynamic:
        builder.defined.add(function.start_byte)
    return True


def required_module(builder: Builder, value: Node | None) -> str | None:
    """The module a `require('x')` or `import('x')` call names, if its argument is a plain string."""
    if value is None or value.type != "call_expression":
        return None
    function = value.child_by_field_name("function")
    arguments = value.child_by_field_name("arguments")
    if function is None or arguments is None or not arguments.named_children:
        return None
    if function.type != "import" and builder.text(function) != "require":
        return None
    argument = arguments.named_children[0]
    return string_value(builder, argument) if argument.type == "string" else None


def require_declaration(builder: Builder, statement: Node, declarator: Node) -> bool:
    """`const x = require('y')` at the top: an import, whatever keyword it is written with."""
    value = declarator.child_by_field_name("value")
    if value is None or builder.level is not Level.MODULE:
        return False
    call = value
    member = None
    if value.type == "member_expression":
        call = value.child_by_field_name("object") or value
        member = builder.field_text(value, "property")
    is_require = call.type == "call_expression" and builder.field_text(call, "function") == "require"
    module = required_module(builder, call) if is_require else None
    name = declarator.child_by_field_name("name")
    if module is None or name is None:
        return False
    builder.consumed.add(call.start_byte)
    if builder.at_statement:
        builder.root_item(statement, "import", f"import:{module}")
    builder.add_import(statement, module, _pattern_names(builder, name, member))
    return True


def _pattern_names(builder: Builder, name: Node, member: str | None) -> Iterator[ImportedName]:
    if name.type == "identifier":
        yield ImportedName(member or "*", builder.text(name))
        return
    for part in name.named_children:
        if part.type == "pair_pattern":
            key = builder.field_text(part, "key") or ""
            yield ImportedName(key, builder.field_text(part, "value"))
        elif part.type == "object_assignment_pattern":
            yield ImportedName(builder.text(part.named_children[0]))
        else:
            yield ImportedName(builder.text(part).removeprefix("..."))


def _clause_names(builder: Builder, clause: Node) -> Iterator[ImportedName]:
    for part in clause.named_children:
        if part.type == "identifier":
            yield ImportedName("default", builder.text(part))
        elif part.type == "namespace_import":
            yield ImportedName("*", builder.text(part.named_children[-1]))
        elif part.type == "named_imports":
            for specifier in children_of(part, "import_specifier"):
                name = builder.field_text(specifier, "name") or ""
                yield ImportedName(name.strip("\"'"), builder.field_text(specifier, "alias"))


def _specifiers(builder: Builder, clause: Node) -> Iterator[tuple[str, str, Node]]:
    """Exported name, local name and place of each `a as b`."""
    for specifier in children_of(clause, "export_specifier"):
        local = (builder.field_text(specifier, "name") or builder.text(specifier)).strip("\"'")
        alias = builder.field_text(specifier, "alias")
        yield (alias or local).strip("\"'"), local, specifier


def _has_type_keyword(node: Node) -> bool:
    return any(child.type in ("type", "typeof") for child in node.children)
