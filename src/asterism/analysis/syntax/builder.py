"""What rules write to while a file is walked: definitions, root items, imports, bindings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypedDict, Unpack

from asterism.analysis.syntax.draft import Draft, Frame, Level, Margin, Prefix, Wrapper
from asterism.analysis.syntax.text import (
    Conventions,
    bare_text,
    clean_docstring,
    decorator_names,
    fold,
    label,
    proper_name,
    signature_of,
)
from asterism.types.outline import Export, Import, ImportedName, Span

if TYPE_CHECKING:
    from tree_sitter import Node

# Receivers are kept to be looked up as names; a long chain of calls never is one.
RECEIVER_LIMIT = 80


class SymbolParts(TypedDict, total=False):
    """What a rule can add to a symbol's node, kind and name."""

    name_node: Node | None
    body: Node | None
    level: Level
    """What a plain variable means inside the symbol; `Level.FUNCTION` if not given."""
    owner: Sequence[str]
    """Names between the enclosing symbol and this one: `Foo` in Go's `func (f Foo) Bar()`."""
    modifiers: Iterable[str]
    decorators: Sequence[Node]
    signature_end: int | None
    """Byte offset; if not given, where the body begins or else where the node ends."""
    opens: bool
    """Whether nodes inside this one belong to the symbol; True if not given."""


class ImportFlags(TypedDict, total=False):
    """The kind of an import; all are False if not given, but `binds`."""

    type_only: bool
    side_effect: bool
    dynamic: bool
    reexport: bool
    binds: bool
    """Whether its names can be used in this file; True if not given."""


class Builder:
    """The state of one walk. Rules see the current node's depth and the frames around it."""

    def __init__(self, source: bytes, conventions: Conventions) -> None:
        self.source = source
        self.characters = source.decode("ascii") if source.isascii() else None
        """The text where a byte is a character, as in most files: slices need no decoding."""
        self.conventions = conventions
        self.depth = 0
        """Of the node a rule is looking at; the file's root node has depth 0."""
        self.ancestors: list[Node] = []
        """The nodes around the one a rule is looking at, outermost first, below the root node."""
        self.drafts: list[Draft] = []
        self.frames: list[Frame] = [Frame(0, None, None, Level.MODULE, True)]
        self._margin = Margin(source, conventions)
        self.comments = self._margin.comments
        self.imports: list[Import] = []
        self.exports: list[Export] = []
        self.defined: set[int] = set()
        """Offsets of names that are definitions or bindings, so not references."""
        self.consumed: set[int] = set()
        """Offsets of nodes that a definition took as its value, so they define nothing more."""
        self.free: set[int] = set()
        """Offsets of names that no local can mean, though one may be called so: types, modules."""
        self.mentions: list[tuple[str, int, str | None, int | None]] = []
        """References that rules found themselves: name, offset, receiver, item."""
        self.receivers: dict[int, str] = {}
        """Receiver text by the offset of the member's name."""
        self.public: set[str] = set()
        """Names the file exports by a clause or list rather than where they are declared."""
        self.has_public_list = False
        """Whether the file lists its exports, so that what is not listed is not exported."""
        self.notes: dict[object, str] = {}
        """What a language's rules remember from one node to the next, under their own keys."""
        self.claimed = False
        """Whether a rule has said what the current node is; else it may become a root item."""
        self.too_deep = False
        """Whether the walk has left out what stands too far inside."""
        self._wrapper: Wrapper | None = None
        self._last_root: Draft | None = None

    # What rules ask.

    @property
    def level(self) -> Level:
        """What a plain variable means here: a symbol, a member, or a local."""
        return self.frames[-1].level

    @property
    def at_statement(self) -> bool:
        """Whether the current node is a top-level statement."""
        frame = self.frames[-1]
        return frame.statements and self.depth == frame.depth + 1

    @property
    def is_member(self) -> bool:
        """Whether the current node stands directly in the body of a class-like item."""
        frame = self.frames[-1]
        return frame.level is Level.TYPE and self.depth <= frame.depth + 2

    @property
    def parent(self) -> Node | None:
        """The node around the current one; `node.parent` would search for it from the root."""
        return self.ancestors[-1] if self.ancestors else None

    @property
    def owner(self) -> Draft | None:
        """The item whose inside is being read."""
        return self.frames[-1].draft

    def text(self, node: Node) -> str:
        """The node's source text."""
        if self.characters is not None:
            return self.characters[node.start_byte : node.end_byte]
        return self.slice(node.start_byte, node.end_byte)

    def slice(self, start: int, end: int) -> str:
        """The source text between two byte offsets."""
        if self.characters is not None:
            return self.characters[start:end]
        return self.source[start:end].decode("utf-8", "replace")

    def field_text(self, node: Node, name: str) -> str | None:
        """The text of a field, or None where the field is missing."""
        child = node.child_by_field_name(name)
        return None if child is None else self.text(child)

    def signature(self, node: Node, start: int, end: int, cuts: Sequence[Node] = ()) -> str:
        """The text from `start` to `end`, inside `node`, as a signature without the `cuts`."""
        text, conventions = self.slice(start, end), self.conventions
        if cuts or conventions.line_comment in text or "/*" in text:
            text = bare_text(self.source, Span(start, end), cuts, node, conventions.comments)
        return signature_of(text, conventions)

    # What rules say.

    def define(self, node: Node, kind: str, name: str, **parts: Unpack[SymbolParts]) -> Draft:
        """Record a symbol."""
        name_node, body = parts.get("name_node"), parts.get("body")
        decorators, signature_end = parts.get("decorators", ()), parts.get("signature_end")
        draft = Draft(proper_name(name), kind)
        draft.level = parts.get("level", Level.FUNCTION)
        wrapper = self._take_wrapper(node)
        cuts = decorators
        start = node.start_byte
        if wrapper is not None:
            draft.modifiers.extend(wrapper.modifiers)
            if wrapper.decorators:
                cuts = [*wrapper.decorators, *decorators]
            start = min(start, wrapper.start) if wrapper.widens else start
        draft.modifiers.extend(parts.get("modifiers", ()))
        if name_node is not None:
            self.defined.add(name_node.start_byte)
        draft.name_offset = (name_node or node).start_byte
        if body is not None:
            draft.body = Span(body.start_byte, body.end_byte)
            signature_end = body.start_byte if signature_end is None else signature_end
        self._margin.place(draft, node, wrapper, self.depth)
        self._margin.attach(draft, self._floor())
        if cuts:
            draft.decorators.extend(decorator_names(self.source, cuts))
        end = node.end_byte if signature_end is None else signature_end
        draft.signature = self.signature(node, start, end, cuts) or draft.name
        self._file(draft, parts.get("owner", ()), parts.get("opens", True))
        if self.conventions.docstring is not None:
            doc_node = self.conventions.docstring(node)
            if doc_node is not None:
                draft.doc = clean_docstring(self.text(doc_node)) or draft.doc
        return draft

    def root_item(self, node: Node, kind: str, name: str | None = None) -> Draft:
        """Record a top-level statement; what is walked inside it belongs to it."""
        previous = self._last_root
        if previous is not None and previous.is_root and previous.end_row >= node.start_point[0]:
            # Statements that share a line are one item: chunks are made of whole lines.
            previous.end = max(previous.end, self._end_of(node))
            previous.end_row = max(previous.end_row, last_row(node))
            self._open(previous)
            return previous
        text = self.text(node)
        draft = Draft(proper_name(name or label(text)), kind)
        draft.level = Level.MODULE
        draft.is_root = True
        draft.name_offset = node.start_byte
        self._margin.place(draft, node, self._take_wrapper(node), self.depth)
        if kind not in _BARE_KINDS:
            self._margin.attach(draft, self._floor())
        draft.signature = fold(text)
        self._file(draft, (), True)
        return draft

    def extend(self, draft: Draft, node: Node) -> None:
        """Let an earlier sibling reach to the end of `node`: equations of one function."""
        draft.end = max(draft.end, self._end_of(node))
        draft.end_row = max(draft.end_row, last_row(node))
        self.frames[-1].last_end = draft.end
        self._open(draft)

    def transparent(self) -> None:
        """Treat the current node's children as if they stood where the node stands."""
        self.claimed = True
        outer = self.frames[-1]
        self._look_through(outer.level, outer.statements)

    def damaged(self) -> None:
        """Treat definitions in broken text as if it were whole, and nothing else in it."""
        self.claimed = True
        self.scope(self.frames[-1].level)

    def scope(self, level: Level) -> None:
        """Read what is inside the current node at another level, still for the same item."""
        self._look_through(level, False)

    def wrap(
        self,
        node: Node,
        modifiers: Sequence[str] = (),
        decorators: Sequence[Node] = (),
        widens: bool = True,
        span: Span | None = None,
    ) -> None:
        """Let the definition directly inside `node` take its range, or `span`, and these marks."""
        self.claimed = True
        outer = self._wrapper
        start, end = span or (node.start_byte, node.end_byte)
        if outer is not None and outer.depth == self.depth - 1 and outer.start <= start < outer.end:
            modifiers = (*outer.modifiers, *modifiers)
            decorators = (*outer.decorators, *decorators)
            if outer.widens and widens:
                start, end = outer.start, max(outer.end, end)
        self._wrapper = Wrapper(start, end, self.depth, tuple(modifiers), tuple(decorators), widens)

    def prefix(self, node: Node, decorators: Sequence[str] = (), doc: str | None = None) -> None:
        """Attach the node to the declaration that follows it."""
        self.claimed = True
        self._margin.wait(Prefix(node, self.depth, tuple(decorators), doc))

    def bind(self, node: Node | None) -> None:
        """Take every name in a binding pattern as a local of the item being read."""
        if node is None:
            return
        conventions = self.conventions
        draft = self.frames[-1].draft
        pending = [node]
        while pending:
            here = pending.pop()
            kind = here.type
            if not here.named_child_count:
                if kind in conventions.identifiers or kind.endswith("_pattern"):
                    self.defined.add(here.start_byte)
                    if draft is not None:
                        draft.bind(self.text(here))
            elif kind in conventions.pattern_first:
                pending.append(here.named_children[0])
            elif kind in conventions.pattern_last:
                pending.append(here.named_children[-1])
            elif kind not in conventions.pattern_stops:
                pending.extend(here.named_children)

    def member(self, receiver: Node, name: Node) -> None:
        """Remember on what a member is accessed."""
        start, end = receiver.start_byte, receiver.end_byte
        if end - start > RECEIVER_LIMIT:
            text = "…"
        else:
            characters = self.characters
            text = characters[start:end] if characters else self.slice(start, end)
            if "\n" in text:
                text = fold(text)
        self.receivers[name.start_byte] = text

    def mention(self, name: str, offset: int, receiver: str | None = None) -> None:
        """Record a use of a name that has no node of its own: the parts of `Foo.Bar` in Elixir."""
        self.mentions.append((name, offset, receiver, self.frames[-1].index))

    def aside(self, node: Node) -> None:
        """Note a comment that follows code on its line."""
        self._margin.aside(node.start_byte, node.end_byte)

    def add_import(
        self,
        node: Node,
        module: str,
        names: Iterable[ImportedName] = (),
        **flags: Unpack[ImportFlags],
    ) -> None:
        """Record an import; its text is the statement as written."""
        self.imports.append(
            Import(
                module,
                tuple(names),
                node.start_point[0] + 1,
                last_row(node) + 1,
                self.text(node).strip(),
                self.frames[-1].index,
                **flags,
            )
        )

    def add_export(
        self, name: str, local: str, node: Node, module: str | None = None, type_only: bool = False
    ) -> None:
        """Record an exported name; a local one makes its declaration exported."""
        if not name.strip():
            # In damaged code the name may be missing.
            return
        self.exports.append(Export(name, local, node.start_point[0] + 1, module, type_only))
        if module is None:
            self.public.add(local)

    def declare_export(self, name: str, draft: Draft) -> None:
        """Record that a declaration is itself an export."""
        self.exports.append(Export(name, draft.name, draft.start_row + 1))

    # How it is kept.

    def _take_wrapper(self, node: Node) -> Wrapper | None:
        """The wrapper directly around `node`, unless the item it wraps is open already."""
        wrapper = self._wrapper
        if wrapper is None or wrapper.depth != self.depth - 1:
            return None
        inside = wrapper.start <= node.start_byte < wrapper.end
        return wrapper if inside and self.frames[-1].depth < self.depth else None

    def _floor(self) -> int:
        """Where a comment must begin to belong to the next item: behind what was read before it.

        In damaged code an item may begin inside another whose comment is not assigned yet.
        """
        frame = self.frames[-1]
        return frame.last_end if frame.draft is None else max(frame.last_end, frame.draft.start)

    def _end_of(self, node: Node) -> int:
        """Where the node's text ends; some grammars let a node end with the newline after it."""
        end = node.end_byte
        while end > node.start_byte and self.source[end - 1 : end].isspace():
            end -= 1
        return end

    def _file(self, draft: Draft, owner: Sequence[str], opens: bool) -> None:
        frame = self.frames[-1]
        parent = frame.draft
        draft.index = index = len(self.drafts)
        if parent is not None:
            draft.parent = frame.index
            draft.depth = parent.depth + 1
            parent.children.append(index)
            scope = () if parent.is_root else parent.path
        else:
            scope = ()
            self._last_root = draft
        draft.path = (*scope, *map(proper_name, owner), draft.name)
        self.drafts.append(draft)
        self.claimed = True
        frame.last_end = draft.end
        if opens:
            self._open(draft)

    def _look_through(self, level: Level, statements: bool) -> None:
        outer = self.frames[-1]
        frame = Frame(self.depth, outer.index, outer.draft, level, statements)
        frame.last_end = outer.last_end
        self.frames.append(frame)

    def _open(self, draft: Draft) -> None:
        self.claimed = True
        self.frames.append(Frame(self.depth, draft.index, draft, draft.level, False))


# Comments above these are about the file, not about the statement.
_BARE_KINDS = frozenset({"import", "package", "docstring", "directive"})


def last_row(node: Node) -> int:
    """The last row the node has text on; some grammars let a node end with its newline."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row
