"""Records as JSON, for every surface: one serialiser, and what the replies of lists share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any

from asterism.operations.schema import Json, is_optional
from asterism.types.files import wire_path
from asterism.types.search import Account

if TYPE_CHECKING:
    # They bring the engine, which a list of operations does not need.
    from asterism.engine.status import Status
    from asterism.store.registry import Registered


@dataclass(frozen=True, kw_only=True)
class Located:
    """Which repository answers."""

    project_id: str
    repository_id: str
    database_name: str


@dataclass(frozen=True, kw_only=True)
class KnownRepository:
    """A repository that is registered."""

    repository_id: str
    name: str
    project_id: str
    project: str
    root: str


@dataclass(frozen=True, kw_only=True)
class EntryCounts:
    """Total and returned entries, and why the others are left out."""

    total_count: int
    returned_count: int
    truncated: bool
    truncation_info: Mapping[str, object]
    dropped: Mapping[str, int]
    token_method: str


@dataclass(frozen=True, kw_only=True)
class Accounted(EntryCounts):
    """The same with the cursor of the next page and the freshness of the index."""

    cursor: str | None
    index_state: Mapping[str, object]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Timed:
    """How long it took."""

    elapsed_ms: float
    latency_ms: int


def to_json(value: Any) -> Any:
    """Records, lists and enumerations as JSON has them; an optional field needs a value."""
    if is_dataclass(value) and not isinstance(value, type):
        given = ((each, getattr(value, each.name)) for each in fields(value))
        return {
            each.name: to_json(one)
            for each, one in given
            if not (is_optional(each) and one == each.default)
        }
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {key: to_json(one) for key, one in value.items()}
    if hasattr(value, "_asdict"):
        return {name: to_json(one) for name, one in value._asdict().items()}
    if isinstance(value, list | tuple):
        return [to_json(one) for one in value]
    return value


def compact(value: object) -> str:
    """JSON as it is sent."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def located(registered: Registered) -> Json:
    """The fields of `Located`."""
    return {
        "project_id": registered.project.id,
        "repository_id": registered.repository.id,
        "database_name": registered.project.directory.name,
    }


def known(registered: Registered) -> Json:
    """The fields of `KnownRepository`."""
    return {
        "repository_id": registered.repository.id,
        "name": registered.repository.name,
        "project_id": registered.project.id,
        "project": registered.project.name,
        "root": wire_path(registered.repository.root),
    }


def accounted(account: Account) -> Json:
    """The fields of `Counted`, from the account of a selection."""
    return {
        "total_count": account.total_count,
        "returned_count": account.returned_count,
        "truncated": account.truncated,
        "truncation_info": account.truncation_info._asdict(),
        "dropped": account.dropped._asdict(),
        "token_method": account.token_method,
    }


def timed(seconds: float) -> Json:
    """The fields of `Timed`."""
    return {"elapsed_ms": round(seconds * 1000, 1), "latency_ms": round(seconds * 1000)}


def statistics_json(found: Status) -> Json | None:
    """The size of an index; None without an index."""
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
    """The indexing that runs, or the last one; None before the first."""
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
    """Progress of the encoder vectors; None if the settings turn them off."""
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


def moment(seconds: float | None) -> str | None:
    """A time as programs like it, with the zone."""
    return (
        datetime.fromtimestamp(seconds).astimezone().isoformat("T", "seconds") if seconds else None
    )
