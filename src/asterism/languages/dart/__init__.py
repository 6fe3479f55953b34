"""Dart: what sets it apart, as data."""

from posixpath import dirname, join, normpath

from asterism.languages.facets import (
    BaseFacets,
    CallFacets,
    Dialect,
    Facets,
    FileSet,
    ImportFacets,
    ScopeFacets,
    TraceFacets,
    TypeFacets,
)

DART = Facets(
    name="dart",
    title="Dart",
    order=125,
    visibility="without a leading underscore in its name or around it, and not inside a function",
    aliases=("flutter",),
    dialects=(
        Dialect(key="dart", rules="dart.rules:DART", extensions=(".dart",), interpreters=("dart",)),
    ),
    scopes=ScopeFacets(implicit_members=True, open_types="yes", named_constructors=True),
    imports=ImportFacets(file="dart:module_file"),
    types=TypeFacets(place="before", returns_first=True, declarations="first", fixed=True),
    bases=BaseFacets(mark=rb"\b(?:extends|implements|with|on)\b"),
    calls=CallFacets(decorators=True),
    traces=TraceFacets(
        frames=(
            # Of the virtual machine, and as `package:stack_trace` writes it.
            r"{margin}#\d+\s+(?P<name>[\w$.]+)(?:\.?<[^>\n]*>)* "
            r"\((?:package:[^/\s]+/|file://|dart:)?{path}:(?P<line>\d+)(?::\d+)?\)",
            r"{margin}(?:package:[^/\s]+/)?{path} (?P<line>\d+):\d+\s+(?P<name>[\w$.<>]+)[^\S\n]*$",
        )
    ),
)

LANGUAGES = (DART,)


def module_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file of `package:name/path.dart`, or of a path from the importer's folder."""
    scheme, colon, address = module.partition(":")
    if not colon:
        path = normpath(join(dirname(importer), module))
        return path if path in files else None
    if scheme != "package":
        return None
    package, _, path = address.partition("/")
    found = files.ending(f"{package}/lib/{path}")
    if not found and f"lib/{path}" in files:
        # The repository is the package itself, whatever its folder is called.
        found = [f"lib/{path}"]
    return found[0] if len(found) == 1 else None
