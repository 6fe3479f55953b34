"""Haskell: what sets it apart, as data."""

from asterism.languages.facets import (
    CallFacets,
    Dialect,
    DisplayFacets,
    Facets,
    ImportFacets,
    ScopeFacets,
    TypeFacets,
)

HASKELL = Facets(
    name="haskell",
    title="Haskell",
    order=170,
    visibility="in the export list; without a list everything at the top; without a header `main`",
    dialects=(
        Dialect(
            key="haskell",
            rules="haskell.rules:HASKELL",
            extensions=(".hs",),
            interpreters=("runhaskell", "runghc", "stack", "cabal"),
        ),
    ),
    display=DisplayFacets(path_line="-- {}", comments="dashes"),
    scopes=ScopeFacets(
        free_members=("constructor", "property", "signature", "method", "function"),
        lifted=("type", "class"),
        values_named_as_types=True,
    ),
    imports=ImportFacets(other_file="haskell.files:module_file", whole_names=True),
    types=TypeFacets(signature="arrows"),
    calls=CallFacets(bare=True, of_types=False),
)

LANGUAGES = (HASKELL,)
