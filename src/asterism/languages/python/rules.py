"""Python: functions, classes, assignments, patterns; what binds a name and what uses one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.language import Language, Rule
from asterism.analysis.syntax.rules import binds, binds_children, children_of, value_cut
from asterism.analysis.syntax.text import Conventions, first_named
from asterism.languages.python import modules
from asterism.languages.python.modules import docstring, documentation, lone_string

if TYPE_CHECKING:
    from tree_sitter import Node

_QUOTE = re.compile(rb"[ \t]*[rRuU]?[\"']")
_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern"})


def _function(builder: Builder, node: Node) -> bool:
    if node.start_byte not in builder.consumed:
        kind = "method" if builder.level is Level.TYPE else "function"
        _define(builder, node, node, kind)
    return True


def _class(builder: Builder, node: Node) -> bool:
    if node.start_byte not in builder.consumed:
        _define(builder, node, node, "class")
    return True


def _decorated(builder: Builder, node: Node) -> bool:
    """Defined here rather than one node further in, so that what a decorator uses, it uses too."""
    inner = node.child_by_field_name("definition")
    if inner is None:
        return True
    builder.consumed.add(inner.start_byte)
    decorators = list(children_of(node, "decorator"))
    if inner.type == "class_definition":
        kind = "class"
    else:
        kind = "method" if builder.level is Level.TYPE else "function"
    _define(builder, node, inner, kind, decorators)
    return True


def _define(
    builder: Builder, whole: Node, node: Node, kind: str, decorators: list[Node] | None = None
) -> None:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or name.is_missing:
        return
    is_async = builder.source.startswith(b"async", node.start_byte)
    draft = builder.define(
        whole,
        kind,
        builder.text(name),
        name_node=name,
        body=body,
        level=Level.TYPE if kind == "class" else Level.FUNCTION,
        modifiers=("async",) if is_async else (),
        decorators=decorators or (),
        signature_end=_colon(node) if node.has_error else None,
    )
    if body is not None:
        draft.doc = docstring(body) or _comment_doc(draft)
    _join_lines(builder, draft, whole)
    parameters = node.child_by_field_name("type_parameters")
    if parameters is not None:
        _bind_type_parameters(builder, parameters)
    elif body is not None and kind != "class":
        # Defaults and annotations are looked up outside: `def f(os=os)` uses the module.
        draft.bound_from = body.start_byte


def _join_lines(builder: Builder, draft: Draft, node: Node) -> None:
    """A backslash that continues a line is no part of the signature."""
    joined = " \\ " in draft.signature
    if joined and builder.source.find(b"\\\n", node.start_byte, node.end_byte) >= 0:
        draft.signature = draft.signature.replace(" \\ ", " ")


def _colon(node: Node) -> int | None:
    """Where the header of a damaged definition ends; what follows may not have become a body."""
    return next((child.start_byte for child in node.children if child.type == ":"), None)


def _type_alias(builder: Builder, node: Node) -> bool:
    """`type Pair[T] = tuple[T, T]`."""
    name = node.child_by_field_name("left")
    parameters = None
    while name is not None and name.type != "identifier":
        if name.type == "generic_type":
            parameters = next(children_of(name, "type_parameter"), None)
        name = first_named(name)
    if name is None or name.is_missing:
        return True
    if builder.level is Level.FUNCTION:
        builder.bind(name)
    else:
        builder.define(node, "type", builder.text(name), name_node=name)
    _bind_type_parameters(builder, parameters)
    return True


def _bind_type_parameters(builder: Builder, parameters: Node | None) -> None:
    """`[T: Bound, *Ts, **P]`: the first name of each; bounds are uses."""
    for parameter in parameters.named_children if parameters is not None else ():
        name: Node | None = parameter
        while name is not None and name.type != "identifier":
            name = first_named(name)
        builder.bind(name)


def _statement(builder: Builder, node: Node) -> bool:
    """A statement: an assignment widens to it; a lone string documents what stands before it."""
    inner = first_named(node)
    if inner is None:
        return True
    kind = inner.type
    if kind == "assignment":
        if builder.level is Level.FUNCTION:
            _bind_targets(builder, inner)
        else:
            modules.read_all(builder, node, inner)
            _define_targets(builder, node, inner)
    elif kind == "string" or kind == "concatenated_string":
        if builder.at_statement and lone_string(node) is not None and _documents(builder, node):
            builder.root_item(node, "docstring")
    elif kind == "augmented_assignment" or kind == "call":
        modules.read_all(builder, node, inner)
    return True


def _documents(builder: Builder, node: Node) -> bool:
    """Whether a string is the module's docstring or that of the variable on the line above."""
    last = builder.drafts[-1] if builder.drafts else None
    return last is None or (last.kind == "variable" and last.end_row + 1 == node.start_point[0])


def _define_targets(builder: Builder, node: Node, inner: Node) -> None:
    """One symbol per name bound: `x: int = 1`, `a = b = 0`, `first, *rest = items`."""
    names = [name for name in _targets(inner) if not name.is_missing]
    if not names:
        return
    kind = "property" if builder.level is Level.TYPE else "variable"
    end = value_cut(node, inner.child_by_field_name("right"))
    doc = _attribute_doc(builder, node)
    for name in names:
        draft = builder.define(
            node,
            kind,
            builder.text(name),
            name_node=name,
            signature_end=end,
            opens=name is names[-1],
        )
        draft.doc = doc or _comment_doc(draft)
        _join_lines(builder, draft, node)


def _comment_doc(draft: Draft) -> str | None:
    """What `#:` comments above said; their colon is part of the marker."""
    if draft.doc is None:
        return None
    lines = (line.removeprefix(":").strip() for line in draft.doc.split("\n"))
    return "\n".join(lines).strip() or None


def _attribute_doc(builder: Builder, node: Node) -> str | None:
    """A string on the line after an attribute documents it, as Sphinx reads it."""
    source = builder.source
    # Asking the tree for a sibling is slow; most attributes have no quote on the next line.
    if not _QUOTE.match(source, source.find(b"\n", node.end_byte) + 1):
        return None
    following = node.next_named_sibling
    while following is not None and following.type == "comment":
        following = following.next_named_sibling
    literal = lone_string(following)
    if literal is None or literal.start_point[0] != node.end_point[0] + 1:
        return None
    return documentation(literal)


def _targets(assignment: Node) -> Iterator[Node]:
    """The plain names an assignment binds, through chains and tuples, in source order."""
    here: Node | None = assignment
    while here is not None and here.type == "assignment":
        left = here.child_by_field_name("left")
        pending = [] if left is None else [left]
        while pending:
            node = pending.pop()
            if node.type == "identifier":
                yield node
            elif node.type in _PATTERNS:
                pending.extend(node.named_children[::-1])
        here = here.child_by_field_name("right")


def _bind_targets(builder: Builder, assignment: Node) -> None:
    """Inside a function an assignment binds locals, unless it has said `global`."""
    draft = builder.owner
    others = draft.outer if draft is not None else ()
    for name in _targets(assignment):
        if not others or builder.text(name) not in others:
            builder.bind(name)


def _global(builder: Builder, node: Node) -> bool:
    """`global x` uses nothing, and makes what follows in the function use the outer `x`."""
    names = set()
    for child in node.named_children:
        builder.defined.add(child.start_byte)
        names.add(builder.text(child))
    draft = builder.owner
    if draft is not None and builder.level is Level.FUNCTION:
        draft.outer = draft.outer | names
    return True


def _for(builder: Builder, node: Node) -> bool:
    """A loop at the top is an item before it binds, so that its variable is the loop's."""
    if builder.at_statement:
        builder.root_item(node, "control")
    builder.bind(node.child_by_field_name("left"))
    return True


def _walrus(builder: Builder, node: Node) -> bool:
    """`(x := 1)`; but `f"{x:=10}"` is a use of `x`, which the grammar takes for the same."""
    if node.parent is None or node.parent.type != "interpolation":
        builder.bind(node.child_by_field_name("name"))
    return True


def _string(builder: Builder, node: Node) -> bool:
    """Only a string with a prefix can be formatted; the parts of all others hold nothing."""
    return not builder.source.startswith((b'"', b"'"), node.start_byte)


def _keyword(builder: Builder, node: Node) -> bool:
    """The word before `=` in a call or pattern uses nothing here."""
    builder.defined.add(node.start_byte)
    return True


def _class_pattern(builder: Builder, node: Node) -> bool:
    """`case Point(x=0)`: the class is used; a lone name elsewhere in a pattern is bound."""
    builder.consumed.add(node.start_byte)
    return True


def _dotted_pattern(builder: Builder, node: Node) -> bool:
    """`case Colour.RED` compares with a member, `case colour` binds a name."""
    names = node.named_children
    if len(names) == 1 and node.start_byte not in builder.consumed:
        builder.bind(names[0])
    for name in names[1:]:
        receiver = builder.source[node.start_byte : name.start_byte].rstrip(b". \t")
        builder.receivers[name.start_byte] = receiver.decode("utf-8", "replace")
    return True


def _as_pattern(builder: Builder, node: Node) -> bool:
    """`case str() as text`; in `with` and `except` the name has a node of its own."""
    last = node.named_children[-1:]
    if last and last[0].type == "identifier":
        builder.bind(last[0])
    return True


def _parameters(builder: Builder, node: Node) -> bool:
    """Bare parameters; those with a type or default have a node of their own."""
    for child in node.named_children:
        # Python 2 could unpack in place: `def distance((x, y)):`.
        if child.type == "identifier" or child.type == "tuple_pattern":
            builder.bind(child)
    return True


def _alias(builder: Builder, node: Node) -> bool:
    builder.bind(node)
    return True


CONVENTIONS = Conventions(
    identifiers=frozenset({"identifier"}),
    comments=frozenset({"comment"}),
    skipped=frozenset({"integer", "float", "string_content", "escape_sequence"}),
    members={"attribute": ("object", "attribute")},
    statements={
        "if_statement": "control",
        "for_statement": "control",
        "while_statement": "control",
        "try_statement": "control",
        "with_statement": "control",
        "match_statement": "control",
        "raise_statement": "control",
        "assert_statement": "expression",
    },
    pattern_stops=frozenset({"type", "attribute", "subscript"}),
    doc_prefixes=("#:",),
    line_comment="#",
    terminators=(":", ";"),
)

RULES: dict[str, Rule] = {
    "function_definition": _function,
    "class_definition": _class,
    "decorated_definition": _decorated,
    "type_alias_statement": _type_alias,
    "expression_statement": _statement,
    "string": _string,
    "named_expression": _walrus,
    "import_statement": modules.import_statement,
    "import_from_statement": modules.from_import,
    "future_import_statement": modules.from_import,
    "call": modules.call,
    "global_statement": _global,
    "nonlocal_statement": _global,
    "parameters": _parameters,
    "lambda_parameters": _parameters,
    "typed_parameter": binds_children,
    "default_parameter": binds("name"),
    "typed_default_parameter": binds("name"),
    "list_splat_pattern": binds_children,
    "dictionary_splat_pattern": binds_children,
    "for_statement": _for,
    "for_in_clause": binds("left"),
    "as_pattern_target": _alias,
    "as_pattern": _as_pattern,
    "keyword_argument": _keyword,
    "keyword_pattern": _keyword,
    "class_pattern": _class_pattern,
    "dotted_name": _dotted_pattern,
    "splat_pattern": binds_children,
}

PYTHON = Language(
    "python",
    ("tree_sitter_python", "language"),
    CONVENTIONS,
    RULES,
    modules.exported,
    modules.finish,
)
