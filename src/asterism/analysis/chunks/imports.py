"""Which imports each item uses, by the names it mentions."""

from asterism.languages.registry import facets_of
from asterism.types.outline import Outline


def imports_used(outline: Outline) -> list[set[int]]:
    """For each item, the indices of the imports that it or anything inside it uses."""
    used: list[set[int]] = [set() for _ in outline.items]
    bindings: dict[str, set[int]] = {}
    for number, entry in enumerate(outline.imports):
        if entry.binds:
            for imported in entry.names:
                if imported.local != "*":
                    bindings.setdefault(imported.local, set()).add(number)
    if not bindings:
        return used
    members_too = facets_of(outline.language).imports.used_as_members
    for name, _line, _column, receiver, enclosing, local in outline.references:
        if name not in bindings or local or enclosing is None:
            continue
        if receiver is None or members_too:
            used[enclosing] |= bindings[name]
    # Parents come before their children, so going backwards carries every use to the root.
    for index in range(len(outline.items) - 1, -1, -1):
        parent = outline.items[index].parent
        if parent is not None and used[index]:
            used[parent] |= used[index]
    return used
