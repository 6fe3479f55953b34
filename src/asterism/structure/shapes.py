"""What one file's outline says of a symbol: its parts, its members, its type and its value."""

from asterism.analysis.resolve.scopes import CONTAINERS, FileScope
from asterism.analysis.resolve.variables import property_text
from asterism.structure.call_sites import CALLABLE
from asterism.structure.type_flows import one_line
from asterism.types.outline import Item
from asterism.types.structure import Member, SymbolPlace

_CONSTANTS = frozenset({"const", "variable", "property", "enum_member", "static"})
# What is run when an object is made: its constructor and its fields, not its methods.
_MADE_WITH = frozenset({"constructor", "property", "const", "variable", "enum_member"})
# How the outline names a function after the call that it is passed to.
NAMELESS = " callback"
_CONSTRUCTORS = frozenset({"__init__", "initialize", "__construct"})


def place_of(scope: FileScope, number: int) -> SymbolPlace:
    """Where a symbol is declared."""
    item = scope.outline.items[number]
    return SymbolPlace(item.qualified_name, scope.path, item.start_line, item.kind)


def makers_of(scope: FileScope, number: int) -> list[int]:
    """The items whose calls are a symbol's own: a function with a name inside makes its own."""
    items = scope.outline.items
    found: list[int] = []
    waiting = [number]
    while waiting:
        at = waiting.pop()
        found.append(at)
        children = items[at].children
        waiting += [child for child in children if _is_part(items[at], items[child])]
    return found


def _is_part(around: Item, inner: Item) -> bool:
    """Whether what an item calls is called by the one around it."""
    if not inner.is_symbol:
        return True
    if around.kind in CONTAINERS:
        # A property with a body is run when somebody asks for it.
        is_field = inner.kind in _MADE_WITH and (inner.kind != "property" or inner.body is None)
        return is_field or inner.name in _CONSTRUCTORS
    if inner.kind in CALLABLE:
        return inner.name.endswith(NAMELESS)
    return inner.kind not in CONTAINERS


def members_of(scope: FileScope, item: Item) -> tuple[Member, ...]:
    """What belongs to a type, in source order; also what stands beside it in the same file."""
    if item.kind not in CONTAINERS:
        return ()
    below = [
        scope.outline.items[index]
        for path, indices in scope.by_path.items()
        if path[:-1] == item.path
        for index in indices
    ]
    return tuple(
        Member(member.name, member.kind, member.signature, member.start_line)
        for member in sorted(below, key=lambda member: member.span)
    )


def is_lambda(scope: FileScope, item: Item) -> bool:
    """Whether what stands before a function is no type, but the call that it is passed to."""
    return item.name.endswith(NAMELESS) and scope.facets.types.returns_first


def type_of(scope: FileScope, item: Item) -> str | None:
    """The type of a constant or variable, as written."""
    if item.kind not in _CONSTANTS:
        return None
    found = property_text(item.name.lstrip("@$"), item.signature, scope.language)
    return one_line(found) if found else None


def value_of(scope: FileScope, item: Item, limit: int) -> str | None:
    """What a constant is set to, where that is short."""
    if item.kind not in _CONSTANTS:
        return None
    text = scope.source[item.name_offset : item.span.end].decode("utf-8", "replace")
    _, mark, value = text.partition("=")
    value = value.strip().rstrip(";,").strip()
    return value if mark and value and len(value) <= limit and "\n" not in value else None
