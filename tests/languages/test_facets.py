"""Is what the facets of languages name there, and theirs alone?"""

from collections import Counter
from collections.abc import Iterator

import pytest

from asterism.analysis.syntax.language import Language
from asterism.languages.facets import Facets
from asterism.languages.registry import code_of, facets_of, languages

NAMES = [facets.name for facets in languages()]


def code_in(facets: Facets) -> Iterator[str]:
    """Every place of code that facets name."""
    imports = facets.imports
    named = (imports.file, imports.other_file, imports.roots, imports.folder, imports.local_name)
    yield from filter(None, (*named, *_readers(facets)))


def _readers(facets: Facets) -> Iterator[str]:
    for dialect in facets.dialects:
        yield from (dialect.claims, dialect.parts, dialect.reader, dialect.view)


@pytest.mark.parametrize("name", NAMES)
def test_every_dialect_is_read_in_one_way(name: str) -> None:
    ways = [
        [way for way in (dialect.rules, dialect.parts, dialect.reader) if way]
        for dialect in facets_of(name).dialects
    ]
    assert [len(each) for each in ways] == [1] * len(ways)


@pytest.mark.parametrize("name", NAMES)
def test_named_code_is_there(name: str) -> None:
    facets = facets_of(name)
    assert [place for place in code_in(facets) if not callable(code_of(place))] == []
    rules = [dialect.rules for dialect in facets.dialects if ":" in dialect.rules]
    assert [place for place in rules if not isinstance(code_of(place), Language)] == []


def test_a_shared_extension_is_claimed_and_owned() -> None:
    dialects = [dialect for facets in languages() for dialect in facets.dialects]
    assert [
        dialect.key for dialect in dialects if bool(dialect.shared) != bool(dialect.claims)
    ] == []
    owned = {extension for dialect in dialects for extension in dialect.extensions}
    assert {extension for dialect in dialects for extension in dialect.shared} <= owned


def test_nothing_is_claimed_twice() -> None:
    claims = Counter(
        claim
        for facets in languages()
        for dialect in facets.dialects
        for claim in (
            *(("extension", extension) for extension in dialect.extensions),
            *(("file name", name) for name in dialect.filenames),
            *(("interpreter", name) for name in dialect.interpreters),
            ("key", dialect.key),
        )
    )
    claims.update(("name", facets.name) for facets in languages())
    claims.update(("order", str(facets.order)) for facets in languages())
    assert {claim: count for claim, count in claims.items() if count > 1} == {}


def test_an_unknown_language_is_like_most() -> None:
    facets = facets_of("a language of a newer version")
    assert facets.display == Facets(name="", title="", order=0, visibility="", dialects=()).display
    assert facets.imports.file == ""
