"""Vector search inside a chat: which hits its model is given, and the shape they are given in."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from asterism.search.selection.options import CHAT, SelectionOptions
from asterism.search.selection.select import select
from asterism.search.selection.sieve import distance_of
from asterism.search.selection.sizes import Measure
from asterism.types.files import wire_path
from asterism.types.search import FileMatches, Hit, Kept, Selection

NO_DISTANCE = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorOptions:
    """The limits of what a chat is given; the defaults are those of the settings `chat.*`."""

    distance_cutoff: float = 1.4
    """The distance a hit may have; lower is better."""
    cutoff_disabled: bool = False
    fallback_chunks: int = 2
    """How many of the nearest are given when none is near enough."""
    max_chars: int = 40_000
    """Of all texts together, after each was cut."""
    chunk_max_chars: int = 5_000

    @property
    def selection(self) -> SelectionOptions:
        """The same for the selector."""
        return replace(
            CHAT,
            distance_cutoff=None if self.cutoff_disabled else self.distance_cutoff,
            min_keep=self.fallback_chunks,
            max_chars=self.max_chars,
            max_chunk_chars=self.chunk_max_chars,
        )


def chosen(hits: Sequence[Hit], options: VectorOptions) -> Selection:
    """What of the hits is given, in the order they came, and what became of the rest."""
    return select(hits, options.selection, Measure())


def chosen_ranked(hits: Sequence[Hit], options: VectorOptions) -> Selection:
    """The same for ranked hits, whose distances are weighed already: the best come first.

    A definition that was asked for by name may be farther than the code around it.
    """
    ranked = replace(options.selection, rank_by="score", distance_cutoff=None)
    return select(hits, ranked, Measure())


def payload(
    selection: Selection, roots: Mapping[str, str], model_id: str, *, lines: bool = False
) -> dict[str, object]:
    """The established shape: `results`, the embedding model, and `files`.

    `roots` has the folder of each repository by its name, and `score` is the distance. With
    `lines`, which a turn needs for its citations, each row says where in the file it stands.
    """
    return {
        "results": [_row(kept, roots, model_id, lines) for kept in selection.kept],
        "modelId": model_id,
        "files": [_file(file, roots) for file in selection.files],
    }


def _row(kept: Kept, roots: Mapping[str, str], model_id: str, lines: bool) -> dict[str, object]:
    chunk, distance = kept.hit.chunk, distance_of(kept.hit)
    row: dict[str, object] = {
        **_place(chunk.repo, chunk.relative_path, roots),
        "score": None if distance == NO_DISTANCE else distance,
        "chunk": kept.text,
        "chunkId": chunk.id,
        "modelId": model_id,
        "lineCount": kept.line_count,
    }
    if lines:
        row |= {
            "startLine": chunk.start_line,
            "endLine": chunk.end_line,
            "name": chunk.qualified_name or chunk.name,
        }
    return {**row, "below_threshold": True} if kept.below_threshold else row


def _file(file: FileMatches, roots: Mapping[str, str]) -> dict[str, object]:
    return {
        **_place(file.repo, file.path, roots),
        "highestMatch": file.highest_match,
        "chunkCount": file.chunk_count,
        "lineCount": file.line_count,
    }


def _place(repo: str, path: str, roots: Mapping[str, str]) -> dict[str, object]:
    """Where a file is; both absolute paths are the same, for nothing runs in a container."""
    root = roots.get(repo)
    absolute = wire_path(path if root is None else PurePath(root, path).as_posix())
    relative = wire_path(path)
    return {"repo": repo, "relPath": relative, "containerPath": absolute, "hostPath": absolute}
