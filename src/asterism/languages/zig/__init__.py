"""Zig: what sets it apart, as data."""

from posixpath import dirname, join, normpath

from asterism.languages.facets import (
    Dialect,
    Facets,
    FileSet,
    ImportFacets,
    Roots,
    ScopeFacets,
    TypeFacets,
)

ZIG = Facets(
    name="zig",
    title="Zig",
    order=190,
    visibility="`pub` or `export`; fields and values like what they belong to",
    dialects=(Dialect(key="zig", rules="zig.rules:ZIG", extensions=(".zig", ".zon")),),
    scopes=ScopeFacets(open_types="yes"),
    imports=ImportFacets(other_file="zig:module_file"),
    types=TypeFacets(
        bare_return=True, declarations="words", fixed=True, error_unions=True, alias_values=True
    ),
)

LANGUAGES = (ZIG,)


def module_file(importer: str, module: str, files: FileSet, _roots: Roots) -> str | None:
    """The file that a module means."""
    if module.endswith(".zig"):
        path = normpath(join(dirname(importer), module))
        return path if path in files else None
    # A package by its name: its first file is called like it.
    return files.only((f"src/{module}.zig", f"{module}.zig", f"src/{module}/{module}.zig"))
