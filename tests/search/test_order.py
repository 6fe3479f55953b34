"""The order of an answer: files, families of symbols, and several sentences."""

import math

import pytest

from asterism.search.ranking.options import RankOptions
from asterism.search.ranking.order import Standing, in_order, represented
from asterism.search.recall import FileKey
from asterism.store.chunk_table import ChunkKey
from tests.search.selection_hits import hit


def test_a_class_and_its_methods_do_not_take_every_place() -> None:
    parent = hit("Token", file="token.py").chunk._replace(child_chunk_ids=("check", "issue"))
    children = [
        hit(name, file="token.py").chunk._replace(parent_chunk_id="Token")
        for name in ("check", "issue")
    ]
    other = hit("cart", file="cart.py").chunk
    standing = [
        Standing(parent, FileKey("shop", "token.py"), 1.0),
        *(Standing(child, FileKey("shop", "token.py"), 0.9) for child in children),
        Standing(other, FileKey("shop", "cart.py"), 0.1),
    ]
    odds = {FileKey("shop", "token.py"): 2.0, FileKey("shop", "cart.py"): 1.0}
    ordered = in_order(standing, odds.__getitem__, RankOptions())
    assert [place.chunk.name for place in ordered] == ["Token", "cart", "check", "issue"]
    assert {"prior:same_file", "prior:same_family"} == {signal.name for signal in ordered[2].priors}


@pytest.mark.parametrize(("is_named", "expected"), [(False, 0.05), (True, 0.2)])
def test_a_further_chunk_keeps_more_where_the_question_names_it(
    is_named: bool, expected: float
) -> None:
    file = FileKey("shop", "token.py")
    standing = [
        Standing(hit(name, file="token.py").chunk, file, 1.0 - n, is_named=n > 0 and is_named)
        for n, name in enumerate(("check", "issue", "renew"))
    ]
    ordered = in_order(standing, lambda _: 2.0, RankOptions())
    assert [place.odds for place in ordered] == pytest.approx(
        [2.0, 1.0 + math.log(expected), 2 * math.log(expected)]
    )


def _places(count: int) -> list[Standing]:
    """Places of as many files, each a little less likely than the one before."""
    return [
        Standing(hit(f"h{n}", file=f"{n}.py").chunk, FileKey("shop", f"{n}.py"), -float(n))
        for n in range(count)
    ]


def _key(place: Standing) -> ChunkKey:
    return ChunkKey(place.chunk.repo, place.chunk.id)


def test_the_best_hit_of_each_sentence_rises_to_the_first_ones() -> None:
    places = _places(20)
    sentences = [(_key(places[0]),), (_key(places[15]), _key(places[17]))]
    ordered = represented([*places], sentences, RankOptions(sentence_within=5))
    assert [place.chunk.name for place in ordered[:6]] == ["h0", "h1", "h2", "h3", "h15", "h4"]
    assert [signal.name for signal in ordered[4].priors] == ["prior:sentence"]
    assert [place.odds for place in ordered] == sorted(
        (place.odds for place in ordered), reverse=True
    )


def test_two_sentences_that_both_rise_both_stay_among_the_first() -> None:
    places = _places(20)
    sentences = [(_key(places[12]),), (_key(places[15]),)]
    ordered = represented([*places], sentences, RankOptions(sentence_within=5))
    assert {"h12", "h15"} <= {place.chunk.name for place in ordered[:5]}


@pytest.mark.parametrize("off", [frozenset({"sentence"}), frozenset[str]()])
def test_without_sentences_or_with_the_prior_off_nothing_moves(off: frozenset[str]) -> None:
    places = _places(20)
    sentences = [(_key(places[15]),)] if off else []
    assert represented([*places], sentences, RankOptions(off=off)) == places
