"""HCL: blocks by their labels, locals, and addresses such as `var.size` as uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import child_of, children_of
from asterism.analysis.syntax.text import Conventions, clean_docstring
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node

# The kind of what a block declares, and what its address begins with.
_DECLARES = {
    "variable": ("variable", ("var",)),
    "output": ("property", ()),
    "module": ("module", ("module",)),
    "data": ("resource", ("data",)),
    "resource": ("resource", ()),
    "ephemeral": ("resource", ("ephemeral",)),
}
# Blocks that configure something and declare nothing that has an address.
_SETTINGS = frozenset({"provider", "backend"})
# What other modules set and read: variables and outputs.
_PUBLIC = frozenset({"variable", "property"})
# Steps of an address behind these words; a resource has one behind its type.
_STEPS = {"var": 1, "local": 1, "module": 2, "data": 2, "ephemeral": 2}
# First words of what no block declares.
_GIVEN = frozenset({"each", "count", "self", "path", "terraform"})
_LOCALS = "locals"
# The body of the file, a block in it, and the body of that.
_IN_BLOCK = 3

_body = child_of("body")
_identifier = child_of("identifier")


def _whole(builder: Builder, _node: Node) -> bool:
    """The body of the file only groups what is in it."""
    if not builder.ancestors:
        builder.transparent()
    return True


def _block(builder: Builder, node: Node) -> bool:
    """A block at the top is a symbol under its labels; one inside belongs to what is around it."""
    if not builder.at_statement:
        return True
    word, *labels = _words(builder, node)
    if not labels or word in _SETTINGS:
        builder.root_item(node, "directive", " ".join((word, *labels)))
        return True
    kind, before = _DECLARES.get(word, ("resource", (word,)))
    opening, body = child_of("block_start")(node), _body(node)
    draft = builder.define(
        node,
        kind,
        labels[-1],
        name_node=list(children_of(node, "string_lit", "identifier"))[-1],
        body=body,
        owner=(*before, *labels[:-1]),
        signature_end=opening.start_byte if opening is not None else None,
    )
    if body is not None:
        _describe(builder, draft, body)
    return True


def _words(builder: Builder, node: Node) -> list[str]:
    """The word and the labels of a block."""
    return [
        builder.text(child).strip('"') or "(unnamed)"
        for child in children_of(node, "identifier", "string_lit")
    ]


def _describe(builder: Builder, draft: Draft, body: Node) -> None:
    """The attributes that say what a block is: its description, and where a module is."""
    for attribute in children_of(body, "attribute"):
        name = _identifier(attribute)
        key = builder.text(name) if name is not None else ""
        text = builder.text(attribute.named_children[-1])
        is_plain = text.startswith('"') and "${" not in text
        if key == "description" and is_plain:
            draft.doc = draft.doc or clean_docstring(text)
        elif key == "source" and is_plain and draft.kind == "module":
            whole = ImportedName("*", f"module.{draft.name}")
            builder.add_import(attribute, text.strip('"'), [whole])


def _attribute(builder: Builder, node: Node) -> bool:
    """A local is a constant; a value at the top, as in `.tfvars`, is given to a variable."""
    name = _identifier(node)
    if name is None or name.is_missing:
        return True
    if not builder.at_statement and _is_local(builder):
        builder.define(
            node,
            "const",
            builder.text(name),
            name_node=name,
            owner=("local",),
            level=Level.FUNCTION,
        )
    elif builder.at_statement:
        builder.root_item(node, "expression", builder.text(name))
        builder.mention(builder.text(name), name.start_byte, "var")
    return True


def _is_local(builder: Builder) -> bool:
    if len(builder.ancestors) != _IN_BLOCK:
        return False
    word = _identifier(builder.ancestors[1])
    return word is not None and builder.text(word) == _LOCALS


def _expression(builder: Builder, node: Node) -> bool:
    """`aws_vpc.main.id`: the address is a use, what follows it belongs to a provider."""
    first = child_of("variable_expr")(node)
    if first is None:
        return True
    names = [first]
    for child in node.named_children[1:]:
        if child.type != "get_attr":
            break
        names.append(child)
    places = [found for name in names if (found := _identifier(name)) is not None]
    words = [builder.text(place) for place in places]
    steps = _STEPS.get(words[0]) if words else None
    if words and steps is None and words[0] not in _GIVEN and "_" in words[0]:
        steps = 1
    if steps is not None and len(words) > 1:
        shown = range(1, steps + 1) if words[0] == "module" else (steps,)
        for at in shown:
            if at < len(words):
                builder.mention(words[at], places[at].start_byte, ".".join(words[:at]))
    return True


def _exported(draft: Draft, _builder: Builder) -> bool:
    """Variables are set and outputs read by other modules."""
    return draft.kind in _PUBLIC


def _finish(builder: Builder) -> None:
    for draft in builder.drafts:
        if _exported(draft, builder):
            builder.declare_export(draft.name, draft)


CONVENTIONS = Conventions(
    identifiers=frozenset(),
    skipped=frozenset({"template_literal", "numeric_lit", "string_lit"}),
    doc_prefixes=("",),
    line_comment="#",
    terminators=("{", "="),
)

RULES: dict[str, Rule] = {
    "body": _whole,
    "block": _block,
    "attribute": _attribute,
    "expression": _expression,
}

HCL = Language("hcl", ("tree_sitter_hcl", "language"), CONVENTIONS, RULES, _exported, _finish)
