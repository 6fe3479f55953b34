"""Elixir: what sets it apart, as data."""

from asterism.languages.facets import (
    BaseFacets,
    CallFacets,
    Dialect,
    DisplayFacets,
    Facets,
    ImportFacets,
    ScopeFacets,
)

ELIXIR = Facets(
    name="elixir",
    title="Elixir",
    order=160,
    visibility="unless private (`defp`), an attribute, or inside a function",
    dialects=(
        Dialect(
            key="elixir",
            rules="elixir.rules:ELIXIR",
            extensions=(".ex", ".exs"),
            interpreters=("elixir",),
        ),
    ),
    display=DisplayFacets(path_line="# {}", comments="hash"),
    scopes=ScopeFacets(
        reach=frozenset({"loose"}), namespaced=True, implicit_members=True, attributes_by_sign="@"
    ),
    imports=ImportFacets(aliases_modules=True),
    bases=BaseFacets(mixins=rb"^[^\S\n]*@behaviour\s+[\w.]*$"),
    calls=CallFacets(bare=True),
)

LANGUAGES = (ELIXIR,)
