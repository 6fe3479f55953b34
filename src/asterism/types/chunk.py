"""The searchable unit: one symbol or root item, with its children collapsed to signatures."""

from typing import NamedTuple


class Chunk(NamedTuple):
    """One row of the index, before and after it has a vector."""

    id: str
    file_path: str
    relative_path: str
    repo: str
    language: str
    extension: str
    filename: str
    node_kind: str
    name: str
    qualified_name: str
    parent_name: str | None
    parent_chunk_id: str | None
    child_chunk_ids: tuple[str, ...]
    depth: int
    part: int
    """0, or the number of this part where a body over the model's limit was split."""
    signature: str
    full_source: str
    start_line: int
    end_line: int
    jsdoc: str | None
    docstring: str | None
    decorator_names: tuple[str, ...]
    modifiers: tuple[str, ...]
    tags: tuple[str, ...]
    is_exported: bool
    relevant_imports: tuple[str, ...]
    embedding_text: str
    content_hash: str
    last_modified: float
    vector: tuple[float, ...] | None = None
    mentions: tuple[str, ...] = ()
    """Imported names that it uses, whose signatures its embedding text could still quote."""
