"""Lua: what sets it apart, as data."""

from asterism.languages.facets import (
    CallFacets,
    Dialect,
    DisplayFacets,
    Facets,
    FileSet,
    ImportFacets,
    Roots,
    ScopeFacets,
    TypeFacets,
)

LUA = Facets(
    name="lua",
    title="Lua",
    order=180,
    visibility="in the returned module, or global",
    dialects=(
        Dialect(
            key="lua",
            rules="lua.rules:LUA",
            extensions=(".lua", ".rockspec"),
            interpreters=("lua", "luajit"),
        ),
    ),
    display=DisplayFacets(path_line="-- {}", comments="dashes"),
    scopes=ScopeFacets(reach=frozenset({"loose"})),
    imports=ImportFacets(other_file="lua:module_file", returns_table=True),
    types=TypeFacets(attribute_set=r"\bself\.(?=\w+\s*=(?!=))"),
    # With a text or a table, and no brackets.
    calls=CallFacets(behind=rb"\s*[(\"'{]|\s*\[\["),
)

LANGUAGES = (LUA,)


def module_file(importer: str, module: str, files: FileSet, _roots: Roots) -> str | None:
    """The file that a module means."""
    steps = module.replace(".", "/")
    for ending in (f"{steps}.lua", f"{steps}/init.lua"):
        found = files.ending(ending)
        if found:
            # The folder that is searched for modules is `lua`, or the root.
            best = [path for path in found if path in (ending, f"lua/{ending}")] or found
            return best[0] if len(best) == 1 else None
    return None
