"""Scala: what sets it apart, as data."""

from asterism.languages.facets import (
    BaseFacets,
    CallFacets,
    Dialect,
    Facets,
    ImportFacets,
    ScopeFacets,
    TypeFacets,
)

SCALA = Facets(
    name="scala",
    title="Scala",
    order=150,
    visibility="unless `private` or `protected`, or inside a function",
    dialects=(
        Dialect(
            key="scala", rules="scala.rules:SCALA", extensions=(".scala", ".sc", ".sbt", ".mill")
        ),
    ),
    scopes=ScopeFacets(
        family="java",
        reach=frozenset({"package", "loose"}),
        package_line=rb"^[^\S\n]*package\s+([\w.]+)",
        implicit_members=True,
        open_types="yes",
    ),
    imports=ImportFacets(form="package", file="java:type_file", used_as_members=True),
    types=TypeFacets(declarations="words", fixed=True, header_constructors=True),
    bases=BaseFacets(mark=rb"\b(?:extends|implements|with)\b"),
    calls=CallFacets(by_block=True, bare=True),
)

LANGUAGES = (SCALA,)
