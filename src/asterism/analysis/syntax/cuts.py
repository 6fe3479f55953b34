"""Parts of a file with just enough around them to be valid source: the syntax tree, pruned."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from asterism.analysis.syntax.language import detect, ended, entry_of, has_grammar, table_of
from asterism.analysis.syntax.problems import problems_in
from asterism.types.outline import Outline, Problem, Span

if TYPE_CHECKING:
    from tree_sitter import Node

# Deeper than people write; what stands further in is kept whole instead of pruned.
DEPTH_LIMIT = 200


class SourcePiece(NamedTuple):
    """A stretch of the source that stays."""

    start: int
    end: int
    opens_tight: bool
    """It begins with a head or an end, which no blank line sets off from what it encloses."""
    ends_tight: bool


class Pruning:
    """One file's tree, for what stays of it when only some spans are wanted."""

    def __init__(self, outline: Outline, source: bytes) -> None:
        self._source = source
        self._root = _root(outline, source)

    def prune(self, keep: Sequence[Span]) -> list[SourcePiece]:
        """The wanted spans, and the heads around them.

        A node that is wanted in part keeps its own words and punctuation. If it is a list of
        members or statements, those that are not wanted go. Of a language without a
        grammar the spans alone stay.
        """
        root, source = self._root, self._source
        if root is None:
            return [SourcePiece(span.start, span.end, False, False) for span in _merged(keep)]
        begins = [_declaration_start(root, source, span) for span in keep]
        declared = [Span(start, span.end) for start, span in zip(begins, keep, strict=True)]
        above = [Span(span.start, start) for start, span in zip(begins, keep, strict=True)]
        pruner = _Pruner(source, _merged(declared))
        pruner.part(root, 0)
        return _with_remarks(source, pruner.pieces, _merged(above))

    def member(self, offset: int) -> Span:
        """The smallest member of a list that holds an offset; no less of it can be shown."""
        node = self._root
        found = Span(offset, offset)
        while node is not None:
            lists = node.parent is None or _is_list(node)
            node = next(
                (child for child in node.children if child.start_byte <= offset < child.end_byte),
                None,
            )
            if lists and node is not None and node.is_named:
                found = Span(node.start_byte, self._code_end(node))
        return found

    def _code_end(self, node: Node) -> int:
        """Where a node ends, comments aside that only follow it."""
        last = node
        while last.children:
            code = [child for child in last.children if not _is_comment(child)]
            if not code:
                break
            last = code[-1]
        return last.end_byte


def problems_of(outline: Outline, text: bytes) -> tuple[Problem, ...]:
    """Where a text is not valid in the language of a file that it is a part of.

    Nothing for a language without a grammar.
    """
    root = _root(outline, text)
    return problems_in(root, ended(text)) if root is not None and root.has_error else ()


def _root(outline: Outline, text: bytes) -> Node | None:
    entry = detect(outline.path)
    if entry.language != outline.language:
        # A part of a `.h` file or of a script may lack what told the language of the whole.
        entry = entry_of(outline.language)
    if not has_grammar(entry):
        return None
    tree = table_of(entry).parse(ended(text))
    return None if tree is None else tree.root_node


def _declaration_start(root: Node, source: bytes, span: Span) -> int:
    """Where a span begins behind the comments above it.

    They are put before the declaration by their place in the text, not in the tree: some grammars
    count a comment to what ends above it.
    """
    start = span.start
    while start < span.end:
        node = root.descendant_for_byte_range(start, start + 1)
        if node is not None and node.parent is not None and not _is_comment(node):
            # Some grammars have leaves inside of comments.
            node = node.parent
        if node is None or not _is_comment(node):
            return start
        while node.parent is not None and _is_comment(node.parent):
            node = node.parent
        start = node.end_byte
        while start < span.end and source[start : start + 1].isspace():
            start += 1
    return span.start


def _with_remarks(
    source: bytes, pieces: list[SourcePiece], remarks: Sequence[Span]
) -> list[SourcePiece]:
    """The pieces with the comments that stand above them, where no piece holds these already."""
    found = list(pieces)
    for remark in remarks:
        at = bisect_right(pieces, remark.start, key=lambda piece: piece.start)
        if at == 0 or pieces[at - 1].end < remark.end:
            end = remark.start + len(source[remark.start : remark.end].rstrip())
            found.append(SourcePiece(remark.start, end, False, False))
    return sorted(found)


def _begins_a_line(children: Sequence[Node], at: int) -> bool:
    return at > 0 and children[at].start_point.row > children[at - 1].end_point.row


def _merged(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        elif span.end > span.start:
            merged.append(span)
    return merged


class _Pruner:
    """One walk over a tree, only as deep as what encloses a wanted span."""

    def __init__(self, source: bytes, wanted: Sequence[Span]) -> None:
        self.pieces: list[SourcePiece] = []
        self._source = source
        self._starts = [span.start for span in wanted]
        self._ends = [span.end for span in wanted]
        self._broken = True

    def part(self, node: Node, depth: int) -> None:
        """Emit what stays of a node that is wanted in part."""
        children = node.children
        lists = node.parent is None or _is_list(node)
        if not children or depth > DEPTH_LIMIT or _counts(node):
            self._emit(node, False)
            return
        stays = self._staying(node, children, lists)
        for child, stay in zip(children, stays, strict=True):
            if not stay:
                self._broken = True
            elif self._whole(child):
                self._emit(child, not (lists and child.is_named))
            elif self._touched(child):
                self._member(child, depth + 1, lists and child.is_named)
            else:
                self._emit(child, not (lists and _is_company(child)))

    def _member(self, node: Node, depth: int, apart: bool) -> None:
        """Emit a part; what is a member by itself may have blank lines before and behind it."""
        first = len(self.pieces) if self._broken else None
        self.part(node, depth)
        if apart and self.pieces:
            self.pieces[-1] = self.pieces[-1]._replace(ends_tight=False)
            if first is not None and first < len(self.pieces):
                self.pieces[first] = self.pieces[first]._replace(opens_tight=False)

    def _staying(self, node: Node, children: Sequence[Node], lists: bool) -> list[bool]:
        touched = [self._touched(child) for child in children]
        if lists or _is_shell(node):
            return _staying(node, children, touched)
        others = {child.id for child in node.children_by_field_name("alternative")}
        stays = [True] * len(children)
        for at, child in enumerate(children):
            if _is_comment(child) and not touched[at] and _begins_a_line(children, at):
                # It is about the first member, and some grammars count it to the head.
                stays[at] = False
            if child.id in others and not touched[at]:
                # Where the grammar has no clause for it, the `else` stands before it.
                stays[at] = False
                stays[at - 1] = stays[at - 1] and children[at - 1].is_named
        return stays

    def _touched(self, node: Node) -> bool:
        at = bisect_right(self._ends, node.start_byte)
        return at < len(self._starts) and self._starts[at] < node.end_byte

    def _whole(self, node: Node) -> bool:
        at = bisect_right(self._ends, node.start_byte)
        if at >= len(self._starts) or self._starts[at] > node.start_byte:
            return False
        return self._ends[at] >= self._end(node)

    def _end(self, node: Node) -> int:
        """Where a node's text ends; some grammars count the line end in."""
        text = self._source[node.start_byte : node.end_byte]
        return node.start_byte + len(text.rstrip())

    def _emit(self, node: Node, tight: bool) -> None:
        end = self._end(node)
        if end == node.start_byte:
            return
        if self._broken or not self.pieces:
            self.pieces.append(SourcePiece(node.start_byte, end, tight, tight))
        else:
            last = self.pieces[-1]
            self.pieces[-1] = SourcePiece(last.start, end, last.opens_tight, tight)
        self._broken = False


# What is not wanted in one of these can go. Their names say it in every grammar, so one list
# serves all of them.
_BLOCKS = frozenset(
    {
        *("block", "body", "body_statement", "class_body", "class_declarations"),
        *("compound_statement", "const_declaration", "declaration_list", "declarations"),
        *("do_block", "else_block", "enum_body", "enum_body_declarations", "enum_class_body"),
        *("enum_declaration", "enum_declaration_list", "enum_member_declaration_list"),
        *("enum_variant_list", "enumerator_list", "field_declaration_list", "import_spec_list"),
        *("imports", "indented_block", "instance_declarations", "interface_body"),
        *("interface_type", "local_binds", "object", "object_type", "opaque_declaration"),
        *("preproc_elif", "preproc_else", "preproc_if", "preproc_ifdef", "protocol_body"),
        *("statement_block", "statement_list", "statements", "struct_declaration"),
        *("table_constructor", "template_body", "then", "type_declaration", "union_declaration"),
        "var_spec_list",
    }
)

_HEAD_FIELDS = ("condition", "name", "type", "source")
"""The parts of a list's head, which are not its members."""
_ATTRIBUTES = frozenset({"attribute_item", "inner_attribute_item"})
"""What stands before a declaration as a sibling and belongs to it."""
_LABEL = "access_specifier"
_OPENERS = frozenset({"{", "("})
_SEPARATORS = frozenset({",", ";"})
_NOTHING = "empty_statement"
"""A semicolon that a grammar does not count to the statement before it."""
_FOLLOWERS = _SEPARATORS | {":", "&"}


def _staying(node: Node, children: Sequence[Node], touched: Sequence[bool]) -> list[bool]:
    """Which children of a list stay: the wanted, the list's own words, and what goes with them."""
    if _is_shell(node):
        stays = [
            hit or child.type in _SEPARATORS for child, hit in zip(children, touched, strict=True)
        ]
    else:
        fields = (node.children_by_field_name(field) for field in _HEAD_FIELDS)
        heads = {child.id for found in fields for child in found}
        brackets = [index for index, child in enumerate(children) if child.type in _OPENERS]
        # `enum(u8) {` has two, and the list is in the last.
        opener = max(brackets, default=-1)
        stays = [
            hit or not child.is_named or index < opener or child.id in heads
            for index, (child, hit) in enumerate(zip(children, touched, strict=True))
        ]
    _with_company(node, children, touched, stays)
    return stays


def _is_comment(node: Node) -> bool:
    """Whether a node is a comment."""
    return "comment" in node.type or "haddock" in node.type


def _with_company(
    node: Node, children: Sequence[Node], touched: Sequence[bool], stays: list[bool]
) -> None:
    """Let go and stay together what belongs together: separators, labels, attributes, remarks."""
    label = None
    for index, child in enumerate(children):
        before = index - 1
        if child.type == _LABEL:
            label = index
        elif touched[index] and label is not None:
            stays[label] = stays[label + 1] = True
            label = None
        if child.type == _NOTHING and before >= 0:
            stays[index] = touched[index] or stays[before]
        elif child.type in _FOLLOWERS and before >= 0 and not stays[before]:
            # In Kotlin a semicolon divides the values of an enumeration from its members.
            divides = child.type == ";" and node.type == "enum_class_body"
            stays[index] = divides and any(touched[index:])
        elif _is_comment(child) and not touched[index] and before >= 0:
            same_row = child.start_point[0] == children[before].end_point[0]
            stays[index] = same_row and stays[before] and not _is_shell(children[before])
    for index in range(len(children) - 2, -1, -1):
        if (
            children[index].type in _ATTRIBUTES
            and stays[index + 1]
            and children[index + 1].is_named
        ):
            stays[index] = True


def _is_list(node: Node) -> bool:
    """Whether the node lists members; a declaration only does where its bracket is its own."""
    if node.type not in _BLOCKS:
        return False
    own_bracket = any(child.type in _OPENERS for child in node.children)
    return own_bracket or not node.type.endswith("_declaration")


def _counts(node: Node) -> bool:
    """Whether members say their value by their place, as Go's constants with `iota` do."""
    return node.type == "const_declaration" and b"iota" in (node.text or b"")


def _is_company(node: Node) -> bool:
    """Whether a node stands with a member without being one."""
    return (
        node.type in _SEPARATORS
        or node.type in _ATTRIBUTES
        or node.type == _LABEL
        or _is_comment(node)
    )


def _is_shell(node: Node) -> bool:
    """Whether a C header wraps itself in this, which says nothing about what is inside.

    The guard against a second inclusion, and `extern "C"` for compilers of C++, which ends in
    another `#ifdef` and therefore cannot be shown in part.
    """
    if node.type in ("linkage_specification", "declaration_list"):
        return node.parent is not None and _is_shell(node.parent)
    if node.type != "preproc_ifdef":
        return False
    name = node.child_by_field_name("name")
    if name is None or name.text == b"__cplusplus":
        return True
    first = next((child for child in node.named_children if child != name), None)
    defined = first.child_by_field_name("name") if first is not None else None
    return node.children[0].type == "#ifndef" and defined is not None and name.text == defined.text
