"""Zig: what sets it apart, as data."""

from asterism.languages.facets import Dialect, Facets, ImportFacets, ScopeFacets, TypeFacets

ZIG = Facets(
    name="zig",
    title="Zig",
    order=190,
    visibility="`pub` or `export`; fields and values like what they belong to",
    dialects=(Dialect(key="zig", rules="zig.rules:ZIG", extensions=(".zig", ".zon")),),
    scopes=ScopeFacets(open_types="yes"),
    imports=ImportFacets(other_file="zig.files:module_file"),
    types=TypeFacets(
        bare_return=True, declarations="words", fixed=True, error_unions=True, alias_values=True
    ),
)

LANGUAGES = (ZIG,)
