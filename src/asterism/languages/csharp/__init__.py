"""C#: what sets it apart, as data."""

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

CSHARP = Facets(
    name="csharp",
    title="C#",
    order=90,
    visibility="`public`; members of interfaces and enums by default",
    dialects=(Dialect(key="csharp", rules="csharp.rules:CSHARP", extensions=(".cs", ".csx")),),
    scopes=ScopeFacets(
        reach=frozenset({"loose"}),
        one_symbol="partial",
        package_line=rb"^[^\S\n]*namespace\s+([\w.]+)\s*;",
        package_in_names=True,
        namespaced=True,
        implicit_members=True,
        open_types="yes",
        named_constructors=True,
        added_by_parameter="(this ",
    ),
    imports=ImportFacets(whole_names=True),
    types=TypeFacets(
        place="before",
        returns_first=True,
        declarations="first",
        fixed=True,
        header_constructors=True,
    ),
    bases=BaseFacets(mark=rb":(?!:)", interface_name=r"I[A-Z]"),
    calls=CallFacets(bracket_attributes=True),
    traces=TraceFacets(
        frames=(
            r"{margin}at (?P<name>[\w.`<>\[\]]+)\([^)\n]*\) in "
            r"(?P<path>[^\n]+?\.\w+):line (?P<line>\d+)",
        )
    ),
)

LANGUAGES = (CSHARP,)
