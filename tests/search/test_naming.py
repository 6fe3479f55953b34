"""What a question names outright: definitions, slips of the fingers, lines of files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from asterism.search.query.parse import understand
from asterism.search.ranking.options import RankOptions
from asterism.search.ranking.recipe import rank
from asterism.search.recall import Index, Named, Sources, by_name, recall
from asterism.types.search import Filter
from tests.indexing.workshop import Workshop, workshop

FILES = {
    "shop/tokens.py": '''class TokenService:
    """Issues and checks tokens."""

    def issue(self, user):
        return user.key

    def revoke(self, user):
        del user.key
''',
    "shop/cart.py": '''def checkout(cart):
    """Pay for a cart."""
    cart.clear()


def next_quoted_value():
    return "quoted"


def next_unquoted_value():
    return "plain"
''',
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    directory: Path = tmp_path_factory.mktemp("named")
    with workshop(directory, "memory") as found:
        for path, text in FILES.items():
            found.put(path, text)
        found.sync()
        yield found


def sources(shop: Workshop, where: Filter | None = None) -> Sources:
    version = shop.index.catalogue.chunks_version()
    return Sources(shop.index.table().snapshot(version), shop.index.catalogue, where or Filter())


def named(shop: Workshop, text: str, where: Filter | None = None) -> Named:
    question, index = understand(text), sources(shop, where)
    pools = recall(question, [], index, 10, RankOptions().recall)
    return by_name(question, pools.path, Index(*index), RankOptions().recall)


@pytest.mark.parametrize(
    ("text", "exact"),
    [("TokenService", True), ("TokenSevrice", False), ("tokenService", False)],
)
def test_a_name_is_found_and_so_is_a_slip_of_it(shop: Workshop, text: str, exact: bool) -> None:
    found = named(shop, text).definitions.values()
    assert [(one.name, one.kind, one.is_exact) for one in found] == [(text, "class", exact)]


@pytest.mark.parametrize("text", ["isue", "ShoppingBasket", "how are tokens revoked"])
def test_what_is_short_or_unlike_every_name_is_no_slip(shop: Workshop, text: str) -> None:
    assert not named(shop, text).definitions


def test_a_name_that_exists_is_not_looked_for_in_other_spellings(shop: Workshop) -> None:
    found = named(shop, "checkout() or TokenService.issue").definitions.values()
    assert {one.name for one in found if one.is_exact} == {one.name for one in found}


@pytest.mark.parametrize(
    "text",
    [
        'File "/srv/app/shop/tokens.py", line 8, in revoke',
        "AttributeError in shop/tokens.py:8",
        "what fails at tokens.py:8",
    ],
)
def test_a_line_brings_the_smallest_chunk_around_it_first(shop: Workshop, text: str) -> None:
    assert [line.line for line in named(shop, text).lines.values()] == [8]
    index, question = sources(shop), understand(text)
    pools = recall(question, [], index, 10, RankOptions().recall)
    first = rank(question, pools, index.chunks.chunks, RankOptions())[0]
    assert first.chunk.qualified_name == "TokenService.revoke"
    assert "line" in {signal.name for signal in first.why}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("next_qoted_value", "next_quoted_value"),
        ("nextUnqotedValue", "next_unquoted_value"),
    ],
)
def test_only_the_nearest_spelling_is_taken_for_what_was_meant(
    shop: Workshop, text: str, name: str
) -> None:
    chunks = sources(shop).chunks.chunks([*named(shop, text).definitions])
    assert [chunk.name for chunk in chunks] == [name]


def test_lines_are_found_in_files_that_the_paths_did_not_bring(shop: Workshop) -> None:
    """A trace with many files: the chunks of one leave no room for those of another."""
    question = understand("fails at tokens.py:8 and then at shop/cart.py:3")
    index, options = sources(shop), RankOptions().recall
    brought = recall(question, [], index, 10, options).path
    of_one = [match for match in brought if match.path == "shop/tokens.py"]
    found = by_name(question, of_one, Index(*index), options)
    assert {
        (path, line.line) for key, line in found.lines.items() for path in [found.places[key]]
    } == {
        ("shop/tokens.py", 8),
        ("shop/cart.py", 3),
    }


def test_a_filter_holds_for_what_is_named(shop: Workshop) -> None:
    where = Filter(paths=("shop/cart.py",))
    found = named(shop, "TokenService in shop/tokens.py:8", where)
    assert not found.definitions
    assert not found.lines


def test_a_module_is_named_by_the_end_of_its_name(tmp_path: Path) -> None:
    with workshop(tmp_path, "memory") as hotel:
        hotel.put("lib/room.ex", "defmodule Hotel.Room do\n  def free, do: true\nend\n")
        hotel.sync()
        found = named(hotel, "Room").definitions.values()
        assert [(one.kind, one.is_exact) for one in found] == [("module", True)]
        # Nothing ends with it, so it is a slip of something else, or nothing.
        assert not any(one.is_exact for one in named(hotel, "oom").definitions.values())
