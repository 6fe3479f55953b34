"""The TypeScript compiler's syntax tree of one file, as the seven numbers per node it sends."""

import base64
import re
import struct
from array import array
from collections.abc import Iterator
from enum import IntEnum

from asterism.structure.positions import SourceUnits
from asterism.types.errors import ServerGarbled

# The encoding of trees this module reads; the compiler says which one it writes.
TREE_VERSION = 5

_HEADER = struct.Struct("<11I")
_LIST = 0xFFFFFFFF
_FIELDS = 7
_KIND, _POS, _END, _NEXT, _PARENT, _DATA = range(6)
_SPACE = re.compile(r"(?:\s+|//[^\n\r]*|/\*.*?\*/|#![^\n\r]*)*", re.DOTALL)


class SyntaxKind(IntEnum):
    """The kinds of nodes we ask for, with the compiler's numbers."""

    numeric_literal = 8
    string_literal = 10
    identifier = 79
    private_identifier = 80
    default_keyword = 89
    qualified_name = 167
    computed_property_name = 168
    type_parameter = 169
    parameter = 170
    decorator = 171
    property_signature = 172
    property_declaration = 173
    method_signature = 174
    method_declaration = 175
    static_block = 176
    constructor = 177
    get_accessor = 178
    set_accessor = 179
    call_signature = 180
    construct_signature = 181
    index_signature = 182
    type_reference = 184
    function_type = 185
    constructor_type = 186
    type_query = 187
    import_type = 206
    binding_element = 209
    property_access = 212
    element_access = 213
    call = 214
    new = 215
    tagged_template = 216
    type_assertion = 217
    parenthesized = 218
    function_expression = 219
    arrow_function = 220
    binary = 227
    class_expression = 232
    expression_with_type_arguments = 234
    as_expression = 235
    non_null = 236
    satisfies = 239
    block = 242
    variable_declaration = 261
    function_declaration = 263
    class_declaration = 264
    interface_declaration = 265
    type_alias = 266
    enum_declaration = 267
    module_declaration = 268
    namespace_export_declaration = 271
    import_equals = 272
    import_declaration = 273
    import_clause = 274
    namespace_import = 275
    import_specifier = 277
    export_assignment = 278
    export_declaration = 279
    namespace_export = 281
    export_specifier = 282
    external_module_reference = 284
    jsx_self_closing = 286
    jsx_opening = 287
    jsx_closing = 288
    heritage_clause = 299
    property_assignment = 303
    shorthand_property = 304
    enum_member = 306
    source_file = 307


# Keywords and punctuation are numbered before everything that has parts.
LAST_TOKEN = 166
_FIRST_JSDOC, _LAST_JSDOC = 308, 343

NAME_KINDS = frozenset(
    {
        SyntaxKind.identifier,
        SyntaxKind.private_identifier,
        SyntaxKind.string_literal,
        SyntaxKind.numeric_literal,
        SyntaxKind.computed_property_name,
    }
)
# What may stand around an expression without changing what it is.
WRAPPING = frozenset(
    {
        SyntaxKind.parenthesized,
        SyntaxKind.non_null,
        SyntaxKind.as_expression,
        SyntaxKind.satisfies,
        SyntaxKind.type_assertion,
    }
)


class Tree:
    """One file's nodes, by index. The first is the file; children follow their parent in order."""

    def __init__(self, path: str, encoded: str) -> None:
        """`encoded` is the compiler's answer, in base 64."""
        self.path = path
        self._nodes = array("I")
        try:
            data = base64.b64decode(encoded)
            header = _HEADER.unpack_from(data)
            if header[0] >> 24 != TREE_VERSION:
                raise ServerGarbled(f"its syntax trees are of version {header[0] >> 24}")
            self._nodes.frombytes(data[header[10] :])
            self.count = len(self._nodes) // _FIELDS
            self.source = SourceUnits(_text_of(data, header, self._field(1, _DATA)))
        except (ValueError, IndexError, struct.error) as error:
            raise ServerGarbled(f"its syntax tree of {path} cannot be read ({error})") from error

    def _field(self, node: int, field: int) -> int:
        return self._nodes[node * _FIELDS + field]

    def kind(self, node: int) -> int:
        """The kind of a node; compare it with `SyntaxKind`."""
        return self._field(node, _KIND)

    def end(self, node: int) -> int:
        """The unit after a node."""
        return self._field(node, _END)

    def start(self, node: int) -> int:
        """The unit where a node begins, the space and comments before it left out."""
        pos = self._field(node, _POS)
        found = _SPACE.match(self.source.units, pos)
        return min(found.end() if found else pos, self.end(node))

    def after(self, node: int) -> int:
        """The unit where what follows a node begins."""
        found = _SPACE.match(self.source.units, self.end(node))
        return found.end() if found else self.end(node)

    def line(self, node: int) -> int:
        """The line where a node begins, from 1."""
        return self.source.line_of(self.start(node))

    def text(self, node: int) -> str:
        """A node as written."""
        return self.source.text(self.start(node), self.end(node))

    def handle(self, node: int) -> str:
        """What the compiler calls a node."""
        return f"{node}.{self.kind(node)}.{self.path}"

    def parent(self, node: int) -> int:
        """The node around a node, lists left out; 0 above the file."""
        above = self._field(node, _PARENT)
        while above and self._field(above, _KIND) == _LIST:
            above = self._field(above, _PARENT)
        return above

    def children(self, node: int) -> Iterator[int]:
        """The nodes directly below, in order, those of lists included, documentation not."""
        child = node + 1
        if child >= self.count or self._field(child, _PARENT) != node:
            return
        while child:
            kind = self._field(child, _KIND)
            if kind == _LIST:
                yield from self.children(child)
            elif not _FIRST_JSDOC <= kind <= _LAST_JSDOC:
                yield child
            child = self._field(child, _NEXT)

    def below(self, node: int) -> range:
        """Every node below a node, at any depth, in source order."""
        last = node
        while last and not self._field(last, _NEXT):
            last = self._field(last, _PARENT)
        return range(node + 1, self._field(last, _NEXT) if last else self.count)

    def last_child(self, node: int) -> int | None:
        """The last node directly below."""
        found = list(self.children(node))
        return found[-1] if found else None

    def first_child(self, node: int) -> int | None:
        """The first node directly below."""
        return next(self.children(node), None)

    def at(self, unit: int) -> int:
        """The innermost node that covers a unit."""
        node = 1
        while True:
            for child in self.children(node):
                if self._field(child, _POS) <= unit < self._field(child, _END):
                    node = child
                    break
            else:
                return node

    def ancestors(self, node: int) -> Iterator[int]:
        """The nodes around a node, from the inside, the file included."""
        above = self.parent(node)
        while above:
            yield above
            above = self.parent(above)

    def unwrapped(self, node: int) -> int:
        """An expression without parentheses, assertions and the like around it."""
        while self.kind(node) in WRAPPING:
            is_assertion = self.kind(node) == SyntaxKind.type_assertion
            inner = self.last_child(node) if is_assertion else self.first_child(node)
            if inner is None:
                return node
            node = inner
        return node


def _text_of(data: bytes, header: tuple[int, ...], place: int) -> str:
    """The file's text, which travels among the tree's strings."""
    (number,) = struct.unpack_from("<I", data, header[8] + (place & 0xFFFFFF))
    start, end = struct.unpack_from("<2I", data, header[6] + 4 * number)
    return data[header[7] + start : header[7] + end].decode("utf-8", "surrogatepass")
