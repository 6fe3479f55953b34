"""C and C++ declarators and records: what a declaration declares, and what a record contains."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.rules import children_of, value_cut
from asterism.analysis.syntax.text import decorator_names

if TYPE_CHECKING:
    from tree_sitter import Node


# Around a declared name, what changes it from a function into a value and back.
_POINTERS = frozenset(
    {
        *("pointer_declarator", "pointer_type_declarator", "reference_declarator"),
        *("array_declarator", "variadic_declarator"),
    }
)
_NEUTRAL = frozenset(
    {
        *("init_declarator", "parenthesized_declarator", "attributed_declarator"),
        *("function_declarator", "template_function", "template_type", "template_method"),
        *("dependent_name", "bitfield_clause"),
    }
)
_LEAVES = frozenset({"identifier", "field_identifier", "type_identifier", "namespace_identifier"})
_OPERATORS = frozenset({"operator_name", "destructor_name", "operator_cast"})

# Words the grammar takes for names where a macro put it off the track.
_KEYWORDS = frozenset(
    {
        *("struct", "union", "enum", "typedef", "static", "inline", "const", "volatile", "auto"),
        *("void", "char", "short", "int", "long", "float", "double", "signed", "unsigned"),
        *("if", "else", "for", "while", "do", "switch", "case", "return", "goto", "__attribute__"),
    }
)
_CPP_KEYWORDS = _KEYWORDS | {
    *("class", "namespace", "template", "typename", "using", "public", "private", "protected"),
    *("friend", "explicit", "virtual", "bool", "char8_t", "char16_t", "char32_t", "wchar_t"),
    *("static_cast", "dynamic_cast", "const_cast", "reinterpret_cast"),
}

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


class Declarator(NamedTuple):
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


def declared(builder: Builder, declarator: Node | None) -> Declarator | None:
    """The name a declarator declares; None for an abstract or broken one."""
    scope: list[str] = []
    is_function = is_pointer = False
    function: Node | None = None
    outer: Node | None = None
    node = declarator
    while node is not None and not node.is_missing:
        kind = node.type
        if kind in _LEAVES:
            name = builder.text(node)
            if function is not None and outer is not None:
                found = _in_parentheses(builder, outer, function)
                if found is not None:
                    silence_keywords(builder, [node])
                    return found
            if is_keyword(builder, name):
                builder.defined.add(node.start_byte)
                return None
            if builder.source[node.start_byte - 1 : node.start_byte] == b"~":
                # `API ~Name();`: behind a macro the grammar takes no destructor.
                name = f"~{name}"
            return Declarator(node, name, tuple(scope), is_function, is_pointer, function)
        if kind in _OPERATORS:
            name = operator_label(builder, node)
            if kind == "operator_cast":
                is_function, function = True, _cast_function(node)
            return Declarator(node, name, tuple(scope), is_function, is_pointer, function)
        if kind == "qualified_identifier":
            scope.extend(scope_of(builder, node))
            node = node.child_by_field_name("name")
            continue
        if kind == "function_declarator":
            outer = function if is_function else None
            is_function, is_pointer, function = True, False, node
        elif kind in _POINTERS:
            # The scope of `int Foo::*member` is the pointer's, not the name's.
            scope.clear()
            is_function = False
            is_pointer = is_pointer or "pointer" in kind
        elif kind not in _NEUTRAL:
            return None
        elif kind == "init_declarator" and _has_no_arguments(node):
            is_function = True
        node = _inner(node)
    return None


def _has_no_arguments(node: Node) -> bool:
    """`type name()` initialises nothing, though the grammar thinks so before some macros."""
    value = node.child_by_field_name("value")
    return value is not None and value.type == "argument_list" and not value.named_child_count


def is_keyword(builder: Builder, name: str) -> bool:
    """Whether no declaration can give this name; in C a field may well be called `private`."""
    is_cpp = "namespace_identifier" in builder.conventions.identifiers
    return name in (_CPP_KEYWORDS if is_cpp else _KEYWORDS)


def silence_keywords(builder: Builder, nodes: list[Node]) -> None:
    """Words of the language that damage made look like names refer to nothing."""
    words = (node for node in nodes if is_keyword(builder, builder.text(node)))
    builder.defined.update(node.start_byte for node in words)


def _in_parentheses(builder: Builder, outer: Node, function: Node) -> Declarator | None:
    """`API void (*name)(int)`, which reads like a function `void` whose result is called."""
    group = function.child_by_field_name("parameters")
    parts = [] if group is None else [p for p in group.named_children if p.type != "ERROR"]
    if group is None or len(parts) != 1 or parts[0].named_child_count != 1:
        return None
    name = parts[0].named_children[0]
    if name.type != "type_identifier":
        return None
    is_pointer = builder.source[group.start_byte : name.start_byte].rstrip().endswith(b"*")
    return Declarator(name, builder.text(name), (), not is_pointer, is_pointer, outer)


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
        function = _cast_function(node)
        if function is not None:
            text = builder.source[node.start_byte : function.start_byte].decode("utf-8", "replace")
    return _AROUND_SYMBOL.sub("", _BLANK.sub(" ", text).strip())


def _cast_function(node: Node) -> Node | None:
    """The empty parentheses of `operator T*()`, behind what belongs to the type."""
    inner = node.child_by_field_name("declarator")
    while inner is not None and inner.type != "abstract_function_declarator":
        inner = inner.named_children[-1] if inner.named_child_count else None
    return inner


def modifiers_of(builder: Builder, node: Node, found: Declarator) -> list[str]:
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


ACCESS = frozenset({"public", "private", "protected"})

RECORDS = {
    "struct_specifier": "struct",
    "union_specifier": "union",
    "class_specifier": "class",
    "enum_specifier": "enum",
}

# The nameless are named in brackets, as compilers print them.
NAMELESS = "(anonymous"
ANONYMOUS = NAMELESS + " {})"

# A block whose head the grammar misread, as it does if the head has a macro or if a C++
# header is read as C: `class EXPORT Name : Base {`, `BEGIN_MACRO namespace name {`.
_BLOCK_HEAD = re.compile(
    rb"\b(?P<word>namespace|class|struct|union)\s+"
    rb"(?:[A-Za-z_]\w*(?:\s*\([^()]*\))?\s+)*?"
    rb"(?P<name>[A-Za-z_][\w:]*)(?:\s*<[^{}]*>)?(?:\s+final)?\s*(?::[^:{][^{]*)?$"
)
_BLOCK_HEAD_LIMIT = 1000


def record(builder: Builder, node: Node) -> bool:
    """`struct`, `union`, `class`, `enum`: a symbol where it has a body or is declared alone."""
    if node.start_byte not in builder.consumed:
        define_record(builder, node, node)
    elif (name := node.child_by_field_name("name")) is not None:
        _reopen(builder, node, name)
    return True


def define_record(builder: Builder, outer: Node, node: Node, opens: bool = True) -> Draft | None:
    """A record with its members; `outer` is the template or typedef around it, or itself."""
    word = RECORDS[node.type]
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if body is None and (builder.level is Level.FUNCTION or not ends_there(builder, node)):
        return None
    if name is None or name.is_missing:
        if word != "enum":
            # Members of an anonymous struct or union are members of the record around it.
            return None
        return builder.define(
            outer,
            word,
            ANONYMOUS.format(word),
            body=body,
            level=Level.TYPE,
            modifiers=access(builder),
        )
    scope: list[str] = []
    while name.type == "qualified_identifier":
        scope.extend(scope_of(builder, name))
        inner = name.child_by_field_name("name")
        if inner is None:
            return None
        name = inner
    modifiers = [*access(builder), *("final" for _ in children_of(node, "virtual_specifier"))]
    draft = builder.define(
        outer,
        word,
        plain(builder, name),
        name_node=name,
        body=body,
        level=Level.TYPE,
        owner=scope,
        modifiers=modifiers,
        decorators=attributes_of(node),
        opens=opens,
    )
    return name_attributes(builder, draft, attributes_of(node))


def enumerator(builder: Builder, node: Node) -> bool:
    """A member of an enum."""
    name = node.child_by_field_name("name")
    if name is not None and builder.level is Level.TYPE:
        end = value_cut(node, node.child_by_field_name("value"))
        draft = builder.define(
            node, "enum_member", builder.text(name), name_node=name, signature_end=end
        )
        draft.signature = draft.signature.removesuffix(",")
    return True


def access(builder: Builder) -> tuple[str, ...]:
    """The access specifier that holds here, if one was written; see `access_specifier` in C++."""
    owner = builder.owner
    if owner is None or builder.level is not Level.TYPE or not owner.section:
        return ()
    return (owner.section,)


def define_tagged(builder: Builder, outer: Node, record: Node) -> None:
    """A record that is named itself and declares more: opened when the walk reaches its body."""
    define_record(builder, outer, record, opens=False)
    builder.consumed.add(record.start_byte)


def _reopen(builder: Builder, node: Node, name: Node) -> None:
    while name.type == "qualified_identifier" and name.child_by_field_name("name") is not None:
        name = name.child_by_field_name("name") or name
    for draft in reversed(builder.drafts):
        if draft.name_offset == name.start_byte:
            builder.extend(draft, node)
            return


def misread_block(builder: Builder, outer: Node, body: Node) -> None:
    """Read the head of a block that the grammar took for a function's."""
    start = max(outer.start_byte, body.start_byte - _BLOCK_HEAD_LIMIT)
    head = _BLOCK_HEAD.search(builder.source, start, body.start_byte)
    if head is None:
        return
    word = head["word"].decode()
    *scope, name = head["name"].decode().split("::")
    draft = builder.define(
        outer,
        word,
        name,
        body=body,
        level=Level.MODULE if word == "namespace" else Level.TYPE,
        owner=scope,
        modifiers=access(builder),
    )
    draft.name_offset = head.start("name")
    builder.defined.update((head.start("word"), head.start("name")))


def ends_there(builder: Builder, node: Node) -> bool:
    """Whether a `;` follows: `struct name;` declares, `struct name *x;` uses."""
    return builder.source[node.end_byte : node.end_byte + 40].lstrip()[:1] == b";"


def name_attributes(builder: Builder, draft: Draft, lists: list[Node]) -> Draft:
    """Every attribute of `[[a, b]]` by name, where the engine names a list by its first."""
    if lists:
        inner = [part for one in lists for part in children_of(one, "attribute")]
        draft.decorators[:] = decorator_names(builder.source, inner)
    return draft
