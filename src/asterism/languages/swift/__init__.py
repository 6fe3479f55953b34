"""Swift: what sets it apart, as data."""

from asterism.languages.facets import (
    BaseFacets,
    CallFacets,
    Dialect,
    Facets,
    ScopeFacets,
    TypeFacets,
)

SWIFT = Facets(
    name="swift",
    title="Swift",
    order=140,
    visibility="unless `private` or `fileprivate`, itself or anything around it, or inside code",
    dialects=(
        Dialect(
            key="swift", rules="swift.rules:SWIFT", extensions=(".swift",), interpreters=("swift",)
        ),
    ),
    scopes=ScopeFacets(
        reach=frozenset({"folder", "global"}),
        implicit_members=True,
        open_types="yes",
        own_type_words=True,
        added_members=True,
    ),
    types=TypeFacets(declarations="words", fixed=True),
    bases=BaseFacets(mark=rb":(?!:)"),
    calls=CallFacets(by_block=True),
)

LANGUAGES = (SWIFT,)
