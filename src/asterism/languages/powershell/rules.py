"""PowerShell: functions, classes, variables with their sign, commands, imports, script blocks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import child_of, children_of, skip, value_cut
from asterism.analysis.syntax.text import Conventions, clean_comment, fold
from asterism.languages.shared import callback_name, declare_exports, is_local, spans_lines
from asterism.types.outline import ImportedName, Span

if TYPE_CHECKING:
    from tree_sitter import Node

_SCOPE = re.compile(r"^(\$?\{?)(script|global|local|private|using):", re.IGNORECASE)
_NARROW = frozenset({"script", "private", "local", "hidden"})
# Set by the shell, not by the code.
_AUTOMATIC = frozenset(
    {"$_", "$this", "$true", "$false", "$null", "$args", "$input", "$PSScriptRoot", "$PSItem"}
)
_COMMAND = re.compile(r"[A-Za-z_][\w-]*")
# Nodes between a command and a block that is one of its arguments.
_STEPS_TO_COMMAND = 5
_HEADING = re.compile(r"^\s*\.(?:SYNOPSIS|DESCRIPTION)\s*$", re.MULTILINE | re.IGNORECASE)


def _plain(name: str) -> str:
    """A name without its scope and braces: `$script:x` is `$x`."""
    return _SCOPE.sub(r"\1", name).replace("{", "").replace("}", "")


def _statements(builder: Builder, _node: Node) -> bool:
    if builder.parent is None:
        builder.transparent()
    return True


def _block(node: Node) -> Span | None:
    """The braces around a body."""
    opening = next((child for child in node.children if child.type == "{"), None)
    return Span(opening.start_byte, node.end_byte) if opening is not None else None


def _define(
    builder: Builder, node: Node, kind: str, name: Node, level: Level = Level.FUNCTION
) -> Draft:
    text = builder.text(name)
    scope = _SCOPE.match(text)
    body = _block(node)
    modifiers = [builder.text(part).lower() for part in children_of(node, "class_attribute")]
    if scope is not None:
        modifiers.append(scope.group(2).lower())
    draft = builder.define(
        node,
        kind,
        _plain(text).removeprefix("$"),
        name_node=name,
        level=level,
        modifiers=modifiers,
        signature_end=body.start if body is not None else None,
    )
    draft.body = body
    return draft


def _function(builder: Builder, node: Node) -> bool:
    name = child_of("function_name")(node)
    if name is None or name.is_missing:
        return True
    draft = _define(builder, node, "function", name)
    for child in node.children:
        if child.type == "comment" and builder.text(child).startswith("<#"):
            draft.doc = clean_comment(builder.text(child)) or draft.doc
            break
    return True


def _class(builder: Builder, node: Node) -> bool:
    name = child_of("simple_name")(node)
    if name is None or name.is_missing:
        return True
    kind = "enum" if node.type == "enum_statement" else "class"
    _define(builder, node, kind, name, Level.TYPE)
    for base in list(children_of(node, "simple_name"))[1:]:
        builder.mention(builder.text(base), base.start_byte)
    return True


def _method(builder: Builder, node: Node) -> bool:
    name = child_of("simple_name")(node)
    if name is None or name.is_missing:
        return True
    owner = builder.owner
    is_made = owner is not None and owner.name == builder.text(name)
    _define(builder, node, "constructor" if is_made else "method", name)
    return True


def _property(builder: Builder, node: Node) -> bool:
    name = child_of("variable")(node)
    if name is not None:
        draft = _define(builder, node, "property", name)
        draft.body = None
        draft.signature = builder.signature(node, node.start_byte, node.end_byte)
    return True


def _member_of_enum(builder: Builder, node: Node) -> bool:
    name = child_of("simple_name")(node)
    if name is not None and not name.is_missing:
        builder.define(node, "enum_member", builder.text(name), name_node=name)
    return True


def _pipeline(builder: Builder, node: Node) -> bool:
    """A statement: an import, a variable of the script, or anything else."""
    first = node.named_children[0] if node.named_child_count else None
    if first is None:
        return True
    if first.type == "assignment_expression":
        return _assignment(builder, node, first)
    command = first.named_children[0] if first.named_child_count else None
    if first.type == "pipeline_chain" and command is not None and command.type == "command":
        return _import(builder, node, command)
    return True


def _assignment(builder: Builder, node: Node, assignment: Node) -> bool:
    left = child_of("left_assignment_expression")(assignment)
    name = _assigned(left) if left is not None else None
    if name is None:
        return True
    text = _plain(builder.text(name))
    if builder.at_statement:
        scope = _SCOPE.match(builder.text(name))
        builder.define(
            node,
            "variable",
            text,
            name_node=name,
            modifiers=(scope.group(2).lower(),) if scope is not None else (),
            signature_end=value_cut(node, assignment.child_by_field_name("value")),
        )
    else:
        _bind(builder, name)
    return True


def _assigned(left: Node) -> Node | None:
    """`$x` or `[int]$x`; in `$x.y` and `$x[0]` nothing is declared."""
    here = left
    while here.named_child_count:
        if here.type in ("member_access", "element_access", "invokation_expression"):
            return None
        here = here.named_children[-1]
    return here if here.type == "variable" else None


def _bind(builder: Builder, name: Node) -> None:
    builder.defined.add(name.start_byte)
    if builder.owner is not None and not builder.owner.is_root:
        builder.owner.bind(_plain(builder.text(name)))


def _import(builder: Builder, node: Node, command: Node) -> bool:
    """`Import-Module X`, `using module X`, `. ./x.ps1`."""
    name = command.child_by_field_name("command_name")
    operator = child_of("command_invokation_operator")(command)
    if name is None:
        return True
    word = builder.text(name)
    elements = command.child_by_field_name("command_elements")
    words = [
        builder.text(part).strip("'\"")
        for part in (elements.named_children if elements is not None else ())
        if part.type not in ("command_argument_sep", "command_parameter", "comment")
    ]
    if operator is not None and builder.text(operator) == ".":
        module = word.strip("'\"")
    elif word.lower() == "import-module" and words:
        module = words[0]
    elif word.lower() == "using" and len(words) > 1:
        module = words[1]
    else:
        return True
    if builder.at_statement:
        builder.root_item(node, "import", fold(f"import:{module}"))
    builder.add_import(node, module, [ImportedName("*")], dynamic=builder.level is Level.FUNCTION)
    return False


def _command(builder: Builder, node: Node) -> bool:
    """The name of a command; the path of a program is no name."""
    text = builder.text(node)
    if _COMMAND.fullmatch(text):
        builder.mention(text, node.start_byte)
    return False


def _member(builder: Builder, node: Node) -> bool:
    """`$cart.Name`, `$cart.Add(1)`, `[Cart]::Make()`."""
    name = child_of("member_name")(node)
    word = child_of("simple_name")(name) if name is not None else None
    if word is not None:
        receiver = builder.text(node.named_children[0]).strip("[]")
        builder.mention(builder.text(word), word.start_byte, fold(receiver, 80))
    return True


def _variable(builder: Builder, node: Node) -> bool:
    name = _plain(builder.text(node))
    if node.start_byte not in builder.defined and name not in _AUTOMATIC:
        builder.mention(name, node.start_byte)
    return False


def _parameter(builder: Builder, node: Node) -> bool:
    name = child_of("variable")(node)
    if name is not None:
        _bind(builder, name)
    return True


def _callback(builder: Builder, node: Node) -> bool:
    """`Describe "cart" { … }`, where the block has lines of its own."""
    around = builder.ancestors[-_STEPS_TO_COMMAND:]
    command = next((each for each in reversed(around) if each.type == "command"), None)
    if command is None or not spans_lines(node):
        return True
    name = command.child_by_field_name("command_name")
    elements = command.child_by_field_name("command_elements")
    if name is None or elements is None:
        return True
    title = ""
    words = [part for part in elements.named_children if part.type != "command_argument_sep"]
    if words and builder.text(words[0])[:1] in "'\"":
        title = '"' + builder.text(words[0]).strip("'\"") + '"'
    draft = builder.define(
        node, "function", callback_name("", builder.text(name), title), signature_end=node.end_byte
    )
    draft.body = Span(node.start_byte, node.end_byte)
    draft.signature = fold(builder.slice(command.start_byte, node.start_byte))
    return True


def _exported(draft: Draft, builder: Builder) -> bool:
    if draft.name.endswith(" callback") or not _NARROW.isdisjoint(draft.modifiers):
        return False
    return not is_local(builder, draft)


def _finish(builder: Builder) -> None:
    for draft in builder.drafts:
        if draft.doc is not None:
            draft.doc = _HEADING.sub("", draft.doc).strip() or None
    declare_exports(_exported)(builder)


CONVENTIONS = Conventions(
    identifiers=frozenset({"type_identifier"}),
    comments=frozenset({"comment"}),
    skipped=frozenset({"verbatim_string_characters", "verbatim_here_string_characters"}),
    statements={
        "if_statement": "control",
        "foreach_statement": "control",
        "for_statement": "control",
        "while_statement": "control",
        "do_statement": "control",
        "switch_statement": "control",
        "try_statement": "control",
        "trap_statement": "control",
        "flow_control_statement": "control",
    },
    doc_prefixes=("",),
    line_comment="#",
    terminators=(";", "="),
)

RULES: dict[str, Rule] = {
    "statement_list": _statements,
    "function_statement": _function,
    "class_statement": _class,
    "enum_statement": _class,
    "enum_member": _member_of_enum,
    "class_method_definition": _method,
    "class_property_definition": _property,
    "pipeline": _pipeline,
    "command_name": _command,
    "member_access": _member,
    "invokation_expression": _member,
    "variable": _variable,
    "script_parameter": _parameter,
    "class_method_parameter": _parameter,
    "foreach_statement": _parameter,
    "script_block_expression": _callback,
    "attribute_arguments": skip,
}

POWERSHELL = Language(
    "powershell", ("tree_sitter_powershell", "language"), CONVENTIONS, RULES, _exported, _finish
)
