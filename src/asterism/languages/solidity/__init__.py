"""Solidity: what sets it apart, as data."""

from posixpath import dirname, join, normpath

from asterism.languages.facets import (
    BaseFacets,
    Dialect,
    Facets,
    FileSet,
    ImportFacets,
    ScopeFacets,
    TraceFacets,
    TypeFacets,
)

SOLIDITY = Facets(
    name="solidity",
    title="Solidity",
    order=176,
    visibility="unless `private`",
    dialects=(Dialect(key="solidity", rules="solidity.rules:SOLIDITY", extensions=(".sol",)),),
    scopes=ScopeFacets(implicit_members=True, open_types="yes"),
    imports=ImportFacets(file="solidity:module_file", passes_stars=True),
    types=TypeFacets(place="before", declarations="first", fixed=True),
    bases=BaseFacets(mark=rb"\bis\b"),
    traces=TraceFacets(frames=(r"{margin}at (?P<name>[\w.]+) \({path}:(?P<line>\d+)\)",)),
)

LANGUAGES = (SOLIDITY,)


def module_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file of a path from the importer's folder, from the root, or of a package."""
    if module.startswith("."):
        path = normpath(join(dirname(importer), module))
        return path if path in files else None
    if module in files:
        return module
    # Of `@scope/package/path` the repository may be the package.
    steps = module.split("/")
    for start in range(1, len(steps)):
        found = files.ending("/".join(steps[start:]))
        if found:
            return found[0] if len(found) == 1 else None
    return None
