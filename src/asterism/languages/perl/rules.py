"""Perl: packages, functions, variables with their signs, imports, attributes, callbacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import child_of, definition, value_cut
from asterism.analysis.syntax.text import Conventions, fold
from asterism.languages.shared import callback_name, declare_exports, is_local, spans_lines
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node

_SIGNS = {"scalar": "$", "array": "@", "hash": "%"}
_CALLS = frozenset({"function_call_expression", "ambiguous_function_call_expression"})
_SCOPES = frozenset({"my", "our", "state", "local"})
_BASES = frozenset({"parent", "base"})


def _package(builder: Builder, node: Node) -> bool:
    """`package X;` names what follows; `package X { … }` holds it."""
    name = node.child_by_field_name("name")
    if name is None:
        return True
    builder.defined.add(name.start_byte)
    body = child_of("block")(node)
    if body is None:
        if builder.at_statement:
            builder.root_item(node, "package", fold(f"package:{builder.text(name)}"))
        return False
    builder.define(node, "module", builder.text(name), name_node=name, body=body, level=Level.TYPE)
    return True


def _use(builder: Builder, node: Node) -> bool:
    """`use X qw(a b)`, `use parent 'X'`, `use constant A => 1`, `no X`."""
    name = node.child_by_field_name("module")
    if name is None:
        return True
    module = builder.text(name)
    builder.defined.add(name.start_byte)
    if module == "constant" and _constants(builder, node):
        return True
    if builder.at_statement:
        builder.root_item(node, "import", fold(f"import:{module}"))
    words = [word for word in _words(builder, node) if word[:1].isalnum() or word[:1] in "_$@%&"]
    if module in _BASES:
        for word in words:
            builder.add_import(node, word, [ImportedName("*", word)])
    else:
        names = [ImportedName(word.lstrip("&")) for word in words]
        builder.add_import(node, module, [*names, ImportedName("*", module)])
    return False


def _words(builder: Builder, node: Node) -> Iterator[str]:
    """The words of `qw(a b)` and of quoted strings in a statement."""
    pending = list(node.named_children)
    while pending:
        here = pending.pop(0)
        if here.type in ("string_literal", "quoted_word_list", "interpolated_string_literal"):
            content = builder.field_text(here, "content") or ""
            yield from content.split() if here.type == "quoted_word_list" else (content,)
        elif here.type == "list_expression":
            pending[:0] = here.named_children


def _constants(builder: Builder, node: Node) -> bool:
    """`use constant A => 1` and `use constant { A => 1, B => 2 }`."""
    group = child_of("anonymous_hash_expression")(node)
    pairs = child_of("list_expression")(group or node)
    if pairs is None:
        return False
    parts = [part for part in pairs.named_children if part.type != "comment"]
    names = parts[::2] if group is not None else parts[:1]
    found = [name for name in names if name.type == "autoquoted_bareword"]
    for name in found:
        builder.define(
            node,
            "const",
            builder.text(name),
            name_node=name,
            signature_end=value_cut(node, pairs),
            opens=name == found[-1],
        )
    return bool(found)


def _require(builder: Builder, node: Node) -> bool:
    """`require X` and `require 'x.pl'`."""
    for child in node.named_children:
        if child.type in ("bareword", "package", "string_literal"):
            module = builder.text(child).strip("'\"")
            builder.defined.add(child.start_byte)
            builder.add_import(
                node, module, [ImportedName("*", module)], dynamic=builder.level is Level.FUNCTION
            )
            return False
    return True


def _statement(builder: Builder, node: Node) -> bool:
    """A top-level `require` is an import, `has x => …` an attribute of the class."""
    first = node.named_children[0] if node.named_child_count else None
    if first is None:
        builder.claimed = builder.claimed or not node.named_child_count
        return True
    if first.type == "require_expression" and builder.at_statement:
        builder.root_item(node, "import", fold(f"import:{builder.text(first)[8:].strip()}"))
    elif first.type in _CALLS and builder.field_text(first, "function") == "has":
        return _attribute(builder, node, first)
    elif first.type in ("assignment_expression", "variable_declaration"):
        return _variables(builder, node, first)
    return True


def _attribute(builder: Builder, node: Node, call: Node) -> bool:
    """`has name => (is => 'ro')` and `has [qw(name size)]`."""
    arguments = call.child_by_field_name("arguments")
    first = arguments
    if arguments is not None and arguments.type == "list_expression":
        first = arguments.named_children[0] if arguments.named_child_count else None
    if first is None or builder.level is Level.FUNCTION:
        return True
    if first.type in ("autoquoted_bareword", "string_literal"):
        names = [builder.text(first).strip("'\"")]
    else:
        names = list(_words(builder, first)) if first.type == "anonymous_array_expression" else []
    for name in filter(None, names):
        builder.define(node, "property", name, name_node=first, opens=name == names[-1])
    return True


def _variables(builder: Builder, node: Node, first: Node) -> bool:
    """`our $x = 1`, `my ($a, $b)`, `my $f = sub { … }`, `*f = sub { … }`."""
    target, value = first, None
    if first.type == "assignment_expression":
        target = first.child_by_field_name("left") or first
        value = first.child_by_field_name("right")
    body = value.child_by_field_name("body") if value is not None else None
    word = target.children[0].type if target.child_count else ""
    modifiers = (word,) if word in _SCOPES else ()
    is_function = value is not None and value.type == "anonymous_subroutine_expression"
    names = list(_names(target)) if target.type == "variable_declaration" else []
    if is_function and value is not None and body is not None and spans_lines(body):
        name = names[0] if len(names) == 1 else _glob(target)
        if name is not None:
            builder.consumed.add(value.start_byte)
            text = _sign(builder, name).lstrip("*")
            builder.define(node, "function", text, name_node=name, body=body, modifiers=modifiers)
            return True
    if not builder.at_statement and builder.level is not Level.TYPE:
        return True
    for name in names:
        builder.define(
            node,
            "variable",
            _sign(builder, name),
            name_node=name,
            level=Level.FUNCTION,
            modifiers=modifiers,
            signature_end=value_cut(node, value),
            opens=name == names[-1],
        )
    return True


def _glob(target: Node) -> Node | None:
    """`*name`; in `*{"…"}` the name is computed."""
    known = target.type == "glob" and child_of("varname")(target) is not None
    return target if known else None


def _names(declaration: Node) -> Iterator[Node]:
    for child in declaration.named_children:
        if child.type in _SIGNS:
            yield child


def _sign(builder: Builder, node: Node) -> str:
    return "".join(builder.text(node).split())


def _declaration(builder: Builder, node: Node) -> bool:
    """`my $x` in code."""
    for name in _names(node):
        if name.start_byte not in builder.defined:
            builder.defined.add(name.start_byte)
            if builder.owner is not None and not builder.owner.is_root:
                builder.owner.bind(_sign(builder, name))
    return True


def _parameter(builder: Builder, node: Node) -> bool:
    return _declaration(builder, node)


def _loop(builder: Builder, node: Node) -> bool:
    name = node.child_by_field_name("variable")
    if name is not None and builder.owner is not None and not builder.owner.is_root:
        builder.defined.add(name.start_byte)
        builder.owner.bind(_sign(builder, name))
    return True


def _variable(builder: Builder, node: Node) -> bool:
    """A use of `$x`, `@x` or `%x`; `$x[0]` uses `@x` and `$x{a}` uses `%x`."""
    word = child_of("varname")(node)
    if word is None or word.named_child_count:
        # `@{$x}`: the name is computed.
        return True
    start = node.start_byte
    if start not in builder.defined:
        around = builder.parent
        sign = _SIGNS.get(node.type) or ("@" if _is_array(around) else "%")
        builder.mention(f"{sign}{builder.text(word)}", start)
    return False


def _is_array(around: Node | None) -> bool:
    return around is not None and around.type.startswith(("array", "slice"))


def _function_name(builder: Builder, node: Node) -> bool:
    """A call of `f`, or of `Shop::Cart::f`."""
    text = builder.text(node).lstrip("&")
    module, joint, name = text.rpartition("::")
    if node.start_byte in builder.defined or not name:
        return False
    offset = node.end_byte - len(name.encode())
    builder.mention(name, offset, module if joint else None)
    return False


def _callback(builder: Builder, node: Node) -> bool:
    """`get '/' => sub { … }`, where the function has lines of its own."""
    body = node.child_by_field_name("body")
    if node.start_byte in builder.consumed or body is None or not spans_lines(body):
        return True
    around = [each for each in builder.ancestors[-3:] if each.type != "parenthesized_expression"]
    if not around:
        return True
    call, first = around[-1], node
    if call.type == "list_expression" and len(around) > 1:
        first, call = call.named_children[0], around[-2]
    name = call.child_by_field_name("function") or call.child_by_field_name("method")
    if name is None:
        return True
    title = ""
    if first.type == "string_literal" or first.type == "interpolated_string_literal":
        title = f'"{builder.field_text(first, "content") or ""}"'
    receiver = builder.field_text(call, "invocant") or ""
    builder.define(node, "function", callback_name(receiver, builder.text(name), title), body=body)
    return True


def _exported(draft: Draft, builder: Builder) -> bool:
    if is_local(builder, draft) or draft.name.endswith(" callback"):
        return False
    return "my" not in draft.modifiers and not draft.name.lstrip("$@%").startswith("_")


# Commands of documentation: `=head2 total`, `=cut`.
_COMMAND = re.compile(r"^=\w+.*$", re.MULTILINE)


def _finish(builder: Builder) -> None:
    for draft in builder.drafts:
        if draft.doc is not None and draft.doc.startswith("="):
            draft.doc = _COMMAND.sub("", draft.doc).strip() or None
    declare_exports(_exported)(builder)


CONVENTIONS = Conventions(
    identifiers=frozenset({"bareword", "method", "package"}),
    comments=frozenset({"comment", "pod"}),
    skipped=frozenset({"number", "string_literal", "quoted_word_list", "data_section"}),
    members={"method_call_expression": ("invocant", "method")},
    statements={
        "conditional_statement": "control",
        "for_statement": "control",
        "loop_statement": "control",
        "cstyle_for_statement": "control",
        "block_statement": "control",
        "phaser_statement": "control",
        "eof_marker": "directive",
        "data_section": "text",
    },
    doc_prefixes=("",),
    line_comment="#",
    terminators=(";",),
)

RULES: dict[str, Rule] = {
    "package_statement": _package,
    "class_statement": definition("class", body=child_of("block"), level=Level.TYPE),
    "use_statement": _use,
    "use_no_statement": _use,
    "require_expression": _require,
    "subroutine_declaration_statement": definition("function"),
    "method_declaration_statement": definition("method"),
    "expression_statement": _statement,
    "variable_declaration": _declaration,
    "mandatory_parameter": _parameter,
    "optional_parameter": _parameter,
    "slurpy_parameter": _parameter,
    "for_statement": _loop,
    **dict.fromkeys(_SIGNS, _variable),
    "container_variable": _variable,
    "slice_container_variable": _variable,
    "function": _function_name,
    "anonymous_subroutine_expression": _callback,
}

PERL = Language("perl", ("tree_sitter_perl", "language"), CONVENTIONS, RULES, _exported, _finish)
