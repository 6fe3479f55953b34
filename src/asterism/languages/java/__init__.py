"""Java: what sets it apart, as data."""

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
    imports=ImportFacets(form="package", file="java:type_file"),
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


_JVM = (".java", ".kt", ".scala")


def type_file(importer: str, module: str, files: FileSet) -> str | None:
    """The file that is called like a type, in the folders of its package."""
    steps = module.replace(".", "/")
    if "/" not in steps:
        return None
    found = [path for extension in _JVM for path in files.ending(steps + extension)]
    return found[0] if len(found) == 1 else None
