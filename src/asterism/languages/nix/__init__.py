"""Nix: what sets it apart, as data."""

from posixpath import dirname, join, normpath

from asterism.languages.facets import (
    CallFacets,
    Dialect,
    DisplayFacets,
    Facets,
    FileSet,
    ImportFacets,
    TraceFacets,
)

NIX = Facets(
    name="nix",
    title="Nix",
    order=178,
    visibility="attributes of the file's value; not what `let` binds",
    dialects=(Dialect(key="nix", rules="nix.rules:NIX", extensions=(".nix",)),),
    display=DisplayFacets(path_line="# {}", comments="hash"),
    imports=ImportFacets(file="nix:module_file"),
    calls=CallFacets(bare=True, of_types=False),
    traces=TraceFacets(frames=(r"{margin}at {path}:(?P<line>\d+):\d+:",)),
)

LANGUAGES = (NIX,)


def module_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file of a path from the importer's folder; of a folder its `default.nix`."""
    path = normpath(join(dirname(importer), module))
    return files.first((path, "default.nix" if path == "." else f"{path}/default.nix"))
