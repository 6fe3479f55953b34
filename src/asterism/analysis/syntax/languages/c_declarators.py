"""C and C++ declarators: which name a declaration declares, in what scope, and as what."""

import re
from typing import NamedTuple

from tree_sitter import Node

from asterism.analysis.syntax.builder import Builder

# Around a declared name, what changes it from a function into a value and back.
_POINTERS = frozenset(
    {
        "pointer_declarator",
        "pointer_type_declarator",
        "reference_declarator",
        "array_declarator",
        "variadic_declarator",
    }
)
_NEUTRAL = frozenset(
    {
        "init_declarator",
        "parenthesized_declarator",
        "attributed_declarator",
        "function_declarator",
        "template_function",
        "template_type",
        "template_method",
        "dependent_name",
        "bitfield_clause",
    }
)
_LEAVES = frozenset({"identifier", "field_identifier", "type_identifier", "namespace_identifier"})
_OPERATORS = frozenset({"operator_name", "destructor_name", "operator_cast"})

# Words the grammar takes for names where a macro put it off the track.
_KEYWORDS = frozenset(
    {"struct", "union", "enum", "class", "namespace", "template", "typename", "public", "private"}
)

# Qualifiers that say something of the declared thing itself; `const` only where it is not a
# pointer's target that is constant.
_QUALIFIERS = frozenset(
    {"constexpr", "consteval", "constinit", "mutable", "volatile", "_Atomic", "_Noreturn"}
)
_SPECIFIERS = frozenset(
    {"storage_class_specifier", "explicit_function_specifier", "virtual_specifier", "noexcept"}
)
_CLAUSES = {
    "virtual": "virtual",
    "inline": "inline",
    "default_method_clause": "default",
    "delete_method_clause": "delete",
    "pure_virtual_clause": "abstract",
}

_BLANK = re.compile(r"\s+")
_AROUND_SYMBOL = re.compile(r"(?<=\W) | (?=\W)")


class Declared(NamedTuple):
    """What a declarator declares."""

    node: Node
    """The name, where it stands."""
    name: str
    scope: tuple[str, ...]
    """The classes and namespaces it is qualified with, without template arguments."""
    is_function: bool
    is_pointer: bool
    function: Node | None
    """The part that holds parameters, where there is one."""


def declared(builder: Builder, declarator: Node | None) -> Declared | None:
    """The name a declarator declares; None for an abstract or broken one."""
    scope: list[str] = []
    is_function = is_pointer = False
    function: Node | None = None
    node = declarator
    while node is not None and not node.is_missing:
        kind = node.type
        if kind in _LEAVES:
            name = builder.text(node)
            if name in _KEYWORDS:
                return None
            return Declared(node, name, tuple(scope), is_function, is_pointer, function)
        if kind in _OPERATORS:
            name = operator_label(builder, node)
            if kind == "operator_cast":
                is_function, function = True, node.child_by_field_name("declarator")
            return Declared(node, name, tuple(scope), is_function, is_pointer, function)
        if kind == "qualified_identifier":
            scope.extend(scope_of(builder, node))
            node = node.child_by_field_name("name")
            continue
        if kind == "function_declarator":
            is_function, is_pointer, function = True, False, node
        elif kind in _POINTERS:
            # The scope of `int Foo::*member` is the pointer's, not the name's.
            scope.clear()
            is_function = False
            is_pointer = is_pointer or "pointer" in kind
        elif kind not in _NEUTRAL:
            return None
        node = _inner(node)
    return None


def scope_of(builder: Builder, qualified: Node) -> list[str]:
    """The qualifier of `ns::Foo<T>::bar` at one level: `ns`, then `Foo`; nothing for `::bar`."""
    scope = qualified.child_by_field_name("scope")
    if scope is None:
        return []
    if scope.type == "qualified_identifier":
        name = scope.child_by_field_name("name")
        return [*scope_of(builder, scope), *([plain(builder, name)] if name is not None else [])]
    return [plain(builder, scope)]


def plain(builder: Builder, node: Node) -> str:
    """A type's name without its template arguments."""
    while node.type in ("template_type", "template_function", "dependent_type", "dependent_name"):
        inner = node.child_by_field_name("name") or (
            node.named_children[0] if node.named_child_count else None
        )
        if inner is None:
            break
        node = inner
    return builder.text(node)


def operator_label(builder: Builder, node: Node) -> str:
    """`operator==`, `operator bool`, `~Foo`, however they are spaced."""
    text = builder.text(node)
    if node.type == "operator_cast":
        function = node.child_by_field_name("declarator")
        if function is not None:
            text = builder.source[node.start_byte : function.start_byte].decode("utf-8", "replace")
    return _AROUND_SYMBOL.sub("", _BLANK.sub(" ", text).strip())


def modifiers_of(builder: Builder, node: Node, found: Declared) -> list[str]:
    """The words around a declaration that qualify what it declares."""
    words: list[str] = []
    for child in node.children:
        kind = child.type
        if kind in _SPECIFIERS:
            words.append(builder.text(child).split("(")[0].strip())
        elif kind in _CLAUSES:
            words.append(_CLAUSES[kind])
        elif kind == "type_qualifier":
            word = builder.text(child)
            if word in _QUALIFIERS or (
                word == "const" and not found.is_function and not found.is_pointer
            ):
                words.append(word)
    if found.function is not None and found.is_function:
        for child in found.function.children:
            if child.type in ("virtual_specifier", "noexcept"):
                words.append(builder.text(child).split("(")[0].strip())
            elif child.type == "type_qualifier" and builder.text(child) in ("const", "volatile"):
                words.append(builder.text(child))
    if "virtual" in words and builder.field_text(node, "default_value") == "0":
        words.append("abstract")
    return words


def attributes_of(node: Node) -> list[Node]:
    """The `[[…]]` lists among a declaration's own children."""
    return [child for child in node.children if child.type == "attribute_declaration"]


def _inner(node: Node) -> Node | None:
    """What a declarator wraps; some grammar rules give it no field."""
    inner = node.child_by_field_name("declarator") or node.child_by_field_name("name")
    if inner is not None:
        return inner
    kinds = _LEAVES | _OPERATORS | _POINTERS | _NEUTRAL | {"qualified_identifier"}
    return next((child for child in node.named_children if child.type in kinds), None)
