"""Kotlin: what sets it apart, as data."""

from asterism.languages.facets import (
    BaseFacets,
    CallFacets,
    Dialect,
    Facets,
    ImportFacets,
    ScopeFacets,
    TypeFacets,
)

KOTLIN = Facets(
    name="kotlin",
    title="Kotlin",
    order=120,
    visibility="unless `private` or `internal`, or inside a function",
    dialects=(
        Dialect(
            key="kotlin",
            rules="kotlin.rules:KOTLIN",
            extensions=(".kt", ".kts"),
            interpreters=("kotlin",),
        ),
    ),
    scopes=ScopeFacets(
        family="java",
        reach=frozenset({"package"}),
        one_symbol="actual",
        package_line=rb"^[^\S\n]*package\s+([\w.]+)",
        implicit_members=True,
        open_types="yes",
        added_members=True,
    ),
    imports=ImportFacets(form="package", file="java:type_file", used_as_members=True),
    types=TypeFacets(declarations="words", fixed=True, header_constructors=True),
    bases=BaseFacets(mark=rb":(?!:)", classes_are_called=True),
    calls=CallFacets(by_block=True),
)

LANGUAGES = (KOTLIN,)
