"""Haskell: what sets it apart, as data."""

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
    imports=ImportFacets(other_file="haskell:module_file", whole_names=True),
    types=TypeFacets(signature="arrows"),
    calls=CallFacets(bare=True, of_types=False),
)

LANGUAGES = (HASKELL,)


def module_file(importer: str, module: str, files: FileSet, _roots: Roots) -> str | None:
    """The file that a module means."""
    found = files.ending(module.replace(".", "/") + ".hs")
    if len(found) > 1:
        root = importer.split("/")[0]
        found = [path for path in found if path.split("/")[0] == root]
    return found[0] if len(found) == 1 else None
