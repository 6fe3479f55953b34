"""Source text to chunks in one call, for tests that compare what comes out."""

from textwrap import dedent

from asterism.analysis.chunks.chunker import FileOrigin, chunk_file
from asterism.analysis.chunks.embedding_text import RULE
from asterism.analysis.chunks.units import ChunkOptions
from asterism.analysis.syntax.outlines import outline
from asterism.types.index import Chunk


def chunks_of(path: str, text: str, options: ChunkOptions | None = None) -> list[Chunk]:
    """The chunks of a file that has this text."""
    source = dedent(text).lstrip("\n").encode()
    return chunk_file(
        outline(path, source), source, FileOrigin("repo", f"/repo/{path}", path), options
    )


def chunk_named(path: str, text: str, name: str) -> Chunk:
    """The one chunk with this qualified name."""
    (found,) = (chunk for chunk in chunks_of(path, text) if chunk.qualified_name == name)
    return found


def code_of(chunk: Chunk) -> str:
    """What stands below the rule: the collapsed source."""
    return chunk.embedding_text.split(f"\n{RULE}\n", 1)[1]
