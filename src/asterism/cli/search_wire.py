"""What `--json` prints of a search."""

from asterism.backends.store.chunk_table import ChunkKey
from asterism.backends.store.registry import Registered
from asterism.cli.wire import Json
from asterism.domain.files import wire_path
from asterism.domain.selection import Kept
from asterism.engine.searching import SearchReply
from asterism.engine.surroundings import Surroundings
from asterism.operations.json import account_json, place_json, times_json
from asterism.retrieval.filters import applied


def reply_json(reply: SearchReply, registered: Registered, explain: bool) -> Json:
    """The rows, and an account of what is not among them."""
    return {
        "query": reply.search.question.text,
        "mode": reply.search.mode.value,
        "filters_applied": applied(reply.search.where),
        **place_json(registered),
        "results": [_row(kept, reply, explain) for kept in reply.selection.kept],
        "total_matches": reply.total.matches,
        "total_is_exact": reply.total.exact,
        **account_json(reply.selection.account),
        "cursor": reply.cursor,
        "did_you_mean": list(reply.did_you_mean),
        "notes": list(reply.notes),
        "index_state": reply.state._asdict(),
        **times_json(reply.seconds),
    }


def _row(kept: Kept, reply: SearchReply, explain: bool) -> Json:
    chunk = kept.hit.chunk
    around = reply.around.get(ChunkKey(chunk.repo, chunk.id), Surroundings())
    row: Json = {
        "chunk_id": chunk.id,
        "repo": chunk.repo,
        "file_path": wire_path(chunk.relative_path),
        "absolute_path": wire_path(chunk.file_path),
        "language": chunk.language,
        "content": kept.text,
        "detail": kept.detail.value,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "gaps": [list(gap) for gap in kept.gaps],
        "matching_lines": list(kept.hit.lines),
        "similarity_score": round(kept.hit.score, 4),
        "distance": None if kept.hit.distance is None else round(kept.hit.distance, 6),
        "kind": chunk.node_kind,
        "name": chunk.qualified_name,
        "signature": chunk.signature,
        "context_before": "\n".join(around.before),
        "context_after": "\n".join(around.after),
        "below_threshold": kept.below_threshold,
        "within": kept.within,
    }
    if explain:
        row["why"] = [signal._asdict() for signal in kept.hit.why]
    return row
