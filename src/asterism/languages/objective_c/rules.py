"""Objective-C: classes, categories, protocols, methods, properties and messages; C as in C."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import child_of, children_of, skip, transparent
from asterism.analysis.syntax.text import fold
from asterism.languages.c_family import c
from asterism.languages.objective_c.contents import masked
from asterism.languages.shared import callback_name, declare_exports, is_local, spans_lines
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node


def _type(builder: Builder, node: Node) -> bool:
    """`@interface` and `@implementation`; of a category the name is the class's."""
    name = child_of("identifier")(node)
    if name is None or name.is_missing:
        return True
    category = node.child_by_field_name("category")
    is_extension = category is not None or _is_extension(builder, node, name)
    if category is not None:
        builder.defined.add(category.start_byte)
    builder.define(
        node,
        "extension" if is_extension else "class",
        builder.text(name),
        name_node=name,
        level=Level.TYPE,
        modifiers=("private",) if is_extension and category is None else (),
        signature_end=_head_end(builder, node),
    )
    return True


def _is_extension(builder: Builder, node: Node, name: Node) -> bool:
    """`@interface Cart ()`."""
    behind = name.next_sibling
    return node.type == "class_interface" and behind is not None and behind.type == "("


def _protocol(builder: Builder, node: Node) -> bool:
    name = child_of("identifier")(node)
    if name is not None and not name.is_missing:
        builder.define(
            node,
            "protocol",
            builder.text(name),
            name_node=name,
            level=Level.TYPE,
            signature_end=_head_end(builder, node),
        )
    return True


def _head_end(builder: Builder, node: Node) -> int:
    """Where the first line of a class ends, which has all that it says of itself."""
    stop = builder.source.find(b"\n", node.start_byte)
    brace = builder.source.find(b"{", node.start_byte)
    ends = [end for end in (stop, brace, node.end_byte) if end >= 0]
    return min(ends)


def _method(builder: Builder, node: Node) -> bool:
    """`- (void)add:(Item *)item at:(int)place` is called `add:at:`."""
    words = list(children_of(node, "identifier"))
    takes = any(child.type == "method_parameter" for child in node.named_children)
    if not words:
        return True
    name = _selector(builder, node) if takes else builder.text(words[0])
    for word in words:
        builder.defined.add(word.start_byte)
    body = child_of("compound_statement")(node)
    builder.define(
        node,
        "constructor" if _makes(name, node) else "method",
        name,
        name_node=words[0],
        body=body,
        modifiers=("static",) if node.children[0].type == "+" else (),
    )
    return True


def _makes(name: str, node: Node) -> bool:
    """Whether a method is one of those that make an instance."""
    word = name.partition(":")[0]
    is_init = word == "init" or (word.startswith("init") and word[4:5].isupper())
    return is_init and node.children[0].type == "-"


def _selector(builder: Builder, node: Node) -> str:
    """The words of a method's name, each that takes an argument with its colon."""
    parts: list[str] = []
    for child in node.named_children:
        if child.type == "identifier":
            parts.append(builder.text(child))
        elif child.type == "method_parameter":
            parts.append("\0")
    name = ":".join("".join(parts).split("\0"))
    head, colon, _rest = name.rpartition(":")
    return head + colon if colon else name


def _parameter(builder: Builder, node: Node) -> bool:
    builder.bind(child_of("identifier")(node))
    return True


def _message(builder: Builder, node: Node) -> bool:
    """`[cart add:x at:1]` uses `add:at:` of `cart`."""
    receiver = node.child_by_field_name("receiver")
    words = node.children_by_field_name("method")
    if not words:
        return True
    name = ":".join(builder.text(word) for word in words)
    behind = words[-1].next_sibling
    if len(words) > 1 or (behind is not None and behind.type == ":"):
        name += ":"
    for word in words:
        builder.defined.add(word.start_byte)
    if receiver is not None:
        builder.member(receiver, words[0])
    builder.mention(name, words[0].start_byte, builder.receivers.get(words[0].start_byte))
    return True


def _selector_expression(builder: Builder, node: Node) -> bool:
    """`@selector(add:at:)`."""
    text = builder.text(node)
    name = text.partition("(")[2].rstrip(") ").strip()
    if name:
        offset = node.start_byte + len(text[: text.index(name)].encode())
        builder.mention(name, offset, "…")
    return False


def _declarators(node: Node) -> Iterator[Node]:
    """The names in `int *a, b`."""
    for part in children_of(node, "struct_declarator"):
        pending = [part]
        while pending:
            here = pending.pop()
            if here.type in ("identifier", "field_identifier"):
                yield here
                break
            inner = here.child_by_field_name("declarator")
            pending.extend([inner] if inner is not None else here.named_children[:1])


def _property(builder: Builder, node: Node) -> bool:
    """`@property (nonatomic, copy) NSString *name;`."""
    names = child_of("struct_declaration")(node)
    attributes = child_of("property_attributes_declaration")(node)
    modifiers = [builder.text(part) for part in attributes.named_children] if attributes else []
    found = list(_declarators(names)) if names is not None else []
    for name in found:
        builder.define(
            node,
            "property",
            builder.text(name),
            name_node=name,
            modifiers=modifiers,
            opens=name == found[-1],
        )
    return True


def _variable(builder: Builder, node: Node) -> bool:
    """`int _count;` in the braces of a class."""
    names = child_of("struct_declaration")(node)
    found = list(_declarators(names)) if names is not None else []
    for name in found:
        builder.define(
            node, "property", builder.text(name), name_node=name, opens=name == found[-1]
        )
    return True


def _block(builder: Builder, node: Node) -> bool:
    """`^(id each) { … }`, given to a message or a function, where it has lines of its own."""
    body = child_of("compound_statement")(node)
    around = builder.ancestors[-2:]
    if body is None or not spans_lines(body) or not around:
        return True
    if around[-1].type == "message_expression":
        words = around[-1].children_by_field_name("method")
        receiver = builder.field_text(around[-1], "receiver") or ""
        callee = ":".join(builder.text(word) for word in words)
    elif around[-1].type == "argument_list" and around[0].type == "call_expression":
        receiver, callee = "", builder.field_text(around[0], "function") or ""
    else:
        return True
    builder.define(node, "function", callback_name(receiver, callee), body=body)
    return True


def _each(builder: Builder, node: Node) -> bool:
    """`for (id x in list)`."""
    if any(child.type == "in" for child in node.children):
        builder.bind(child_of("identifier")(node))
    return True


def _typedef(builder: Builder, node: Node) -> bool:
    """`typedef void (^Handler)(int code);` names a block; every other one is as in C."""
    pending = node.children_by_field_name("declarator")
    inside = False
    while pending:
        here = pending.pop()
        inside = inside or here.type == "block_pointer_declarator"
        if here.type == "type_identifier" and inside:
            builder.define(node, "type", builder.text(here), name_node=here)
            return True
        pending.extend(here.named_children if here.type != "parameter_list" else ())
    return c.RULES["type_definition"](builder, node)


def _import(builder: Builder, node: Node) -> bool:
    """`@import UIKit;`."""
    path = node.child_by_field_name("path")
    if path is None:
        return True
    module = builder.text(path)
    builder.root_item(node, "import", fold(f"import:{module}"))
    builder.add_import(node, module, [ImportedName("*")])
    return False


def _exported(draft: Draft, builder: Builder) -> bool:
    """As in C; a class extension and its members are the file's own."""
    if draft.kind in ("method", "constructor", "property"):
        above = builder.drafts[draft.parent] if draft.parent is not None else None
        is_private = above is not None and "private" in above.modifiers
        return not is_private and not is_local(builder, draft)
    if draft.name.endswith(" callback") or "private" in draft.modifiers:
        return False
    return c.exported(draft, builder)


CONVENTIONS = replace(
    c.CONVENTIONS,
    skipped=c.SKIPPED | {"string_content"},
    statements={
        **c.STATEMENTS,
        "class_declaration": "directive",
        "protocol_forward_declaration": "directive",
    },
    doc_prefixes=("/**", "///", "/*!"),
)

RULES: dict[str, Rule] = {
    **c.RULES,
    "type_definition": _typedef,
    "module_import": _import,
    "class_interface": _type,
    "class_implementation": _type,
    "protocol_declaration": _protocol,
    "qualified_protocol_interface_declaration": transparent,
    "implementation_definition": transparent,
    "method_declaration": _method,
    "method_definition": _method,
    "method_parameter": _parameter,
    "message_expression": _message,
    "selector_expression": _selector_expression,
    "property_declaration": _property,
    "property_attributes_declaration": skip,
    "instance_variable": _variable,
    "block_literal": _block,
    "for_statement": _each,
}

OBJECTIVE_C = Language(
    "objective_c",
    ("tree_sitter_objc", "language"),
    CONVENTIONS,
    RULES,
    _exported,
    declare_exports(_exported),
    masked,
)
