"""C and C++ that does not parse: function heads left over in broken text, names gone astray."""

from tree_sitter import Node

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.languages.c_declarators import Declared, declared

# What may stand between the start of a broken function's head and its declarator.
_HEAD = frozenset(
    {
        "primitive_type",
        "sized_type_specifier",
        "type_identifier",
        "storage_class_specifier",
        "type_qualifier",
        "identifier",
        "*",
        "&",
    }
)
# What cannot stand in a function's body, so that the body must have ended before it.
_OUTSIDE = frozenset(
    {
        "function_definition",
        "function_declarator",
        "struct_specifier",
        "class_specifier",
        "enum_specifier",
        "namespace_definition",
        "template_declaration",
        "type_definition",
        "preproc_def",
        "preproc_function_def",
        "preproc_include",
    }
)


def function_head(builder: Builder, node: Node) -> bool:
    """`int name(…) {` whose body does not parse: a function up to where it can be told to end."""
    if builder.level is Level.FUNCTION or not _is_loose(builder):
        return True
    brace = node.next_sibling
    found = declared(builder, node)
    if brace is None or brace.type != "{" or found is None or not found.is_function:
        return True
    start, end = node, brace
    while (before := start.prev_sibling) is not None and before.type in _HEAD:
        start = before
    following = brace.next_sibling
    while following is not None and not _is_outside(following):
        end, following = following, following.next_sibling
    while following is not None and end.type in _HEAD | {"comment"}:
        # The head of the next function, or the comment above it.
        end = end.prev_sibling or brace
    _define(builder, node, found, start, end, brace)
    return True


def _is_outside(node: Node) -> bool:
    """Where braces no longer tell, the margin does: bodies are indented, save labels and `#if`."""
    if node.type in _OUTSIDE:
        return True
    at_margin = node.start_point[1] == 0 and node.is_named
    return at_margin and node.type != "labeled_statement" and not node.type.startswith("preproc_")


def initialised_head(builder: Builder, node: Node) -> bool:
    """`name(…) { … }` read as a variable with an initialiser, in text that does not parse."""
    value = node.child_by_field_name("value")
    if builder.level is Level.FUNCTION or not _is_loose(builder) or value is None:
        return True
    found = declared(builder, node)
    if found is not None and found.is_function and value.type == "initializer_list":
        before = node.prev_sibling
        start = before if before is not None and before.type in _HEAD else node
        _define(builder, node, found, start, node, value)
    return True


def _define(
    builder: Builder, node: Node, found: Declared, start: Node, end: Node, body: Node
) -> None:
    is_method = bool(found.scope) or builder.level is Level.TYPE
    draft = builder.define(
        start,
        "method" if is_method else "function",
        found.name,
        name_node=found.node,
        owner=found.scope,
        opens=False,
    )
    source = builder.source
    head = source[start.start_byte : body.start_byte].decode("utf-8", "replace")
    draft.signature = " ".join(head.split())
    builder.extend(draft, end)


def enclosing_function(builder: Builder, node: Node) -> Draft | None:
    """The broken function whose range a declaration stands in, though not in its node."""
    last = builder.drafts[-1] if builder.drafts else None
    if last is None or builder.level is not Level.MODULE or last.kind not in ("function", "method"):
        return None
    return last if last.end > node.start_byte and last.body is None else None


def swallowed(builder: Builder, node: Node) -> bool:
    """Whether the grammar, lost over a macro, took a block of other code for a function's head."""
    return any(
        child.type == "ERROR" and b"{" in builder.source[child.start_byte : child.end_byte]
        for child in node.named_children
    )


def displaced(builder: Builder, part: Node) -> Declared | None:
    """`MACRO int name;`, where the type was taken for the name and the name for an error."""
    after = part.next_sibling
    if part.named_child_count or after is None or after.type != "ERROR":
        return None
    name = after.named_children[0] if after.named_child_count == 1 else None
    return declared(builder, name) if name is not None and name.type == "identifier" else None


def _is_loose(builder: Builder) -> bool:
    """Whether the current node hangs in broken text rather than in a declaration."""
    return builder.frames[-1].depth == builder.depth - 1
