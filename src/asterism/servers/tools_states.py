"""What tools say of indexes, jobs, watchers and single files, as JSON and as text."""

from asterism.engine.inspection import Freshness, IndexedChunk, Inspection
from asterism.engine.status import Listed, Status
from asterism.indexing.report import SyncReport
from asterism.operations.json import job_json, moment, statistics_json, upgrade_json
from asterism.operations.repositories import shown_detail
from asterism.operations.schema import Json
from asterism.store.registry import Registered
from asterism.types.files import wire_path
from asterism.types.index import Link

MOST_LINKS = 200
"""Imports and importers of a file that are listed; they are counted in any case."""

_MEANING = {
    Freshness.equal: "It is indexed as it is.",
    Freshness.changed: "It changed since it was indexed; the next search reads it again.",
    Freshness.new: "It is not indexed yet; the next search reads it.",
    Freshness.gone: "It is gone, and the index still has it; the next search drops it.",
    Freshness.excluded: "The index has it, although it is skipped now; the next search drops it.",
    Freshness.skipped: "It is not indexed, because it is skipped.",
    Freshness.unknown: "It cannot be compared with the index.",
}


def repository_json(registered: Registered) -> Json:
    """Which repository this is about."""
    return {
        "repository_id": registered.repository.id,
        "name": registered.repository.name,
        "project_id": registered.project.id,
        "project": registered.project.name,
        "root": wire_path(registered.repository.root),
    }


def listed_json(entry: Listed) -> Json:
    """A repository in a list."""
    return {
        **repository_json(entry.registered),
        "state": entry.state.value,
        "files": entry.files,
        "chunks": entry.chunks,
        "note": entry.note or None,
    }


def status_json(found: Status) -> Json:
    """The state of an index."""
    manifest = found.manifest
    return {
        **repository_json(found.registered),
        "state": found.judgement.staleness.value,
        "message": found.judgement.message,
        "files_behind": found.judgement.behind,
        "schema_version": manifest and manifest.schema_version,
        "model": manifest and str(manifest.model),
        "upgrade": upgrade_json(found),
        "statistics": statistics_json(found),
        "skipped": found.skipped,
        "job": job_json(found),
        "watched": found.watcher is not None and found.watcher.running,
    }


def status_text(found: Json) -> str:
    """The state of an index, for a model."""
    lines = [f"{found['name']}: {found['message']}"]
    known, job = found["statistics"], found["job"]
    if known:
        languages = ", ".join(f"{name} {count:,}" for name, count in known["languages"].items())
        lines.append(f"{known['files']:,} files, {known['chunks']:,} chunks ({languages}).")
    if found["upgrade"]:
        lines.append(found["upgrade"]["sentence"])
    if job and job["state"] == "running":
        lines.append(f"Indexing: {job['files_done']:,} of {job['files_total']:,} files.")
    elif job:
        lines.append(f"Last run ({job['state']}): {job['sentence']}")
    if found["skipped"]:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in found["skipped"].items())
        lines.append(f"Left out: {reasons}.")
    return "\n".join(lines)


def watch_json(found: Status) -> Json:
    """What a watcher does, if there is one."""
    seen = found.watcher
    running = seen is not None and seen.running
    return {
        **repository_json(found.registered),
        "running": running,
        "events": seen.events if seen else 0,
        "syncs": seen.syncs if seen else 0,
        "last_event": moment(seen.last_event) if seen else None,
        "sentence": seen.sentence if seen else "",
        "message": (
            "A watcher keeps the index fresh."
            if running
            else "No watcher runs; every search brings the index up to date by itself, and after "
            "the first one this server watches, unless the setting watch.servers is off."
        ),
    }


def report_json(registered: Registered, report: SyncReport) -> Json:
    """What a sync did."""
    return {
        **repository_json(registered),
        "state": "cancelled" if report.cancelled else "done",
        "sentence": report.sentence,
        "files": {
            "total": report.files,
            "added": report.added,
            "changed": report.changed,
            "removed": report.removed,
            "unchanged": report.unchanged,
        },
        "chunks": {"total": report.chunks_total, "written": report.chunks_written},
        "vectors": {
            "embedded": report.embedded,
            "cached": report.cached,
            "reused": report.reused,
        },
        "skipped": dict(report.skipped),
        "warnings": list(report.warnings),
        "unread": [wire_path(path) for path in report.unread[:MOST_LINKS]],
        "seconds": round(report.seconds, 3),
    }


def inspection_json(found: Inspection, text: bool) -> Json:
    """What the index holds of a file, and why not the rest."""
    held, state = found.held, found.held.state
    return {
        **repository_json(found.registered),
        "path": wire_path(found.path),
        "on_disk": found.disk is not None,
        "verdict": found.verdict
        and {
            "indexed": found.verdict.indexed,
            "reason": found.verdict.reason and found.verdict.reason.value,
            "detail": shown_detail(found.verdict.detail, found.registered.repository.root),
            "inside": found.verdict.folder and f"{wire_path(found.verdict.folder)}/",
        },
        "freshness": found.freshness.value,
        "message": _MEANING[found.freshness],
        "trouble": held.trouble or found.unread or None,
        "language": state and state.language,
        "symbols": {role.value: count for role, count in held.symbols.items()},
        "imports_count": len(held.links),
        "imports": [_link(link) for link in held.links[:MOST_LINKS]],
        "imported_by_count": len(held.importers),
        "imported_by": [wire_path(path) for path, _ in held.importers[:MOST_LINKS]],
        "problems": [problem._asdict() for problem in found.problems[:MOST_LINKS]],
        "chunks": [_chunk(entry, text) for entry in held.chunks],
    }


def inspection_text(found: Json) -> str:
    """The same for a model."""
    lines = [f"{found['path']}: {found['message']}"]
    verdict = found["verdict"]
    if verdict and not verdict["indexed"]:
        place = f" ({verdict['inside']})" if verdict["inside"] else ""
        detail = f": {verdict['detail']}" if verdict["detail"] else ""
        lines.append(f"Skipped: {verdict['reason']}{place}{detail}")
    if found["trouble"]:
        lines.append(found["trouble"])
    for chunk in found["chunks"]:
        lines.append(f"{chunk['start_line']}-{chunk['end_line']}  {chunk['kind']} {chunk['name']}")
        if "text" in chunk:
            lines.append(f"{chunk['text']}\n")
    if found["returned_count"] < found["total_count"]:
        lines.append(f"{found['returned_count']} of {found['total_count']} chunks are shown.")
    return "\n".join(lines)


def _link(link: Link) -> Json:
    return {
        "module": link.module,
        "target": link.target and wire_path(link.target),
        "names": list(link.names[:MOST_LINKS]),
    }


def _chunk(entry: IndexedChunk, text: bool) -> Json:
    chunk = entry.chunk
    made: Json = {
        "chunk_id": entry.id,
        "has_vector": entry.has_vector,
        "kind": chunk and chunk.node_kind,
        "name": chunk and chunk.qualified_name,
        "start_line": chunk and chunk.start_line,
        "end_line": chunk and chunk.end_line,
    }
    if text:
        made["text"] = chunk and chunk.embedding_text
    return made
