"""What a reranker does to hits: scores, order, reasons, and what happens to those it does not see."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.search.query.parse import understand
from asterism.search.ranking.options import RankOptions
from asterism.search.ranking.recipe import rank
from asterism.search.ranking.rerank import RerankingOptions, document, reranked, with_distances
from asterism.search.recall import Sources, recall
from asterism.types.errors import ProviderDown
from asterism.types.search import Hit, Question, Signal
from tests.indexing.workshop import workshop
from tests.models.rerank.word_overlap import WordOverlapReranker
from tests.search.selection_hits import hit

QUESTION = Question(text="ask")


class Told:
    """A reranker that says what it is told."""

    def __init__(self, *scores: float) -> None:
        self.scores = scores
        self.documents: list[str] = []

    def rerank(self, query: str, documents: Sequence[str]) -> list[float]:
        self.documents += documents
        return [*self.scores][: len(documents)]

    def close(self) -> None:
        """Nothing is open."""


def shown(hits: Sequence[Hit]) -> str:
    """Each hit's name and score, in order."""
    return " ".join(f"{one.chunk.name}:{one.score:.3f}" for one in hits)


HITS = [hit("a", 0.9, 0.4), hit("b", 0.8, 1.0), hit("c", 0.7, 0.6), hit("d", 0.6, 0.2)]


@pytest.mark.parametrize(
    ("what", "hits", "scores", "options", "expected"),
    [
        (
            "65 to 35 by default: b is 0.65 · 1 + 0.35 · 0.5",
            HITS,
            (0.0, 1.0, 0.5, 0.2),
            {},
            "b:0.825 c:0.570 d:0.445 a:0.280",
        ),
        (
            "the reranker alone",
            HITS,
            (0.1, 0.4, 0.3, 0.2),
            {"weight": 1.0},
            "b:0.400 c:0.300 d:0.200 a:0.100",
        ),
        (
            "the vectors alone",
            HITS,
            (0.1, 0.4, 0.3, 0.2),
            {"weight": 0.0},
            "d:0.900 a:0.800 c:0.700 b:0.500",
        ),
        (
            "equal scores stay in the order of the ranking",
            [hit("z", 0.9, 0.4), hit("y", 0.8, 0.4), hit("x", 0.7, 0.4)],
            (0.5, 0.5, 0.5),
            {},
            "z:0.605 y:0.605 x:0.605",
        ),
        (
            "a hit that is not reranked stays behind and scores no more than the last reranked",
            HITS,
            (0.2, 0.0),
            {"top": 2},
            "a:0.410 b:0.175 c:0.175 d:0.175",
        ),
        (
            "a hit that is not reranked keeps a score that is lower anyway",
            [hit("a", 0.9, 0.4), hit("b", 0.3), hit("c", 0.1)],
            (0.5,),
            {"top": 1},
            "a:0.605 b:0.300 c:0.100",
        ),
        (
            "an opposite vector is no worse than an unrelated one",
            [hit("a", 0.9, 3.0), hit("b", 0.8, 2.0)],
            (0.2, 0.4),
            {},
            "b:0.260 a:0.130",
        ),
        (
            "a hit without a vector is as far as the farthest that has one",
            [hit("a", 0.9), hit("b", 0.8, 1.0), hit("c", 0.7, 0.4)],
            (0.4, 0.2, 0.2),
            {},
            "a:0.435 c:0.410 b:0.305",
        ),
        (
            "where no vector was compared the reranker counts alone",
            [hit("a", 0.9), hit("b", 0.8)],
            (0.4, 0.6),
            {},
            "b:0.600 a:0.400",
        ),
        ("nothing to rerank", [], (), {}, ""),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_blend(
    what: str, hits: list[Hit], scores: tuple[float, ...], options: dict[str, float], expected: str
) -> None:
    found = reranked(QUESTION, hits, Told(*scores), RerankingOptions(**options))  # type: ignore[arg-type]
    assert shown(found) == expected, what


def test_the_reason_is_the_raw_score_and_the_place_in_the_rerankers_list() -> None:
    before = (Signal("text", 3.5, 2),)
    hits = [one._replace(why=before) for one in HITS]
    found = reranked(QUESTION, hits, Told(0.1, 0.9, 0.5), RerankingOptions(top=3))
    why = {one.chunk.name: one.why for one in found}
    assert why == {
        "a": (*before, Signal("rerank", 0.1, 3)),
        "b": (*before, Signal("rerank", 0.9, 1)),
        "c": (*before, Signal("rerank", 0.5, 2)),
        "d": before,
    }


def test_forty_are_reranked() -> None:
    reranker = WordOverlapReranker()
    hits = [hit(f"name{number:03}", 0.9, 0.5) for number in range(100)]
    found = reranked(understand("name039 name040"), hits, reranker, RerankingOptions())
    assert (reranker.calls, len(reranker.documents)) == (1, 40)
    assert [one.chunk.name for one in found[:2]] == ["name039", "name000"]
    assert [one.chunk.name for one in found[40:]] == [
        f"name{number:03}" for number in range(40, 100)
    ]


def test_a_document_is_the_beginning_of_the_embedded_text() -> None:
    """Path and name come first, so that a cut leaves them."""
    chunk = hit("issue", text="x" * 9_000).chunk
    text = document(chunk, RerankingOptions())
    assert len(text) == 4_000
    assert text.startswith("[Python] issue.py > issue\n---\nxxx")
    short = hit("issue").chunk
    assert document(short, RerankingOptions()) == short.embedding_text


def test_a_reranker_that_is_down_is_not_hidden() -> None:
    with pytest.raises(ProviderDown):
        reranked(QUESTION, HITS, WordOverlapReranker(fail_after=0), RerankingOptions())


_SCORE = st.floats(0, 1)
_HIT = st.tuples(_SCORE, st.none() | st.floats(0, 4), _SCORE)


@given(
    rows=st.lists(_HIT, max_size=12),
    top=st.integers(1, 12),
    weight=_SCORE,
)
def test_scores_fall_and_nothing_is_lost(
    rows: list[tuple[float, float | None, float]], top: int, weight: float
) -> None:
    """For any scores: all hits are there, in 0 to 1, falling, the reranked ones first."""
    rows.sort(key=lambda row: -row[0])
    hits = [hit(f"n{at}", score, distance) for at, (score, distance, _) in enumerate(rows)]
    told = Told(*(judged for _, _, judged in rows))
    found = reranked(QUESTION, hits, told, RerankingOptions(top=top, weight=weight))
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 + 1e-9 for score in scores)
    assert {one.chunk.name for one in found[:top]} == {one.chunk.name for one in hits[:top]}
    assert [one.chunk for one in found[top:]] == [one.chunk for one in hits[top:]]


def test_distances_that_no_list_gave_are_measured(tmp_path: Path) -> None:
    """What words alone found is compared as well, with the nearest of the question's vectors."""
    with workshop(tmp_path) as shop:
        shop.put("tokens.py", "def check_token(token):\n    return token.signature\n")
        shop.put("cart.py", "def checkout(cart):\n    return cart.total\n")
        shop.sync()
        snapshot = shop.index.table().snapshot(shop.index.catalogue.chunks_version())
        question = understand("token signature. cart total")
        vectors = [*shop.embedder.embed_queries(["token signature", "cart total"])]
        pools = recall(
            question, [], Sources(snapshot, shop.index.catalogue), 10, RankOptions().recall
        )
        hits = rank(question, pools, snapshot.chunks, RankOptions())
        assert len(hits) == 2
        assert {one.distance for one in hits} == {None}
        found = with_distances(hits, vectors, snapshot)
        nearest: dict[str, float] = {}
        for match in [*snapshot.nearest(vectors[0], 10), *snapshot.nearest(vectors[1], 10)]:
            nearest[match.key.id] = min(match.score, nearest.get(match.key.id, match.score))
        for one in found:
            assert one.distance == pytest.approx(nearest[one.chunk.id], abs=1e-3)
        known = [one._replace(distance=0.123) for one in hits]
        assert with_distances(known, vectors, snapshot) == known
        assert with_distances(hits, [], snapshot) == hits
