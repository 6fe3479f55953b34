"""Signatures of other files, added to a chunk's text once imports are resolved."""

from collections.abc import Mapping

from asterism.analysis.chunks.embedding_text import QUOTED, RULE, quote
from asterism.analysis.chunks.options import ChunkOptions
from asterism.types.chunk import Chunk


def bind_quotes(chunk: Chunk, signatures: Mapping[str, str], options: ChunkOptions) -> Chunk:
    """The chunk with the signatures of the imported names it mentions, by their local names.

    They stand behind the quotes from its own file, in order of mention. Those beyond the limits
    are left out, and those that are there already are not added again.
    """
    wanted = [name for name in chunk.mentions if name in signatures]
    head, rule, code = chunk.embedding_text.partition(f"\n{RULE}\n")
    if not wanted or not rule:
        return chunk
    above, section, below = head.partition(f"\n\n{QUOTED}\n")
    # The section ends in a blank line.
    lines = below.split("\n")[:-1] if section else []
    room = options.max_chars - len(chunk.embedding_text) - (0 if section else len(QUOTED) + 3)
    before = len(lines)
    for name in wanted:
        line = quote(name, signatures[name], options)
        taken = any(quoted.startswith(f"- {name}: ") for quoted in lines)
        if len(lines) < options.max_quoted and not taken and len(line) < room:
            lines.append(line)
            room -= len(line) + 1
    if len(lines) == before:
        return chunk
    quoted = "\n".join(lines)
    return chunk._replace(embedding_text=f"{above}\n\n{QUOTED}\n{quoted}\n{rule}{code}")
