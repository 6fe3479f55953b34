"""Is a mention of a name a call? By what stands around it, language by language."""

import re

from asterism.analysis.resolve.scopes import CONTAINERS, FileScope
from asterism.types.outline import Item, Reference

CALLABLE = frozenset({"function", "method", "constructor", "macro", "signature"})

# An opening bracket behind the name, behind type arguments if there are any.
_CALL = re.compile(
    rb"\s*+(?:::)?(?:<[^<>(){};]*+(?:<[^<>(){};]*+>)?[^<>(){};]*+>)?[!?]?\s*+\(|!\s*[\[{]"
)
_BLOCK = re.compile(rb"\s*(?:\{|do\b)")
_NEW = re.compile(rb"\bnew\s+(?:[\w.:\\]+[.:\\])?$")
# In `new Outer.Inner()` it is the inner one that is made.
_OUTER = re.compile(rb"\s*(?:\.|::|\\)")
# `Lid fresh(3);` makes a Lid.
_DECLARED = re.compile(rb"\s+\w+\s*[({]")
# Attributes look like calls.
_ATTRIBUTE = re.compile(rb"@(?:\w+[.:])*$|#!?\[[^\]\n]*$")


def is_call(scope: FileScope, reference: Reference, target: Item | None) -> bool:
    """Whether a reference calls what it means; `target` is None for what is foreign."""
    if target is not None and target.kind == "enum_member":
        return False
    start = scope.offset(reference.line, reference.column)
    end = start + len(reference.name.encode())
    facets = scope.facets.calls
    if not facets.decorators and _is_attribute(scope, reference, start):
        return False
    if facets.behind:
        return re.compile(facets.behind).match(scope.source, end) is not None
    if target is not None and target.kind in CONTAINERS and not facets.of_types:
        # A conversion, or a type among types.
        return False
    made = _NEW.search(scope.source, max(0, start - 80), start)
    if _CALL.match(scope.source, end) or (made and not _OUTER.match(scope.source, end)):
        return True
    is_callable = target is not None and target.kind in CALLABLE
    if facets.by_block and _BLOCK.match(scope.source, end):
        return is_callable or target is None
    if facets.by_declaration and target is not None and target.kind in ("class", "struct"):
        inside = reference.enclosing is not None and _is_function(scope, reference.enclosing)
        return inside and _DECLARED.match(scope.source, end) is not None
    return facets.bare and is_callable


def may_be_call(scope: FileScope, reference: Reference) -> bool:
    """Whether a reference can be a call at all, whatever it means; cheaper than to find that."""
    facets = scope.facets.calls
    if facets.bare or is_call(scope, reference, None):
        return True
    end = scope.offset(reference.line, reference.column) + len(reference.name.encode())
    return facets.by_declaration and _DECLARED.match(scope.source, end) is not None


def _is_function(scope: FileScope, enclosing: int) -> bool:
    item = scope.outline.items[enclosing]
    return item.kind in CALLABLE and item.body is not None


def _is_attribute(scope: FileScope, reference: Reference, start: int) -> bool:
    if _ATTRIBUTE.search(scope.source, max(0, start - 80), start):
        return True
    if not scope.facets.calls.bracket_attributes or reference.enclosing is None:
        return False
    item = scope.outline.items[reference.enclosing]
    before = scope.source[scope.header_span(item)[0] : start]
    # `[Test(3)] void Open()`: in square brackets, before the name.
    return start < item.name_offset and before.count(b"[") > before.count(b"]")
