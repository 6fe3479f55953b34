"""GraphQL: schemas and operations, as data."""

from posixpath import dirname, join, normpath

from asterism.languages.facets import (
    BaseFacets,
    Dialect,
    DisplayFacets,
    Facets,
    FileSet,
    ImportFacets,
    ScopeFacets,
)

GRAPHQL = Facets(
    name="graphql",
    title="GraphQL",
    order=195,
    visibility="always: a schema has one space of names",
    aliases=("gql",),
    dialects=(
        Dialect(
            key="graphql",
            reader="graphql.reader:read",
            extensions=(".graphql", ".gql", ".graphqls"),
        ),
    ),
    display=DisplayFacets(path_line="# {}", comments="hash"),
    # All files of a schema are one; operations are written against the whole.
    scopes=ScopeFacets(reach=frozenset({"global"})),
    imports=ImportFacets(file="graphql:module_file", whole_names=True),
    bases=BaseFacets(mark=rb"\bimplements\b"),
)

LANGUAGES = (GRAPHQL,)


def module_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file at a path relative to the importer, or else from the root."""
    return files.first((normpath(join(dirname(importer), module)), normpath(module)))
