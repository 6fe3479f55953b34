"""Which chunk is at a place, who belongs to its family, and what is nearest to it?"""

from collections.abc import Iterator

import pytest

from asterism.search.ranking.options import RankOptions
from asterism.search.recall import CodePlace, Sources
from asterism.search.similar import MOST_CHUNKS, find_similar, model_at
from asterism.store.chunk_table import ChunkKey
from asterism.types.errors import UsageError
from asterism.types.search import Filter
from tests.search.harbor_index import HarborIndex, harbor_index

VALIDATOR = "web/src/auth/baseValidator.ts"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HarborIndex]:
    with harbor_index(tmp_path_factory.mktemp("similar"), "memory") as made:
        yield made


def innermost(index: HarborIndex, path: str, first: int, last: int) -> set[str]:
    """The chunks that a reader would name: those around the lines that hold no other such."""
    around = [
        chunk
        for chunk in index.chunks
        if chunk.relative_path == path and chunk.start_line <= first and last <= chunk.end_line
    ]
    parents = {chunk.parent_chunk_id for chunk in around}
    return {chunk.id for chunk in around if chunk.id not in parents}


def test_every_line_has_its_innermost_chunk(index: HarborIndex) -> None:
    lines = sum(
        1
        for chunk in index.chunks
        if chunk.repo == "harbor" and chunk.relative_path.startswith(("web/src/auth", "pricing"))
        for line in (chunk.start_line, chunk.end_line)
        if _is_innermost(index, chunk.relative_path, line)
    )
    assert lines > 100


def _is_innermost(index: HarborIndex, path: str, line: int) -> bool:
    model = model_at(index.snapshot, "harbor", CodePlace(path, line))
    assert model is not None
    assert {chunk.id for chunk in model.chunks} <= innermost(index, path, line, line)
    return True


def test_lines_that_span_two_members_mean_what_holds_both(index: HarborIndex) -> None:
    methods = [
        chunk
        for chunk in index.chunks
        if chunk.relative_path == VALIDATOR and chunk.node_kind == "method"
    ]
    first, second = methods[:2]
    model = model_at(
        index.snapshot, "harbor", CodePlace(VALIDATOR, first.start_line, second.end_line)
    )
    assert model is not None
    assert model.chunks[0].id == first.parent_chunk_id == second.parent_chunk_id
    family = {key.id for key in model.family}
    assert {first.id, second.id, first.parent_chunk_id} <= family


def test_the_family_is_above_and_below_and_not_beside(index: HarborIndex) -> None:
    by_id = {chunk.id: chunk for chunk in index.chunks}
    method = next(
        chunk
        for chunk in index.chunks
        if chunk.relative_path == VALIDATOR and chunk.node_kind == "method"
    )
    model = model_at(index.snapshot, "harbor", CodePlace(VALIDATOR, method.end_line))
    assert model is not None
    names = {by_id[key.id].qualified_name for key in model.family}
    owner = by_id[method.parent_chunk_id or ""]
    assert names == {method.qualified_name, owner.qualified_name}


def test_what_is_found_is_nearest_and_not_of_the_family(index: HarborIndex) -> None:
    where = Filter(repos=("harbor",))
    sources = Sources(index.snapshot, index.catalogue, where)
    model = model_at(index.snapshot, "harbor", CodePlace(VALIDATOR, 1))
    assert model is not None
    hits = find_similar(model, sources, 10, RankOptions())
    distances = [hit.distance or 0.0 for hit in hits]
    assert distances == sorted(distances)
    assert len(hits) >= 40
    assert not {ChunkKey(hit.chunk.repo, hit.chunk.id) for hit in hits} & model.family
    assert all(hit.score == max(0.0, 1 - (hit.distance or 0.0) / 2) for hit in hits)
    assert {hit.chunk.repo for hit in hits} == {"harbor"}


def test_a_whole_file_is_its_outermost_chunks(index: HarborIndex) -> None:
    model = model_at(index.snapshot, "harbor", CodePlace(VALIDATOR))
    assert model is not None
    assert 0 < len(model.chunks) <= MOST_CHUNKS
    assert {chunk.parent_chunk_id for chunk in model.chunks} == {None}
    inside = {chunk.id for chunk in index.chunks if chunk.relative_path == VALIDATOR}
    assert {key.id for key in model.family} == inside


def test_places_without_code(index: HarborIndex) -> None:
    assert model_at(index.snapshot, "harbor", CodePlace("nowhere.ts", 1)) is None
    assert model_at(index.snapshot, "samples", CodePlace(VALIDATOR, 1)) is None
    with pytest.raises(UsageError, match="its code ends on line"):
        model_at(index.snapshot, "harbor", CodePlace(VALIDATOR, 10_000))


@pytest.mark.parametrize(
    ("place", "written"),
    [
        (CodePlace("a.py"), "a.py"),
        (CodePlace("a.py", 3), "a.py:3"),
        (CodePlace("a.py", 3, 9), "a.py:3-9"),
    ],
)
def test_as_it_is_written(place: CodePlace, written: str) -> None:
    assert str(place) == written
