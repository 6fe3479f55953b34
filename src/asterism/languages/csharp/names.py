"""What C# code binds and uses: directives, patterns, queries, parameters, labels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Level
from asterism.analysis.syntax.rules import child_of, silence
from asterism.languages.c_family.c import directive_line
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node


_NAMED = re.compile(
    r"<(?:param|typeparam|exception|permission)\s+(?:name|cref)\s*=\s*\"(?:[A-Z]:)?([^\"]*)\"\s*>"
)
_POINTER = re.compile(
    r"<(?:see|seealso|paramref|typeparamref|inheritdoc|include)\b[^>]*?"
    r"(?:name|cref|langword|href)\s*=\s*\"(?:[A-Z]:)?([^\"]*)\"\s*/>"
)
_RETURNS = re.compile(r"<returns>\s*")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_BLANK_LINES = re.compile(r"\n\s*\n\s*")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&"))


def plain(doc: str) -> str | None:
    """What the tags enclose; parameters by name, references by what they point to."""
    text = _NAMED.sub(r"\1: ", doc)
    text = _POINTER.sub(r"\1", text)
    text = _RETURNS.sub("Returns: ", text)
    text = _TAG.sub("", text)
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    lines = "\n".join(line.strip() for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", lines).strip() or None


def using_directive(builder: Builder, node: Node) -> bool:
    """`using A;`, `using static A.B;`, `using A = B.C;`, each also `global`."""
    alias = node.child_by_field_name("name")
    target = next((child for child in reversed(node.named_children) if child != alias), None)
    module = builder.text(target) if target is not None else ""
    names: list[ImportedName] = []
    if alias is not None:
        module, _, name = module.partition("<")[0].rpartition(".")
        names = [ImportedName(name, builder.text(alias))]
    elif any(child.type == "static" for child in node.children):
        names = [ImportedName("*")]
    if not module and not names:
        # Damaged: `global using;` names nothing.
        return False
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{module or names[0].name}")
    builder.add_import(node, module or names[0].name, names)
    return False


def directive(builder: Builder, node: Node) -> bool:
    """`#region`, `#pragma`, `[assembly: …]`: the comment above is about the file."""
    if builder.at_statement:
        builder.frames[-1].last_end = node.start_byte
        builder.root_item(node, "directive")
    alias = node.child_by_field_name("name")
    if alias is not None:
        builder.defined.add(alias.start_byte)
    return True


def conditional(builder: Builder, node: Node) -> bool:
    """`#if`: the contents of the branches are treated as siblings of the directive."""
    condition = node.child_by_field_name("condition")
    if condition is not None:
        silence(builder, condition)
        if builder.at_statement:
            directive_line(builder, node, condition)
    if builder.level is not Level.FUNCTION:
        builder.transparent()
    return True


def conditional_access(builder: Builder, node: Node) -> bool:
    """`a?.B.C()`: the first name after `?` is looked up on what comes before."""
    receiver = node.child_by_field_name("condition")
    here = node.named_children[-1] if node.named_child_count > 1 else None
    while here is not None and here.type != "member_binding_expression":
        here = here.named_children[0] if here.named_child_count else None
    name = here.child_by_field_name("name") if here is not None else None
    if receiver is not None and name is not None:
        builder.member(receiver, name)
    return True


def binds_first(builder: Builder, node: Node) -> bool:
    """`let x = …`, `join x in …`, `into x`: the first name is bound."""
    builder.bind(child_of("identifier")(node))
    return True


def implicit_parameter(builder: Builder, node: Node) -> bool:
    """The parameter of `x => …`, which is a name without a node of its own."""
    if builder.owner is not None:
        builder.owner.bind(builder.text(node))
    return False


def parameter_list(builder: Builder, node: Node) -> bool:
    """A `params` array is a child of the list itself, not of a parameter."""
    builder.bind(node.child_by_field_name("name"))
    return True


def silent_first(builder: Builder, node: Node) -> bool:
    """Labels, and members named in patterns and `with`: no use of a name in scope."""
    first = node.named_children[0] if node.named_child_count else None
    if first is not None and first.type == "identifier":
        last = node.named_children[-1]
        if node.type != "subpattern" or last != first:
            builder.defined.add(first.start_byte)
    return True
