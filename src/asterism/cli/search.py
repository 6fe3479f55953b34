"""`asterism search`: the code for a question, with scores and reasons."""

import argparse
import json
import sys
from pathlib import Path

from asterism.cli.engine_for import directory_named, engine
from asterism.cli.wire import Json, write_json
from asterism.domain.errors import PathMissing
from asterism.domain.files import display_path
from asterism.domain.search import Hit, Mode
from asterism.domain.selection import Kept, Stage
from asterism.engine.searching import SearchReply, SearchRequest
from asterism.retrieval.filters import applied, parse_filter_words

# Lines of code shown of a hit; `--json` has all of it.
SHOWN_LINES = 12


def run(options: argparse.Namespace) -> int:
    """Print the hits; exit 1 if there is none."""
    place = directory_named(options.path)
    if not place.exists():
        raise PathMissing(f"{display_path(options.path)} does not exist; check the path.")
    here = engine()
    registered = here.locate(place)
    request = SearchRequest(
        text=options.query,
        mode=Mode(options.mode),
        where=parse_filter_words(options.filter or [], registered.repository.root),
        limit=options.limit,
        min_score=options.min_score,
        stage=Stage(options.stage) if options.stage else None,
        exhaustive=options.exhaustive,
        cursor=options.cursor,
    )
    reply = here.search(registered, request)
    if options.json:
        write_json(reply_json(reply, registered.project.id, options.explain))
    else:
        _print(reply, options.explain)
    return 0 if reply.selection.kept else 1


def _print(reply: SearchReply, explain: bool) -> None:
    from asterism.cli.console import console, show

    out = console()
    for number, kept in enumerate(reply.selection.kept, 1):
        chunk = kept.hit.chunk
        show(
            out,
            (f"{number}. ", "bold"),
            (f"{chunk.relative_path}:{chunk.start_line}–{chunk.end_line}", "cyan"),
            (f"  {chunk.node_kind} ", "magenta"),
            (chunk.qualified_name, "bold"),
            (f"  {kept.hit.score:.2f}", "green"),
        )
        lines = kept.text.splitlines()
        for line in lines[:SHOWN_LINES]:
            show(out, (f"     {line}", ""))
        if len(lines) > SHOWN_LINES:
            show(out, (f"     … {len(lines) - SHOWN_LINES:,} more lines", "dim"))
        if explain:
            show(out, (f"     why: {_why(kept.hit)}", "dim"))
    if not reply.selection.kept:
        show(out, ("Nothing here matches.", "yellow"))
    if reply.did_you_mean:
        show(out, (f"Did you mean {', '.join(reply.did_you_mean)}?", ""))
    show(out, (_account(reply), "dim"))
    for note in (*reply.notes, *([reply.state.message] if reply.state.message else [])):
        sys.stderr.write(f"asterism: {note}\n")


def _account(reply: SearchReply) -> str:
    account = reply.selection.account
    more = "" if reply.total.exact else "at least "
    parts = [f"{account.returned_count:,} of {more}{reply.total.matches:,}"]
    for name, count in account.dropped._asdict().items():
        if count:
            parts.append(f"{count:,} {name.replace('_', ' ')}")
    parts.append(f"{reply.seconds * 1000:.0f} ms")
    if reply.cursor:
        parts.append(f"more with --cursor {reply.cursor}")
    return ", ".join(parts)


def _why(hit: Hit) -> str:
    return ", ".join(
        f"{signal.name} {signal.value:.3g}" + (f" (rank {signal.rank})" if signal.rank else "")
        for signal in hit.why
    )


def reply_json(reply: SearchReply, project: str, explain: bool) -> Json:
    """What `--json` prints."""
    account = reply.selection.account
    return {
        "query": reply.search.question.text,
        "mode": reply.search.mode.value,
        "filters_applied": applied(reply.search.where),
        "project_id": project,
        "results": [_row(kept, explain) for kept in reply.selection.kept],
        "total_matches": reply.total.matches,
        "total_is_exact": reply.total.exact,
        "total_count": account.total_count,
        "returned_count": account.returned_count,
        "truncated": account.truncated,
        "truncation_info": json.loads(json.dumps(account.truncation_info._asdict())),
        "dropped": account.dropped._asdict(),
        "cursor": reply.cursor,
        "did_you_mean": list(reply.did_you_mean),
        "notes": list(reply.notes),
        "index_state": reply.state._asdict(),
        "elapsed_ms": round(reply.seconds * 1000, 1),
    }


def _row(kept: Kept, explain: bool) -> Json:
    chunk = kept.hit.chunk
    row: Json = {
        "chunk_id": chunk.id,
        "repo": chunk.repo,
        "file_path": display_path(chunk.relative_path),
        "absolute_path": display_path(str(Path(chunk.file_path))),
        "content": kept.text,
        "detail": kept.detail.value,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "similarity_score": round(kept.hit.score, 4),
        "distance": kept.hit.distance,
        "kind": chunk.node_kind,
        "name": chunk.qualified_name,
        "signature": chunk.signature,
        "below_threshold": kept.below_threshold,
    }
    if explain:
        row["why"] = [signal._asdict() for signal in kept.hit.why]
    return row
