"""Code like the code at a place: the place's own chunk, its vector, and what is not an answer."""

from collections.abc import Iterable, Sequence

from asterism.search.filters import literal
from asterism.search.ranking.options import RankOptions
from asterism.search.ranking.priors import FUNCTIONS, PLAIN
from asterism.search.recall import CodePlace, Model, Sources, nearest, pool_size
from asterism.store.chunk_table import ChunkKey, ChunkSnapshot, Vector
from asterism.types.errors import UsageError
from asterism.types.index import Chunk
from asterism.types.search import Filter, Hit, Signal

# Kinds that hold a value and do nothing.
_WITHOUT_CODE = PLAIN | {"enum", "enum_member", "property", "variable", "const", "signature"}
# Of a whole file the longest chunks speak; each is a search of its own.
MOST_CHUNKS = 20


def model_at(snapshot: ChunkSnapshot, repo: str, place: CodePlace) -> Model | None:
    """The code at a place; nothing where the index has none of that file."""
    where = Filter(repos=(repo,), paths=(literal(place.path),))
    chunks = [chunk for chunk in snapshot.scan(where) if chunk.relative_path == place.path]
    if not chunks:
        return None
    if place.first is None:
        roots = [chunk for chunk in chunks if chunk.parent_chunk_id is None]
        longest = sorted(roots, key=lambda chunk: -len(chunk.full_source))[:MOST_CHUNKS]
        chosen = sorted(longest, key=lambda chunk: chunk.start_line)
        return Model(place=place, chunks=tuple(chosen), family=frozenset(map(_key, chunks)))
    chunk = _innermost(chunks, place.first, place.last or place.first, place)
    return Model(place=place, chunks=(chunk,), family=_family(chunk, chunks))


def find_similar(model: Model, sources: Sources, limit: int, options: RankOptions) -> list[Hit]:
    """The chunks nearest to the model's own vectors, its family aside.

    For functions, members that only hold a value are left out, and so are imports and comments.
    """
    keys = [_key(chunk) for chunk in model.chunks]
    known = sources.chunks.vectors(keys)
    vectors = [known[key] for key in keys if key in known]
    found = nearest_to(vectors, sources, limit, options, model.family)
    if any(chunk.node_kind not in FUNCTIONS for chunk in model.chunks):
        return found
    return [hit for hit in found if hit.chunk.node_kind not in _WITHOUT_CODE]


def nearest_to(
    vectors: Sequence[Vector],
    sources: Sources,
    limit: int,
    options: RankOptions,
    family: frozenset[ChunkKey] = frozenset(),
) -> list[Hit]:
    """The chunks nearest to any of the vectors, by distance alone; the score is the cosine.

    What is known of files, and what a question asks for, says nothing about likeness: the method
    beside this one is as good an answer as any.
    """
    # The family is nearest of all, and takes places that are wanted for others.
    size = pool_size(limit, options.recall) + len(family)
    found = [match for match in nearest(vectors, sources, size) if match.key not in family]
    chunks = {_key(chunk): chunk for chunk in sources.chunks.chunks([one.key for one in found])}
    return [
        Hit(
            chunks[match.key],
            max(0.0, 1 - match.score / 2),
            match.score,
            (Signal("vector", match.score, rank),),
        )
        for rank, match in enumerate(found, 1)
        if match.key in chunks
    ]


def _innermost(chunks: Sequence[Chunk], first: int, last: int, place: CodePlace) -> Chunk:
    """The smallest chunk with all these lines; of a blank line the next chunk, or the last."""
    end = max(chunk.end_line for chunk in chunks)
    if first > end or last < first:
        raise UsageError(
            f"{place} is no place in the file: its code ends on line {end:,}; give a line up to "
            "there, or the file alone."
        )
    around = [chunk for chunk in chunks if chunk.start_line <= first and last <= chunk.end_line]
    if around:
        return min(around, key=lambda chunk: (chunk.end_line - chunk.start_line, -chunk.depth))
    touched = [chunk for chunk in chunks if chunk.end_line >= first]
    return min(touched, key=lambda chunk: (chunk.start_line, chunk.start_line - chunk.end_line))


def _family(chunk: Chunk, chunks: Iterable[Chunk]) -> frozenset[ChunkKey]:
    by_id = {each.id: each for each in chunks}
    # Parts of a split body have the id of the first one at the beginning of theirs.
    parts = [
        each
        for each in by_id.values()
        if each.qualified_name == chunk.qualified_name
        and each.node_kind == chunk.node_kind
        and (each.id.partition("-")[0] == chunk.id.partition("-")[0])
    ]
    family: dict[str, None] = {}
    pending = [part.id for part in parts]
    while pending:
        one = by_id.get(pending.pop())
        if one is not None and one.id not in family:
            family[one.id] = None
            pending.extend(one.child_chunk_ids)
    above = chunk.parent_chunk_id
    while above is not None and above in by_id:
        family[above] = None
        above = by_id[above].parent_chunk_id
    return frozenset(ChunkKey(chunk.repo, one) for one in family)


def _key(chunk: Chunk) -> ChunkKey:
    return ChunkKey(chunk.repo, chunk.id)
