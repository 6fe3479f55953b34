"""One language as data: which grammar, which conventions, which rule for which node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from asterism.analysis.syntax.builder import Builder
from asterism.analysis.syntax.conventions import Conventions
from asterism.analysis.syntax.draft import Draft

if TYPE_CHECKING:
    from tree_sitter import Node

Rule: TypeAlias = "Callable[[Builder, Node], bool]"
"""Reads one node; returns whether its children are to be walked."""


@dataclass(frozen=True, slots=True)
class Language:
    """Everything the walker needs; a language has no class of its own."""

    name: str
    grammar: tuple[str, str]
    """The grammar's package and the function in it that returns the language pointer."""
    conventions: Conventions
    rules: Mapping[str, Rule]
    exported: Callable[[Draft, Builder], bool]
    """Whether a finished item can be used from outside its file."""
    finish: Callable[[Builder], None] | None = None
    """What can only be said once the whole file has been read."""
    readable: Callable[[bytes], bytes] | None = None
    """Masks what the grammar cannot read, byte for byte: rows and offsets stay what they are, and
    names and texts are taken from the source itself."""
