"""PHP: what sets it apart, as data."""

from posixpath import basename

from asterism.languages.facets import (
    BaseFacets,
    Dialect,
    DisplayFacets,
    Facets,
    FileSet,
    ImportFacets,
    ScopeFacets,
    TypeFacets,
)

PHP = Facets(
    name="php",
    title="PHP",
    order=110,
    visibility="`public` or without visibility, and not inside a function",
    dialects=(
        Dialect(
            key="php",
            rules="php.rules:PHP",
            extensions=(".php", ".phtml", ".php5"),
            interpreters=("php",),
        ),
    ),
    # Behind the tag that makes the rest code; a whole file begins with text again.
    display=DisplayFacets(
        path_line="<?php // {}", path_line_whole="<?php // {} ?>", comments="hash"
    ),
    scopes=ScopeFacets(
        reach=frozenset({"package"}),
        global_fallback=True,
        package_line=rb"^[^\S\n]*namespace\s+([\w\\]+)\s*;",
        own_type_words=True,
    ),
    imports=ImportFacets(form="namespace", file="php:type_file"),
    types=TypeFacets(place="before", attribute_set=r"\$this->(?=\w+\s*=(?!=))"),
    bases=BaseFacets(
        mark=rb"\b(?:extends|implements|with)\b", mixins=rb"^[^\S\n]*use[^\S\n]++[\w\\, ]*$"
    ),
)

LANGUAGES = (PHP,)


def type_file(importer: str, module: str, files: FileSet) -> str | None:
    """A namespace begins with names that its folders need not have, so its end counts."""
    steps = module.strip("\\").split("\\")
    for start in range(len(steps) - 1):
        ending = "/".join(steps[start:]) + ".php"
        found = files.ending(ending)
        if start:
            found = [
                path for path in found if not _is_namespace(path.removesuffix(ending).rstrip("/"))
            ]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _is_namespace(folder: str) -> bool:
    """Whether a folder is called like a namespace: then the module would have named it."""
    return basename(folder)[:1].isupper()
