"""The columns of the chunk table, and entries to and from Arrow, by hand."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from asterism.store.chunk_table import HASH_BYTES, Matrix
from asterism.types.index import Chunk, Entry

Arrow: TypeAlias = Any
"""An object of pyarrow, which has no types."""
Dataset: TypeAlias = Any
"""A dataset of Lance, whose methods return objects of pyarrow."""

CHUNK_COLUMNS = Chunk._fields[: Chunk._fields.index("vector")]
"""All of a chunk but its vector and what only a chunk in the making has, in the record's order."""
TERM_COLUMNS = ("terms", "name_terms", "path_terms")
ENTRY_COLUMNS = (*CHUNK_COLUMNS, "file_version", "text_hash", *TERM_COLUMNS)
"""All of an entry, in the record's order."""
_LISTS = ("child_chunk_ids", "decorator_names", "modifiers", "tags", "relevant_imports")
_NUMBERS = ("depth", "part", "start_line", "end_line")
_OPTIONAL = ("parent_name", "parent_chunk_id", "jsdoc", "docstring")


def schema(dimensions: int) -> Arrow:
    """Return the Arrow schema of a table whose vectors have this size."""
    import pyarrow as pa

    fixed = {
        "is_exported": pa.bool_(),
        "last_modified": pa.float64(),
        "file_version": pa.int64(),
        "text_hash": pa.binary(HASH_BYTES),
        "vector": pa.list_(pa.float32(), dimensions),
        **dict.fromkeys(_NUMBERS, pa.int32()),
        **dict.fromkeys(_LISTS, pa.list_(pa.string())),
    }
    names = (*ENTRY_COLUMNS, "vector")
    return pa.schema(
        pa.field(name, fixed.get(name, pa.string()), nullable=name in _OPTIONAL) for name in names
    )


def dimensions_of(shape: Arrow) -> int | None:
    """The size of the vectors of a table, or None if the table has other columns."""
    if not set(shape.names).issuperset((*ENTRY_COLUMNS, "vector")):
        return None
    return int(shape.field("vector").type.list_size)


def table_of(entries: Sequence[Entry], vectors: Matrix) -> Arrow:
    """Rows for storage; the entries' text must be valid."""
    import numpy as np
    import pyarrow as pa

    shape = schema(vectors.shape[1])
    columns = [*zip(*(entry.chunk[: len(CHUNK_COLUMNS)] for entry in entries), strict=True)]
    columns += [*zip(*(entry[1:] for entry in entries), strict=True)]
    arrays = [
        pa.array(values, field.type)
        for values, field in zip(columns, list(shape)[:-1], strict=True)
    ]
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
    arrays.append(pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]))
    return pa.Table.from_arrays(arrays, schema=shape)


def chunks_of(rows: Arrow) -> Iterator[Chunk]:
    """The chunks of a table that has all of `CHUNK_COLUMNS`."""
    columns = [
        _tuples(rows[name]) if name in _LISTS else rows[name].to_pylist() for name in CHUNK_COLUMNS
    ]
    return (Chunk(*values) for values in zip(*columns, strict=True))


def entries_of(rows: Arrow) -> Iterator[Entry]:
    """The entries of rows that have all of `ENTRY_COLUMNS`."""
    rest = [rows[name].to_pylist() for name in ENTRY_COLUMNS[len(CHUNK_COLUMNS) :]]
    return map(Entry, chunks_of(rows), *rest)


def matrix_of(column: Arrow) -> Matrix:
    """A column of vectors as one array."""
    import numpy as np

    combined = column.combine_chunks()
    size = combined.type.list_size
    flat = combined.flatten().to_numpy()
    return np.asarray(flat, dtype=np.float32).reshape(-1, size)


def _tuples(column: Arrow) -> list[tuple[str, ...]]:
    return [tuple(values) for values in column.to_pylist()]
