"""What tools say of searches and symbols, as JSON and as lines of text."""

from collections.abc import Iterator

from asterism.backends.store.chunk_table import ChunkKey
from asterism.backends.store.registry import Registered
from asterism.domain.catalogue import FoundSymbol
from asterism.domain.files import display_path, wire_path
from asterism.domain.search import Hit
from asterism.domain.selection import Detail, Kept
from asterism.engine.contexts import ContextReply
from asterism.engine.searching import SearchReply
from asterism.engine.surroundings import Surroundings, surroundings
from asterism.operations.json import account_json, place_json, placed_json, times_json
from asterism.operations.limits import compact
from asterism.operations.schema import Json
from asterism.retrieval.filters import applied

LONGEST_ECHO = 2_000
"""Characters of a question that a reply repeats; whoever asked knows the rest."""


def search_json(reply: SearchReply, registered: Registered, explain: bool) -> Json:
    """The rows of a search, and an account of what is not among them."""
    return {
        **question_json(reply, registered),
        "results": [_kept_row(kept, reply, explain) for kept in reply.selection.kept],
        **account_json(reply.selection.account),
        "cursor": reply.cursor,
        "notes": list(reply.notes),
        **times_json(reply.seconds),
    }


def question_json(reply: SearchReply, registered: Registered) -> Json:
    """What was asked, of what, and how many matches there are."""
    return {
        "query": shown_query(reply.search.question.text),
        "mode": reply.search.mode.value,
        "filters_applied": applied(reply.search.where),
        **place_json(registered),
        "total_matches": reply.total.matches,
        "total_is_exact": reply.total.exact,
        "did_you_mean": list(reply.did_you_mean),
        "index_state": reply.state._asdict(),
    }


def shown_query(text: str) -> str:
    """A question as a reply repeats it."""
    return text if len(text) <= LONGEST_ECHO else f"{text[:LONGEST_ECHO]}…"


def serialised_row(hit: Hit, detail: Detail, text: str, explain: bool, lines: int) -> str:
    """A row as it takes room in a reply: its JSON and its line of text."""
    around = Surroundings()
    if lines:
        found = surroundings([hit.chunk], lines)
        around = found.get(ChunkKey(hit.chunk.repo, hit.chunk.id), around)
    row = _row(hit, detail, text, around)
    if explain:
        row["why"] = [signal._asdict() for signal in hit.why]
    return compact(row) + compact(_line(row))


def _kept_row(kept: Kept, reply: SearchReply, explain: bool) -> Json:
    chunk = kept.hit.chunk
    around = reply.around.get(ChunkKey(chunk.repo, chunk.id), Surroundings())
    row = _row(kept.hit, kept.detail, kept.text, around)
    if kept.gaps:
        row["gaps"] = [list(gap) for gap in kept.gaps]
    if kept.within is not None:
        row["within"] = kept.within
    if kept.below_threshold:
        row["below_threshold"] = True
    if explain:
        row["why"] = [signal._asdict() for signal in kept.hit.why]
    return row


def _row(hit: Hit, detail: Detail, text: str, around: Surroundings) -> Json:
    chunk = hit.chunk
    row: Json = {
        "chunk_id": chunk.id,
        "repo": chunk.repo,
        "file_path": wire_path(chunk.relative_path),
        "language": chunk.language,
        "content": text,
        "detail": detail.value,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "similarity_score": round(hit.score, 4),
        "distance": None if hit.distance is None else round(hit.distance, 6),
        "kind": chunk.node_kind,
        "name": chunk.qualified_name,
        "signature": chunk.signature,
        "context_before": "\n".join(around.before),
        "context_after": "\n".join(around.after),
    }
    if hit.lines:
        row["matching_lines"] = list(hit.lines)
    return row


def _line(row: Json) -> str:
    lines = f"{row['start_line']}-{row['end_line']}"
    named = " ".join(word for word in (row["kind"], row["name"]) if word)
    return f"{row['file_path']}:{lines}  {named}  {row['similarity_score']:.2f}"


def search_text(found: Json) -> str:
    """The rows of a search for clients that show no structured content: where each is."""
    more = "" if found["total_is_exact"] else " or more"
    count = found["returned_count"]
    head = (
        f"{count} result{'' if count == 1 else 's'} for {compact(found['query'][:200])} "
        f"({found['mode']}); {found['total_matches']:,}{more} matches."
    )
    return "\n".join([head, *map(_line, found["results"]), *_remarks(found)])


def _remarks(found: Json) -> Iterator[str]:
    """What a reader has to know of what was left out, and of how fresh it is."""
    info, dropped = found["truncation_info"], found["dropped"]
    if found["truncated"]:
        yield (
            f"Shortened ({info['reason']}): {info['returned_count']} of {info['original_count']} "
            "fit; ask narrower, or raise max_tokens."
        )
    left_out = [f"{count:,} {reason}" for reason, count in dropped.items() if count]
    if left_out:
        yield f"Left out: {', '.join(left_out)}."
    if found["cursor"]:
        yield f"There are more; go on with cursor {found['cursor']}"
    if found.get("did_you_mean"):
        yield f"Did you mean {', '.join(found['did_you_mean'])}?"
    yield from found["notes"]
    if found["index_state"]["message"]:
        yield found["index_state"]["message"]


def context_json(reply: ContextReply, registered: Registered) -> Json:
    """The machine's part of a context: where each result is, and the account."""
    assembly = reply.assembly
    return {
        **question_json(reply.search, registered),
        "results": [
            placed_json(place, detail)
            for place, detail in zip(reply.results, assembly.details, strict=True)
            if detail is not None
        ],
        **account_json(reply.account),
        "cursor": None,
        "used_tokens": assembly.used_tokens,
        "budget": assembly.budget,
        "notes": list(reply.notes),
        **times_json(reply.seconds),
    }


def symbol_json(entry: FoundSymbol) -> Json:
    """One place of a name."""
    row = entry.row
    found: Json = {
        "name": row.name,
        "qualified_name": row.qualified_name,
        "kind": row.kind,
        "role": row.role.value,
        "filepath": wire_path(row.filepath),
        "line": row.line,
        "is_exported": row.is_exported,
        "chunk_id": row.chunk_id,
        "repo": entry.repo,
    }
    if row.signature:
        found["signature"] = row.signature
    if row.module is not None:
        found["module"] = row.module
    return found


def symbols_text(found: Json) -> str:
    """The places of a name for clients that show no structured content."""
    counts = ", ".join(f"{count:,} {role}" for role, count in found["counts"].items())
    head = f"{display_path(found['name'])}: {counts or 'not found'}."
    lines = [
        f"{row['filepath']}:{row['line']}  {row['role']}  {row['kind']} {row['qualified_name']}"
        for row in found["symbols"]
    ]
    return "\n".join([head, *lines, *_remarks(found)])
