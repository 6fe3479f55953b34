"""Java: what sets it apart, as data."""

from asterism.languages.facets import (
    BaseFacets,
    Dialect,
    Facets,
    ImportFacets,
    ScopeFacets,
    TraceFacets,
    TypeFacets,
)

JAVA = Facets(
    name="java",
    title="Java",
    order=50,
    visibility="`public`; members of interfaces and annotations, values of enums and "
    "components of records by default",
    dialects=(Dialect(key="java", rules="java.rules:JAVA", extensions=(".java",)),),
    outside_packages=(r"^jdt://contents/[^/]+/([\w.]+)/",),
    scopes=ScopeFacets(
        family="java",
        reach=frozenset({"package"}),
        package_line=rb"^[^\S\n]*package\s+([\w.]+)",
        implicit_members=True,
        open_types="yes",
        named_constructors=True,
    ),
    imports=ImportFacets(form="package", file="java.files:type_file"),
    types=TypeFacets(place="before", returns_first=True, declarations="first", fixed=True),
    bases=BaseFacets(mark=rb"\b(?:extends|implements|with)\b"),
    traces=TraceFacets(
        frames=(
            # Kotlin too, perhaps with a module before the class.
            r"{margin}at (?:[\w.@-]+/)?(?P<name>[\w$.<>]+)"
            r"\((?P<path>[\w$-]+\.\w+):(?P<line>\d+)\)",
        )
    ),
)

LANGUAGES = (JAVA,)
