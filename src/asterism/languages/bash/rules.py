"""Bash: functions, variables, aliases, sourced files, commands as references."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import child_of, children_of, definition, value_cut
from asterism.analysis.syntax.text import Conventions, fold
from asterism.languages.shared import declare_exports
from asterism.types.outline import Export

if TYPE_CHECKING:
    from tree_sitter import Node

# A test is named by its title, cut like any other name that is a sentence.
_TITLE_LIMIT = 80
_TEST = "@test"

# Commands to the grammar, but control flow to the shell: they refer to nothing.
_JUMPS = frozenset({"return", "break", "continue", "exit"})

# What a flag of `declare` says in words.
_FLAGS = {"r": "readonly", "x": "export", "g": "global"}

_CONTROL = frozenset(
    {
        *("if_statement", "case_statement", "for_statement", "c_style_for_statement"),
        *("while_statement", "compound_statement", "subshell"),
    }
)

CONVENTIONS = Conventions(
    identifiers=frozenset({"variable_name", "command_name"}),
    comments=frozenset({"comment"}),
    skipped=frozenset({"raw_string", "ansi_c_string", "number", "heredoc_content"}),
    statements=dict.fromkeys(_CONTROL, "control"),
    doc_prefixes=("#",),
    inner_doc_prefixes=("#!",),
    line_comment="#",
    terminators=(";",),
)


def _command(builder: Builder, node: Node) -> bool:
    """A command; some of them import, define or begin a test."""
    name = node.child_by_field_name("name")
    if name is None:
        return True
    assignments = list(children_of(node, "variable_assignment"))
    if assignments and assignments[-1].end_point[0] < name.start_point[0]:
        # `a=1 b=2` on a line of their own: the grammar takes the next line's command along.
        builder.claimed = True
    else:
        # `NAME=value command`: the assignment holds for that command alone.
        builder.consumed.update(part.start_byte for part in assignments)
    word = builder.text(name)
    if name.named_child_count != 1 or name.named_children[0].type != "word":
        # A command that is computed has no name to refer to.
        builder.defined.add(name.start_byte)
    elif word in ("source", "."):
        _source(builder, node, name)
    elif word == "alias":
        _aliases(builder, node, name)
    elif word == _TEST:
        _test(builder, node, name)
    elif word == "}" or word in _JUMPS:
        builder.defined.add(name.start_byte)
    return True


def _source(builder: Builder, node: Node, name: Node) -> None:
    """`source file` and `. file`."""
    argument = node.child_by_field_name("argument")
    if argument is None:
        return
    module = _unquoted(builder.text(argument))
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{module}")
    builder.add_import(node, module)
    builder.defined.add(name.start_byte)


def _aliases(builder: Builder, node: Node, name: Node) -> None:
    """`alias ll='ls -l'`: text put in place of a word, which other languages call a macro."""
    arguments = [
        part for part in node.children_by_field_name("argument") if "=" in builder.text(part)
    ]
    if builder.level is Level.FUNCTION or not arguments:
        return
    builder.defined.add(name.start_byte)
    for argument in arguments:
        label = builder.text(argument).partition("=")[0]
        draft = builder.define(argument, "macro", label, opens=False)
        draft.signature = f"alias {draft.signature}"


def _test(builder: Builder, node: Node, name: Node) -> None:
    """`@test "title" {` of Bats: the grammar sees lines of commands up to one that is `}`."""
    arguments = node.children_by_field_name("argument")
    if not builder.at_statement or not arguments or builder.text(arguments[-1]) != "{":
        return
    builder.defined.add(name.start_byte)
    title = fold(_unquoted(builder.text(arguments[0])), _TITLE_LIMIT)
    draft = builder.define(
        node, "function", title, signature_end=arguments[-1].start_byte, opens=False
    )
    builder.extend(draft, _closing(builder, node) or node)


def _closing(builder: Builder, node: Node) -> Node | None:
    """The `}` on its own that ends a test, unless another test begins before it."""
    here = node.next_named_sibling
    while here is not None:
        if here.type == "command":
            text = builder.source[here.start_byte : here.start_byte + len(_TEST)]
            if text.startswith(b"}") and here.end_byte == here.start_byte + 1:
                return here
            if text == _TEST.encode():
                return None
        here = here.next_named_sibling
    return None


def _enclosing_test(builder: Builder, node: Node) -> Draft | None:
    """The Bats test that contains a top-level statement."""
    if not builder.at_statement or not builder.drafts:
        return None
    last = builder.drafts[-1]
    while last.parent is not None:
        last = builder.drafts[last.parent]
    is_test = last.kind == "function" and last.signature.startswith(_TEST)
    return last if is_test and last.end > node.start_byte else None


def _in_test(rule: Rule | None = None) -> Rule:
    """A statement that, inside a Bats test, belongs to the test."""

    def wrapped(builder: Builder, node: Node) -> bool:
        test = _enclosing_test(builder, node)
        if test is not None:
            builder.extend(test, node)
        return True if rule is None else rule(builder, node)

    return wrapped


def _assignment(builder: Builder, node: Node) -> bool:
    """`name=value`: a symbol at the top; in a function it sets what may be anyone's."""
    name = node.child_by_field_name("name")
    if name is None or name.type != "variable_name":
        return True
    builder.defined.add(name.start_byte)
    is_new = not any(child.type == "+=" for child in node.children)
    if node.start_byte not in builder.consumed and builder.level is Level.MODULE and is_new:
        _define_variable(builder, node, node, ())
    return True


def _assignments(builder: Builder, _node: Node) -> bool:
    """`a=1 b=2`: each speaks for itself."""
    builder.claimed = True
    return True


def _declaration(builder: Builder, node: Node) -> bool:
    """`declare`, `local`, `export`, `readonly`, `typeset`, with or without values."""
    parts = list(children_of(node, "variable_assignment", "variable_name"))
    keyword = node.children[0].type if node.child_count else ""
    if builder.level is Level.FUNCTION:
        for part in parts:
            name = part.child_by_field_name("name") or part
            if keyword in ("local", "declare", "typeset"):
                builder.bind(name)
            builder.consumed.add(part.start_byte)
        return True
    modifiers = list(_modifiers(builder, node, keyword))
    values = [part for part in parts if part.type == "variable_assignment"]
    builder.consumed.update(part.start_byte for part in values)
    if keyword == "export" and not values:
        if builder.at_statement:
            builder.root_item(node, "export")
        for part in parts:
            builder.add_export(builder.text(part), builder.text(part), node)
        return True
    for part in parts:
        if len(parts) == 1:
            _define_variable(builder, node, part, modifiers)
        else:
            draft = _define_variable(builder, part, part, modifiers, opens=False)
            if draft is not None:
                draft.signature = f"{_lead(builder, node, parts[0])} {draft.signature}"
    return True


def _define_variable(
    builder: Builder, node: Node, part: Node, modifiers: list[str] | tuple[()], opens: bool = True
) -> Draft | None:
    name = part.child_by_field_name("name") or part
    if name.type != "variable_name":
        return None
    draft = builder.define(
        node,
        "variable",
        builder.text(name),
        name_node=name,
        modifiers=modifiers,
        signature_end=value_cut(node, part.child_by_field_name("value")),
        opens=opens,
    )
    draft.signature = draft.signature.removesuffix("=")
    return draft


def _modifiers(builder: Builder, node: Node, keyword: str) -> Iterator[str]:
    if keyword:
        yield keyword
    for flag in children_of(node, "word"):
        text = builder.text(flag)
        if text.startswith("-"):
            yield from (_FLAGS[letter] for letter in text[1:] if letter in _FLAGS)


def _lead(builder: Builder, node: Node, first: Node) -> str:
    return fold(builder.source[node.start_byte : first.start_byte].decode("utf-8", "replace"))


def _loop(builder: Builder, node: Node) -> bool:
    builder.bind(node.child_by_field_name("variable"))
    return True


def _redirected(builder: Builder, node: Node) -> bool:
    """`… < file`: what it is depends on what is redirected."""
    body = node.child_by_field_name("body")
    if builder.at_statement and body is not None:
        if body.type == "function_definition":
            builder.wrap(node)
        elif body.type in _CONTROL:
            builder.root_item(node, "control")
    return True


def _expansion(builder: Builder, node: Node) -> bool:
    """`$1` is a position, not a name."""
    name = child_of("variable_name")(node)
    if name is not None and builder.text(name).isdigit():
        builder.defined.add(name.start_byte)
    return True


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def _exported(draft: Draft, builder: Builder) -> bool:
    """Files that source this one see what it defines, save tests and what a function defines."""
    if draft.signature.startswith(_TEST):
        return False
    while draft.parent is not None:
        draft = builder.drafts[draft.parent]
        if draft.level is Level.FUNCTION:
            return False
    return True


def _finish(builder: Builder) -> None:
    """List what can be used from outside, once each."""
    declare_exports(_exported)(builder)
    unique: dict[str, Export] = {}
    for export in builder.exports:
        unique.setdefault(export.name, export)
    builder.exports[:] = unique.values()


RULES: dict[str, Rule] = {
    "function_definition": _in_test(definition("function")),
    "variable_assignment": _in_test(_assignment),
    "variable_assignments": _in_test(_assignments),
    "declaration_command": _in_test(_declaration),
    "command": _in_test(_command),
    "for_statement": _in_test(_loop),
    "redirected_statement": _in_test(_redirected),
    "simple_expansion": _expansion,
    "expansion": _expansion,
    **dict.fromkeys(
        (
            *("if_statement", "case_statement", "c_style_for_statement", "while_statement"),
            *("compound_statement", "subshell", "list", "pipeline", "negated_command"),
            *("test_command", "unset_command"),
        ),
        _in_test(),
    ),
}

BASH = Language("bash", ("tree_sitter_bash", "language"), CONVENTIONS, RULES, _exported, _finish)
