"""Ruby calls that declare: accessors, visibility, requires, `define_method`, refinements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.draft import Draft, Level
from asterism.analysis.syntax.text import fold
from asterism.types.outline import ImportedName

if TYPE_CHECKING:
    from tree_sitter import Node

_VISIBILITY = frozenset({"private", "protected", "public", "module_function"})

# `private_class_method :make` hides a method of the class itself, `private_constant` a constant.
_HIDERS = {"private_class_method": "private", "private_constant": "private"}

_ACCESSORS = frozenset(
    {
        *("attr", "attr_accessor", "attr_reader", "attr_writer", "cattr_accessor"),
        *("mattr_accessor", "class_attribute"),
    }
)

_METHODS = frozenset({"method", "singleton_method"})

# What a visibility word reaches through.
_BRANCHES = frozenset({"if", "unless", "then", "elsif", "else", "begin"})

# What makes a constant, which `private_constant` can hide.
_CONSTANTS = frozenset({"assignment", "class", "module"})


def literal(builder: Builder, node: Node) -> str:
    """What a string or symbol literal says."""
    text = builder.text(node)
    return fold(text[1:] if text.startswith(":") else text[1:-1])


def body_marks(builder: Builder, body: Node, also: Sequence[str] = ()) -> None:
    """Note for each declaration in a body what its section and later calls make of it.

    A visibility word changes what follows it, and `private :x` what came before it, so the body
    is looked over once before it is read. The words are kept among the builder's notes, under the
    declarations' ends, until `marked` asks for them.
    """
    named: dict[str, str] = {}
    sections: list[tuple[Node, str]] = []
    section = ""
    for child in _statements(body):
        kind = child.type
        if kind == "identifier":
            word = builder.text(child)
            section = word if word in _VISIBILITY else section
        elif kind == "call" and child.child_by_field_name("receiver") is None:
            sections.append((child, section))
            word = builder.field_text(child, "method") or ""
            word = _HIDERS.get(word, word)
            if word in _VISIBILITY:
                named.update((literal(builder, name), word) for name in _symbols(child))
        elif kind in _METHODS or kind in _CONSTANTS or kind == "alias":
            sections.append((child, section))
    for child, word in sections:
        # Sections say nothing about methods of the class itself, nor about constants.
        word = "" if child.type == "singleton_method" or child.type in _CONSTANTS else word
        _mark(builder, child, also, named.get(_declared_name(builder, child), word))
        if child.type == "call":
            for symbol in _symbols(child):
                _mark(builder, symbol, also, named.get(literal(builder, symbol), word))


def _statements(body: Node) -> Iterator[Node]:
    """The statements of a body, those below a condition included."""
    pending = body.named_children[::-1]
    while pending:
        here = pending.pop()
        if here.type in _BRANCHES:
            pending.extend(here.named_children[::-1])
        else:
            yield here


def marked(builder: Builder, node: Node) -> list[str]:
    """The words noted for a declaration, or for a symbol that names one."""
    return builder.notes.get(node.end_byte, "").split()


def _mark(builder: Builder, node: Node, also: Sequence[str], word: str) -> None:
    words = " ".join((*also, word if word != "public" else "")).strip()
    if words:
        builder.notes[node.end_byte] = words


def _declared_name(builder: Builder, node: Node) -> str:
    if node.type == "assignment":
        return builder.field_text(node, "left") or ""
    return builder.field_text(node, "name") or ""


def _symbols(call: Node) -> Iterator[Node]:
    """The plain symbols and strings a call is given; `#{…}` makes one unknowable."""
    arguments = call.child_by_field_name("arguments")
    for argument in arguments.named_children if arguments is not None else ():
        text = argument.text or b""
        is_plain = argument.type in ("simple_symbol", "string") and b"#{" not in text
        if is_plain and text.strip(b":\"' \t\r\n\f\v"):
            yield argument


def define_method(
    builder: Builder, node: Node, method: Node, modifiers: Sequence[str] = ()
) -> Draft | None:
    """A `def`, alone or inside the call (`node`) that it is given to."""
    name = method.child_by_field_name("name")
    if name is None or name.is_missing:
        return None
    parameters = method.child_by_field_name("parameters")
    text = builder.text(name)
    owner: tuple[str, ...] = ()
    words = [*modifiers, *marked(builder, node)]
    target = method.child_by_field_name("object")
    if target is not None:
        around = builder.owner
        if target.type == "self" or (around is not None and around.name == builder.text(target)):
            words.insert(0, "self")
        else:
            owner = tuple(builder.text(target).split("::"))
    builder.consumed.add(method.start_byte)
    return builder.define(
        node,
        "constructor" if text == "initialize" and "self" not in words else "method",
        text,
        name_node=name,
        body=method.child_by_field_name("body"),
        owner=owner,
        modifiers=words,
        signature_end=(parameters or name).end_byte,
    )


def _accessor(builder: Builder, node: Node, modifiers: Sequence[str] = ()) -> None:
    """`attr_accessor :a, :b`: each symbol named is a property."""
    call = _inner_call(node)
    names = list(_symbols(call))
    if builder.level is Level.FUNCTION:
        return
    around = marked(builder, node) if call is not node else []
    for name in names:
        builder.define(
            node,
            "property",
            literal(builder, name),
            name_node=name,
            modifiers=[*around, *modifiers, *marked(builder, name)],
            opens=name == names[-1],
        )


def _inner_call(node: Node) -> Node:
    """The accessor call itself, where it is given to `private`."""
    arguments = node.child_by_field_name("arguments")
    inner = arguments.named_children[0] if arguments and arguments.named_child_count else None
    return inner if inner is not None and inner.type == "call" else node


def _visibility(builder: Builder, node: Node) -> None:
    """`private def x`, `private attr_reader :x`; with symbols it is about others."""
    arguments = node.child_by_field_name("arguments")
    word = builder.field_text(node, "method") or ""
    inner = arguments.named_children[0] if arguments and arguments.named_child_count else None
    if inner is None:
        return
    word = _HIDERS.get(word, word)
    words = (word,) if word != "public" else ()
    if inner.type in _METHODS:
        define_method(builder, node, inner, words)
    elif inner.type == "call" and builder.field_text(inner, "method") in _ACCESSORS:
        builder.consumed.add(inner.start_byte)
        _accessor(builder, node, words)


def _plain_accessor(builder: Builder, node: Node) -> None:
    if node.start_byte not in builder.consumed:
        _accessor(builder, node)


def _alias_method(builder: Builder, node: Node) -> None:
    """`alias_method :new, :old`."""
    first = next(_symbols(node), None)
    if first is not None and builder.level is not Level.FUNCTION:
        words = marked(builder, first)
        builder.define(node, "method", literal(builder, first), name_node=first, modifiers=words)


def _define_method_call(builder: Builder, node: Node) -> None:
    """`define_method(:x) do |a| … end`."""
    block = node.child_by_field_name("block")
    first = next(_symbols(node), None)
    if first is None:
        return
    if block is not None:
        builder.consumed.add(block.start_byte)
    modifiers = marked(builder, first)
    if builder.field_text(node, "method") == "define_singleton_method":
        modifiers.insert(0, "self")
    builder.define(
        node,
        "method",
        literal(builder, first),
        name_node=first,
        body=block.child_by_field_name("body") if block is not None else None,
        modifiers=modifiers,
        signature_end=block.start_byte if block is not None else None,
    )


def _refine(builder: Builder, node: Node) -> None:
    """`refine String do … end`: an extension of a class."""
    arguments = node.child_by_field_name("arguments")
    block = node.child_by_field_name("block")
    if arguments is None or block is None or not arguments.named_child_count:
        return
    builder.consumed.add(block.start_byte)
    body = block.child_by_field_name("body")
    builder.define(
        node,
        "extension",
        builder.text(arguments.named_children[0]),
        body=body,
        level=Level.TYPE,
        signature_end=block.start_byte,
    )
    if body is not None:
        body_marks(builder, body)


def _require(builder: Builder, node: Node) -> None:
    """`require`, `require_relative`, `load`, `autoload` of a plain string."""
    arguments = node.child_by_field_name("arguments")
    parts = arguments.named_children if arguments is not None else []
    names: list[ImportedName] = []
    if len(parts) == 2 and parts[0].type == "simple_symbol":
        names = [ImportedName(literal(builder, parts[0]))]
    path = parts[-1] if parts else None
    if path is None or path.type != "string" or b"#{" in (path.text or b""):
        return
    module = literal(builder, path)
    if builder.at_statement:
        builder.root_item(node, "import", f"import:{module}")
    method = node.child_by_field_name("method")
    if method is not None:
        builder.defined.add(method.start_byte)
    builder.add_import(
        node, module, names, side_effect=not names, dynamic=builder.level is Level.FUNCTION
    )


Definer: TypeAlias = "Callable[[Builder, Node], None]"

DEFINERS: dict[str, Definer] = {
    **dict.fromkeys(("require", "require_relative", "load", "autoload"), _require),
    **dict.fromkeys(_ACCESSORS, _plain_accessor),
    **dict.fromkeys((*_VISIBILITY, *_HIDERS), _visibility),
    "alias_method": _alias_method,
    "define_method": _define_method_call,
    "define_singleton_method": _define_method_call,
    "refine": _refine,
}
"""What a call without a receiver declares, by the method it calls."""
