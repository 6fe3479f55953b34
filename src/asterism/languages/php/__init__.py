"""PHP: what sets it apart, as data."""

from asterism.languages.facets import (
    BaseFacets,
    Dialect,
    DisplayFacets,
    Facets,
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
    imports=ImportFacets(form="namespace", file="php.files:type_file"),
    types=TypeFacets(place="before", attribute_set=r"\$this->(?=\w+\s*=(?!=))"),
    bases=BaseFacets(
        mark=rb"\b(?:extends|implements|with)\b",
        mixins=rb"^[^\S\n]*use[^\S\n]++[\w\\, ]*$",
    ),
)

LANGUAGES = (PHP,)
