"""What a reranker's scores add to the odds of files and chunks."""

from collections.abc import Mapping, Sequence

import pytest

from asterism.search.ranking.options import ScorerOptions
from asterism.search.ranking.order import Standing
from asterism.search.ranking.rerank import RerankEvidence, rerank_evidence
from asterism.search.recall import FileKey
from asterism.store.chunk_table import ChunkKey
from asterism.types.index import Chunk
from asterism.types.search import Question, Signal
from tests.search.selection_hits import hit

OPTIONS = ScorerOptions(name="encoder", best=2.0, second=1.0, whole=0.5, chunk=3.0)


class Fixed:
    """Gives the scores it was told to, by name."""

    def __init__(self, options: ScorerOptions, **scores: float) -> None:
        self.options = options
        self.given = scores
        self.asked: list[str] = []

    def scores(self, question: Question, chunks: Sequence[Chunk]) -> Mapping[ChunkKey, float]:
        self.asked = [chunk.name for chunk in chunks]
        return {
            ChunkKey(chunk.repo, chunk.id): self.given[chunk.name]
            for chunk in chunks
            if chunk.name in self.given
        }


def place(name: str, file: str = "", odds: float = 0.0) -> Standing:
    chunk = hit(name, file=file).chunk
    return Standing(chunk, FileKey(chunk.repo, chunk.relative_path), odds)


def key(name: str) -> ChunkKey:
    return ChunkKey("shop", name)


def file(path: str) -> FileKey:
    return FileKey("shop", path)


def test_odds_of_files() -> None:
    places = [place("a", "one"), place("b", "one"), place("c", "two"), place("d", "three")]
    found = rerank_evidence(
        Question(text="?"), places, Fixed(OPTIONS, a=-1.0, b=3.0, c=1.0, d=-1.0)
    )
    # Between the lowest and the highest: 0, 1, 0.5, 0, and 0.375 in the mean; the file that has
    # most has 1 in all.
    usual = 2.0 * 0.375 + 0.5 * 0.375
    assert found.files == {
        file("one"): pytest.approx(2.0 * 1 + 1.0 * 0 + 0.5 * 1 - usual),
        file("two"): pytest.approx(2.0 * 0.5 + 0.5 * 0.5 - usual),
        file("three"): pytest.approx(-usual),
    }
    assert found.chunks[key("b")] == pytest.approx(3.0 * 0.625)
    assert found.chunks[key("a")] == pytest.approx(3.0 * -0.375)
    assert found.signals[key("b")] == Signal("encoder", 3.0, 1)
    assert found.signals[key("c")] == Signal("encoder", 1.0, 2)


def test_a_second_good_chunk_counts() -> None:
    alone = [place("a", "one"), place("b", "two"), place("c", "three")]
    together = [place("a", "one"), place("b", "one"), place("c", "three")]
    scorer = Fixed(OPTIONS, a=1.0, b=0.9, c=0.0)
    one = rerank_evidence(Question(text="?"), together, scorer).files
    two = rerank_evidence(Question(text="?"), alone, scorer).files
    assert one[file("one")] - one[file("three")] > two[file("one")] - two[file("three")]


def test_only_the_best_are_scored() -> None:
    scorer = Fixed(ScorerOptions(name="x", top=2, best=1.0), a=1.0, b=0.0, c=9.0)
    found = rerank_evidence(Question(text="?"), [place("a"), place("b"), place("c")], scorer)
    assert scorer.asked == ["a", "b"]
    assert file("c.py") not in found.files


@pytest.mark.parametrize(
    ("places", "is_asked"),
    [
        ([place("a", odds=3.0), place("b", odds=1.1)], True),
        ([place("a", odds=3.0), place("b", odds=0.9)], False),
        ([place("a", "one", 3.0), place("b", "one", 2.9), place("c", "two", 0.9)], False),
        ([place("a", "one", 3.0), place("b", "one", 2.9)], False),
        ([], True),
    ],
    ids=["close", "sure", "others of its file", "one file", "nothing"],
)
def test_a_sure_ranking_is_not_rescored(places: list[Standing], is_asked: bool) -> None:
    scorer = Fixed(ScorerOptions(name="x", best=1.0, sure=2.0), a=0.0, b=1.0, c=1.0)
    found = rerank_evidence(Question(text="?"), places, scorer)
    assert bool(found.files) == (is_asked and bool(places))
    assert bool(scorer.asked) == (is_asked and bool(places))


def test_who_is_never_sure_asks_about_a_single_file() -> None:
    scorer = Fixed(ScorerOptions(name="x", chunk=1.0), a=0.0, b=1.0)
    found = rerank_evidence(
        Question(text="?"), [place("a", "one", 3.0), place("b", "one", 2.9)], scorer
    )
    assert found.chunks[key("b")] > 0 > found.chunks[key("a")]


def test_a_candidate_without_a_score_counts_as_the_mean() -> None:
    places = [place("a"), place("b"), place("c")]
    found = rerank_evidence(
        Question(text="?"), places, Fixed(ScorerOptions(name="x", best=1.0), a=1.0, b=0.0)
    )
    assert found.files[file("a.py")] > 0 > found.files[file("b.py")]
    assert file("c.py") not in found.files
    assert found.place(places[2]) is places[2]


@pytest.mark.parametrize("scores", [{}, {"a": 1.0}, {"a": 1.0, "b": 1.0}])
def test_nothing_to_compare(scores: dict[str, float]) -> None:
    places = [place("a"), place("b")]
    assert rerank_evidence(Question(text="?"), places, Fixed(OPTIONS, **scores)) == RerankEvidence()
