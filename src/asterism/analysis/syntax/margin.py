"""What stands above a declaration and belongs to it: comments, attributes, decorators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from asterism.analysis.syntax.draft import Comment, Draft, Prefix, Wrapper
from asterism.analysis.syntax.text import Conventions, attached_doc
from asterism.types.outline import Span

if TYPE_CHECKING:
    from tree_sitter import Node

_BLANK_BYTES = b" \t\n\r\f\v"
_NEWLINE = 0x0A


class Margin:
    """Comments and attributes that were read and wait for the declaration below them."""

    def __init__(self, source: bytes, conventions: Conventions) -> None:
        self._source = source
        self._conventions = conventions
        self.comments: list[Comment] = []
        self._prefixes: list[Prefix] = []
        self._asides: list[Span] = []
        """Comments behind attributes that wait: `#[test] // slow`."""

    def wait(self, prefix: Prefix) -> None:
        """Keep an attribute; those of another depth wait for nothing any more."""
        if self._prefixes and self._prefixes[-1].depth != prefix.depth:
            self._forget()
        self._prefixes.append(prefix)

    def aside(self, start: int, end: int) -> None:
        """Note a comment behind code, in case that code is an attribute."""
        if self._prefixes:
            self._asides.append(Span(start, end))

    def place(self, draft: Draft, node: Node, wrapper: Wrapper | None, depth: int) -> None:
        """Set where the item starts and ends, with its wrapper and its attributes."""
        source = self._source
        start, end = node.start_byte, node.end_byte
        start_row, end_row = node.start_point[0], node.end_point[0]
        outer = depth
        if wrapper is not None and wrapper.widens:
            outer = wrapper.depth
            if wrapper.start < start:
                start_row -= source.count(b"\n", wrapper.start, start)
                start = wrapper.start
            if wrapper.end > end:
                end_row += source.count(b"\n", end, wrapper.end)
                end = wrapper.end
        while end > start and source[end - 1] in _BLANK_BYTES:
            end -= 1
            end_row -= source[end] == _NEWLINE
        if self._prefixes:
            if outer <= self._prefixes[0].depth <= depth and self._adjoins(start):
                first = self._prefixes[0].node
                draft.attributes = Span(first.start_byte, start)
                start, start_row = first.start_byte, first.start_point[0]
                for prefix in self._prefixes:
                    draft.decorators.extend(prefix.decorators)
                    draft.doc = prefix.doc or draft.doc
            self._forget()
        draft.start_row, draft.end_row, draft.end = start_row, end_row, end
        draft.first_row, draft.start = start_row, start

    def attach(self, draft: Draft, floor: int) -> None:
        """Let the item reach up over the comments directly above, none of them before `floor`."""
        comments = self.comments
        inner = self._conventions.inner_doc_prefixes
        docs: list[str] = []
        gap = self._conventions.doc_gap
        while comments:
            comment = comments[-1]
            if comment.start > draft.start:
                # Written inside the declaration, or between it and its attributes.
                comments.pop()
                continue
            above = draft.first_row - 1 - comment.end_row
            if above > gap or comment.start < floor:
                break
            text = self._source[comment.start : comment.end].decode("utf-8", "replace")
            if inner and text.startswith(inner):
                break
            if above > 0 and not text.startswith(self._conventions.doc_prefixes):
                break
            gap = 0
            comments.pop()
            docs.append(text.rstrip())
            draft.first_row, draft.start = comment.start_row, comment.start
        if docs and draft.doc is None:
            draft.doc = attached_doc(docs[::-1], self._conventions)

    def _adjoins(self, start: int) -> bool:
        """Whether nothing but comments stands between the last attribute and `start`."""
        at = self._prefixes[-1].node.end_byte
        between = self._source[at:start]
        if not between.strip():
            return True
        for begin, end, *_ in (*self.comments, *self._asides):
            if at <= begin and end <= start:
                blank = b" " * (end - begin)
                between = between[: begin - at] + blank + between[end - at :]
        return not between.strip()

    def _forget(self) -> None:
        self._prefixes.clear()
        self._asides.clear()
