"""The operations on indexes: index_codebase, index_status, watch_status and cancel_indexing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from asterism.indexing.report import SyncReport
from asterism.operations.calls import Call
from asterism.operations.json import (
    KnownRepository,
    job_json,
    known,
    moment,
    statistics_json,
    upgrade_json,
)
from asterism.operations.limits import CallReply, reply_of
from asterism.operations.operation import Operation, Route
from asterism.operations.requests import IndexCodebase, IndexPlace
from asterism.operations.schema import Json
from asterism.types.errors import IndexMissing
from asterism.types.files import wire_path

if TYPE_CHECKING:
    # They bring the engine, which a list of operations does not need.
    from asterism.store.registry import Registered

MOST_UNREAD = 200
"""Files that could not be read and are listed."""


@dataclass(frozen=True, kw_only=True)
class SyncFound(KnownRepository):
    """What an indexing did; one in the background has only its state."""

    state: str
    sentence: str
    files: Mapping[str, int] | None = None
    chunks: Mapping[str, int] | None = None
    vectors: Mapping[str, int] | None = None
    skipped: Mapping[str, int] | None = None
    warnings: tuple[str, ...] | None = None
    unread: tuple[str, ...] | None = None
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class StatusFound(KnownRepository):
    """The state of an index, with what the server has measured."""

    state: str
    message: str
    files_behind: int | None
    schema_version: int | None
    model: str | None
    upgrade: Json | None
    statistics: Json | None
    skipped: Mapping[str, int]
    job: Json | None
    watched: bool
    metrics: Json


@dataclass(frozen=True, kw_only=True)
class WatchFound(KnownRepository):
    """Whether a watcher keeps an index fresh."""

    running: bool
    events: int
    syncs: int
    last_event: str | None
    sentence: str
    message: str


@dataclass(frozen=True, kw_only=True)
class CancelFound(KnownRepository):
    """Whether an indexing was asked to stop."""

    cancelled: bool
    sentence: str


def index_codebase(call: Call, asked: IndexCodebase) -> CallReply:
    """Bring an index up to date, now or in the background."""
    from asterism.operations.repositories import to_index

    registered = to_index(call.engine, call.here, call.arguments)
    name = registered.repository.name
    if not asked.wait:
        call.host.start_indexing(registered, asked.force)
        sentence = f"Indexing of {name} has begun; index_status shows how far it is."
        found = SyncFound(**known(registered), state="running", sentence=sentence)
        return reply_of(found, render=_sentence)
    report = call.host.index(registered, asked.force, call.caller)
    return reply_of(_sync_found(registered, report), render=_sync_text)


def _sync_found(registered: Registered, report: SyncReport) -> SyncFound:
    return SyncFound(
        **known(registered),
        state="cancelled" if report.cancelled else "done",
        sentence=report.sentence,
        files={
            "total": report.files,
            "added": report.added,
            "changed": report.changed,
            "removed": report.removed,
            "unchanged": report.unchanged,
        },
        chunks={"total": report.chunks_total, "written": report.chunks_written},
        vectors={"embedded": report.embedded, "cached": report.cached, "reused": report.reused},
        skipped=dict(report.skipped),
        warnings=tuple(report.warnings),
        unread=tuple(wire_path(path) for path in report.unread[:MOST_UNREAD]),
        seconds=round(report.seconds, 3),
    )


def _sync_text(found: Json) -> str:
    warnings = [f"Warning: {warning}" for warning in found["warnings"]]
    return "\n".join([f"{found['name']}: {found['sentence']}", *warnings])


def index_status(call: Call, _asked: IndexPlace) -> CallReply:
    """The state of an index, with what this server has measured."""
    from asterism.telemetry.exposition import summary

    found = call.engine.status(call.repository())
    manifest = found.manifest
    shown = StatusFound(
        **known(found.registered),
        state=found.verdict.staleness.value,
        message=found.verdict.message,
        files_behind=found.verdict.behind,
        schema_version=manifest and manifest.schema_version,
        model=manifest and str(manifest.model),
        upgrade=upgrade_json(found),
        statistics=statistics_json(found),
        skipped=found.skipped,
        job=job_json(found),
        watched=found.watcher is not None and found.watcher.running,
        metrics=summary(),
    )
    return reply_of(shown, render=_status_text)


def _status_text(found: Json) -> str:
    lines = [f"{found['name']}: {found['message']}"]
    statistics, job = found["statistics"], found["job"]
    if statistics:
        counts = statistics["languages"].items()
        languages = ", ".join(f"{name} {count:,}" for name, count in counts)
        files, chunks = statistics["files"], statistics["chunks"]
        lines.append(f"{files:,} files, {chunks:,} chunks ({languages}).")
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


def watch_status(call: Call, _asked: IndexPlace) -> CallReply:
    """Whether something keeps the index fresh."""
    found = call.engine.status(call.repository())
    seen = found.watcher
    is_running = seen is not None and seen.running
    shown = WatchFound(
        **known(found.registered),
        running=is_running,
        events=seen.events if seen else 0,
        syncs=seen.syncs if seen else 0,
        last_event=moment(seen.last_event) if seen else None,
        sentence=seen.sentence if seen else "",
        message=(
            "A watcher keeps the index fresh."
            if is_running
            else "No watcher runs; every search brings the index up to date by itself, and after "
            "the first one this server watches, unless the setting watch.servers is off."
        ),
    )
    return reply_of(shown, render=_watch_text)


def _watch_text(found: Json) -> str:
    return " ".join(word for word in (found["message"], found["sentence"]) if word)


def cancel_indexing(call: Call, _asked: IndexPlace) -> CallReply:
    """Stop the indexing of a repository, in this process or another."""
    registered = call.repository()
    try:
        stopped = call.host.stop_indexing(registered)
    except IndexMissing:
        stopped = False
    sentence = (
        "Asked the indexing to stop; what it has done is kept."
        if stopped
        else "Nothing is being indexed here."
    )
    found = CancelFound(**known(registered), cancelled=stopped, sentence=sentence)
    return reply_of(found, render=_sentence)


def _sentence(found: Json) -> str:
    sentence: str = found["sentence"]
    return sentence


OPERATIONS = (
    Operation(
        name="index_codebase",
        title="Index a repository",
        description="""\
Make the index of a repository, or bring it up to date, with progress.

Use it for: the first time a repository is searched, or when another tool's error asks for it \
([index_missing], [index_outdated], [index_mismatch]; force=true after [index_corrupt]).
Do not use it for: files you just edited (each search brings the index up to date by itself).

wait=false starts it in the background: index_status shows how far it is, cancel_indexing stops \
it, and what was done is kept. Only repositories that are known already, or that the server was \
started in, can be indexed; the user adds others with `asterism index PATH`.

Example: {"wait": true}""",
        request=IndexCodebase,
        reply=SyncFound,
        run=index_codebase,
        read_only=False,
        has_progress=True,
        is_tool=True,
        instruction="""\
index_codebase: only when a tool says that there is no index. Afterwards every search keeps \
the index fresh by itself; do not index after edits.""",
        route=Route("POST", "/api/index"),
    ),
    Operation(
        name="index_status",
        title="State of the index",
        description="""\
Show whether the index is there, fresh and complete: files behind, counts, languages, what was \
left out, the model, a running job.

Use it for: an answer that misses code you know of, progress of index_codebase with wait=false.
Do not use it for: a check before each search (searches say themselves when the index is behind).

Example: {}""",
        request=IndexPlace,
        reply=StatusFound,
        run=index_status,
        is_tool=True,
        instruction="""\
index_status, watch_status, index_debug, list_repositories, cancel_indexing: when an answer \
surprises you or another repository is meant.""",
        route=Route("GET", "/api/status"),
    ),
    Operation(
        name="watch_status",
        title="State of the watcher",
        description="""\
Show whether a watcher keeps the index fresh, and what it saw last.

Use it for: finding out why an index is or is not kept fresh between searches.
Do not use it for: the index itself (index_status). A search is fresh without a watcher too.

Example: {}""",
        request=IndexPlace,
        reply=WatchFound,
        run=watch_status,
        is_tool=True,
        route=Route("GET", "/api/watch"),
    ),
    Operation(
        name="cancel_indexing",
        title="Stop indexing",
        description="""\
Stop the indexing of a repository, by any client. What was done is kept, and the next run \
goes on there.

Use it for: a run that takes too long or that was started by mistake.
Do not use it for: a call of index_codebase that you wait for yourself (cancel that request).

Example: {}""",
        request=IndexPlace,
        reply=CancelFound,
        run=cancel_indexing,
        read_only=False,
        is_tool=True,
        route=Route("POST", "/api/index/cancel"),
    ),
)
