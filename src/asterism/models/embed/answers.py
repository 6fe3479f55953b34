"""What an embedding service's answer means: vectors, or which failure."""

from collections.abc import Sequence
from typing import Any

from asterism.models.embed.provider import Matrix
from asterism.models.embed.vectors import halved, unit
from asterism.models.http.answers import Answer, content_of
from asterism.models.http.service import ServiceName
from asterism.types.errors import BadVectors


def vectors_of(answer: Answer, count: int, dimensions: int, service: ServiceName) -> Matrix:
    """The unit vectors of an answer, in the order of the request's texts."""
    content = content_of(answer, service)
    return _checked(_ordered(content, count, service), dimensions, service)


def _ordered(content: Any, count: int, service: ServiceName) -> Sequence[Any]:
    """The embeddings by their index: a service may answer in any order."""
    try:
        data = enumerate(content["data"])
        rows = [(row.get("index", place), row["embedding"]) for place, row in data]
        ordered = dict(rows)
    except (TypeError, KeyError, AttributeError) as error:
        raise BadVectors(f"{service} answered without embeddings; check embedding.url.") from error
    if len(rows) != count or ordered.keys() != set(range(count)):
        raise BadVectors(
            f"{service.name} gave {len(rows)} vectors for {count} texts. If it happens again, use "
            "another model or a smaller embedding.batch_size."
        )
    return [ordered[place] for place in range(count)]


def _checked(rows: Sequence[Any], dimensions: int, service: ServiceName) -> Matrix:
    import numpy as np

    sizes = {len(row) if isinstance(row, list) else 0 for row in rows}
    if sizes != {dimensions}:
        found = ", ".join(map(str, sorted(sizes)))
        raise BadVectors(
            f"{service.name} gave vectors of {found} dimensions where {dimensions} were expected. "
            "Set embedding.dimensions to the size of the model's vectors."
        )
    try:
        vectors = np.array(rows, dtype=np.float32)
    except (ValueError, TypeError) as error:
        raise BadVectors(f"{service.name} gave vectors with parts that are no numbers.") from error
    lengths = np.linalg.norm(vectors, axis=1)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise BadVectors(
            f"{service.name} gave vectors that are zero or not finite; the model does not work as "
            "it should. Load it again, or set another embedding.model."
        )
    return halved(unit(vectors))
