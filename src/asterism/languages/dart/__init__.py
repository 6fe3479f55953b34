"""Dart: what sets it apart, as data."""

from asterism.languages.facets import (
    BaseFacets,
    CallFacets,
    Dialect,
    Facets,
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
    imports=ImportFacets(file="dart.files:module_file"),
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
