"""Hits to select from, written in one line each."""

from collections.abc import Iterable

from asterism.types.index import Chunk
from asterism.types.search import Detail, Hit, Kept


def hit(
    name: str,
    score: float = 0.9,
    distance: float | None = None,
    *,
    file: str = "",
    repo: str = "shop",
    lines: tuple[int, int] = (1, 1),
    text: str | None = None,
    collapsed: str | None = None,
    signature: str = "",
) -> Hit:
    """A hit of its own file, with its own text, unless told otherwise."""
    path = file or f"{name}.py"
    source = f"source of {name}" if text is None else text
    chunk = Chunk(
        id=name,
        file_path=f"/src/{repo}/{path}",
        relative_path=path,
        repo=repo,
        language="python",
        extension=".py",
        filename=path,
        node_kind="function",
        name=name,
        qualified_name=name,
        parent_name=None,
        parent_chunk_id=None,
        child_chunk_ids=(),
        depth=0,
        part=0,
        signature=signature,
        full_source=source,
        start_line=lines[0],
        end_line=lines[1],
        jsdoc=None,
        docstring=None,
        decorator_names=(),
        modifiers=(),
        tags=(),
        is_exported=True,
        relevant_imports=(),
        embedding_text=f"[Python] {path} > {name}\n---\n{collapsed or source}",
        content_hash="",
        last_modified=0.0,
    )
    return Hit(chunk, score, distance)


def names(kept: Iterable[Kept]) -> str:
    """The names of what was kept, in order, each with its detail where that is not `full`."""
    return " ".join(
        one.hit.chunk.name + ("" if one.detail is Detail.full else f":{one.detail.value}")
        for one in kept
    )
