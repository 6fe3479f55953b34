"""What a Python string literal says: its value, and its text as documentation."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from asterism.analysis.syntax.children import first_named

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERAL = re.compile(r"([a-zA-Z]*)(\"\"\"|'''|\"|')(.*)\2", re.DOTALL)
_ESCAPE = re.compile(
    r"""\\(?:(?P<octal>[0-7]{1,3})|x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})"""
    r"""|U(?P<U>[0-9a-fA-F]{8})|N\{(?P<name>[^{}]+)\}|(?P<letter>[abfnrtv\\'"\n]))"""
)
_LETTERS = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "\n": "",
}  # fmt: skip


def lone_string(statement: Node | None) -> Node | None:
    """The string literal an expression statement consists of, or None."""
    if statement is None or statement.type != "expression_statement" or statement.child_count != 1:
        return None
    inner = first_named(statement)
    while inner is not None and inner.type == "parenthesized_expression":
        inner = first_named(inner)
    if inner is None or inner.type not in ("string", "concatenated_string"):
        return None
    return inner


def docstring(body: Node) -> str | None:
    """The text of the string a function or class body begins with, as `ast.get_docstring`."""
    first = first_named(body)
    if first is not None and first.type == "comment":
        first = next((child for child in body.named_children if child.type != "comment"), None)
    literal = lone_string(first)
    return None if literal is None else documentation(literal)


def documentation(literal: Node) -> str | None:
    """A string's value with the indentation of its later lines removed; None if it says nothing."""
    value = string_value(literal)
    if value is None:
        return None
    if "\n" not in value:
        return value.strip() or None
    lines = value.expandtabs().split("\n")
    margins = [len(line) - len(line.lstrip()) for line in lines[1:] if line and not line.isspace()]
    margin = min(margins, default=0)
    text = "\n".join([lines[0].lstrip(), *(line[margin:] for line in lines[1:])])
    return text.strip() or None


def string_value(literal: Node) -> str | None:
    """What a literal evaluates to; None for bytes and formatted strings, which are no text."""
    if literal.type == "concatenated_string":
        parts = [string_value(part) for part in literal.named_children if part.type == "string"]
        return None if None in parts else "".join(part for part in parts if part is not None)
    found = _LITERAL.fullmatch((literal.text or b"").decode("utf-8", "replace"))
    if found is None:
        return None
    prefix, text = found[1].lower(), found[3]
    if prefix not in ("", "r", "u"):
        return None
    return text if prefix == "r" or "\\" not in text else _ESCAPE.sub(_unescape, text)


def _unescape(found: re.Match[str]) -> str:
    if found["letter"] is not None:
        return _LETTERS[found["letter"]]
    if found["octal"] is not None:
        return chr(int(found["octal"], 8))
    try:
        if found["name"] is not None:
            return unicodedata.lookup(found["name"])
        return chr(int(found["x"] or found["u"] or found["U"], 16))
    except (KeyError, ValueError):
        # No such character: the literal is broken, and stays as it was written.
        return found[0]
