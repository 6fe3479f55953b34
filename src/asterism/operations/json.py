"""What replies of tools and `--json` of commands say alike: places, accounts, states, times."""

from datetime import datetime
from typing import TYPE_CHECKING

from asterism.backends.store.registry import Registered
from asterism.domain.files import wire_path
from asterism.domain.selection import Account, Detail
from asterism.engine.status import Status
from asterism.operations.schema import Json

if TYPE_CHECKING:
    # It brings what connects symbols, which a command that tells a state does not need.
    from asterism.engine.contexts import Placed


def place_json(registered: Registered) -> Json:
    """Which repository answers."""
    return {
        "project_id": registered.project.id,
        "repository_id": registered.repository.id,
        "database_name": registered.project.directory.name,
    }


def account_json(account: Account) -> Json:
    """What came in, what goes out, and why the rest does not."""
    truncation = account.truncation_info
    reason = None if truncation.reason is None else truncation.reason.value
    return {
        "total_count": account.total_count,
        "returned_count": account.returned_count,
        "truncated": account.truncated,
        "truncation_info": {**truncation._asdict(), "reason": reason},
        "dropped": account.dropped._asdict(),
        "token_method": account.token_method,
    }


def placed_json(place: "Placed", detail: Detail) -> Json:
    """A result without its code, which stands in the parts; its lines are those of now."""
    chunk = place.chunk
    return {
        "chunk_id": chunk.id,
        "repo": chunk.repo,
        "file_path": wire_path(chunk.relative_path),
        "language": chunk.language,
        "detail": detail.value,
        "start_line": place.lines.first,
        "end_line": place.lines.last,
        "similarity_score": round(place.score, 4),
        "kind": chunk.node_kind,
        "name": chunk.qualified_name,
    }


def statistics_json(found: Status) -> Json | None:
    """How much an index holds; nothing where there is none."""
    known = found.statistics
    return known and {
        "files": known.files,
        "chunks": known.chunks,
        "symbols": {role.value: count for role, count in known.symbols.items()},
        "languages": dict(known.languages),
        "files_with_problems": known.files_with_problems,
        "source_bytes": known.source_bytes,
        "index_bytes": known.database_bytes + found.chunks_bytes,
        "last_sync": moment(known.last_sync),
    }


def job_json(found: Status) -> Json | None:
    """The indexing that runs, or the last one; nothing where there was none."""
    job = found.job
    return job and {
        "kind": job.kind,
        "state": job.state if found.running or job.state != "running" else "interrupted",
        "files_done": job.files_done,
        "files_total": job.files_total,
        "chunks_done": job.chunks_done,
        "sentence": job.sentence,
        "started": moment(job.started),
        "updated": moment(job.updated),
    }


def upgrade_json(found: Status) -> Json | None:
    """How far the second vectors are; nothing where the settings want none."""
    state = found.upgrade
    return state and {
        "model": state.model,
        "complete": state.complete,
        "chunks": state.chunks,
        "total": state.total,
        "running": state.pid != 0,
        "problem": state.problem or None,
        "bytes": state.bytes,
        "sentence": f"{state.sentence}.",
    }


def times_json(seconds: float) -> Json:
    """How long it took."""
    return {"elapsed_ms": round(seconds * 1000, 1), "latency_ms": round(seconds * 1000)}


def moment(seconds: float | None) -> str | None:
    """A time as programs like it, with the zone."""
    return (
        datetime.fromtimestamp(seconds).astimezone().isoformat("T", "seconds") if seconds else None
    )
