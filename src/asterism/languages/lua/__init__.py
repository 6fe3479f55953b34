"""Lua: what sets it apart, as data."""

from asterism.languages.facets import (
    CallFacets,
    Dialect,
    DisplayFacets,
    Facets,
    ImportFacets,
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
    imports=ImportFacets(other_file="lua.files:module_file", returns_table=True),
    types=TypeFacets(attribute_set=r"\bself\.(?=\w+\s*=(?!=))"),
    # With a text or a table, and no brackets.
    calls=CallFacets(behind=rb"\s*[(\"'{]|\s*\[\["),
)

LANGUAGES = (LUA,)
