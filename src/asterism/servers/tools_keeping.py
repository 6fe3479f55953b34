"""The tools that make indexes and look at them, over the engine."""

from collections.abc import Callable

from asterism.engine.search import SearchRequest
from asterism.engine.status import list_repositories as listed_repositories
from asterism.operations.calls import Call
from asterism.operations.json import to_json
from asterism.operations.limits import Part, Reply, fitted, plain_account
from asterism.operations.repositories import inside, to_index
from asterism.operations.schema import Json
from asterism.operations.search_reply import RowOptions, search_found, search_text
from asterism.servers.tools_jobs import Jobs
from asterism.servers.tools_states import (
    inspection_json,
    inspection_text,
    listed_json,
    report_json,
    repository_json,
    status_json,
    status_text,
    watch_json,
)
from asterism.telemetry.exposition import summary
from asterism.types.errors import IndexMissing, UsageError


def index_codebase(call: Call, jobs: Jobs) -> Reply:
    """Bring an index up to date, now or in the background."""
    registered = to_index(call.engine, call.here, call.arguments)
    force = call.arguments["force"]
    name = registered.repository.name
    if not call.arguments["wait"]:
        jobs.start(registered, force)
        told = f"Indexing of {name} has begun; index_status shows how far it is."
        return _told(told, {**repository_json(registered), "state": "running", "sentence": told})
    found = report_json(registered, jobs.run(registered, force, call.caller))
    warnings = [f"Warning: {warning}" for warning in found["warnings"]]
    return _told("\n".join([f"{name}: {found['sentence']}", *warnings]), found)


def index_status(call: Call) -> Reply:
    """The state of an index, with what this server has measured."""
    found = status_json(call.engine.status(call.repository()))
    return _told(status_text(found), {**found, "metrics": summary()})


def watch_status(call: Call) -> Reply:
    """Whether something keeps the index fresh."""
    found = watch_json(call.engine.status(call.repository()))
    return _told(" ".join(word for word in (found["message"], found["sentence"]) if word), found)


def cancel_indexing(call: Call, jobs: Jobs) -> Reply:
    """Stop whoever is indexing."""
    registered = call.repository()
    try:
        stopped = jobs.stop(registered)
    except IndexMissing:
        stopped = False
    told = (
        "Asked the indexing to stop; what it has done is kept."
        if stopped
        else "Nothing is being indexed here."
    )
    return _told(told, {**repository_json(registered), "cancelled": stopped, "sentence": told})


def index_debug(call: Call) -> Reply:
    """One file under the lens, or the reasons behind a ranking."""
    path, query = call.arguments.get("path"), call.arguments.get("query")
    if (path is None) == (query is None):
        raise UsageError("Give path to look at a file, or query to explain a ranking; not both.")
    registered = call.repository()
    if query is not None:
        request = SearchRequest(text=query, limit=call.arguments["limit"])
        reply = call.engine.search(registered, request)
        found = to_json(search_found(reply, registered, RowOptions(explain=True, content=False)))
        return _list(found, "results", search_text, call)
    inspected = call.engine.inspect(inside(registered, path or ""))
    shown = inspection_json(inspected, call.arguments["include_text"])
    account = plain_account(len(shown["chunks"]), len(shown["chunks"]), call.limit)
    return _list({**shown, **account}, "chunks", inspection_text, call)


def list_repositories(call: Call) -> Reply:
    """Every repository that can be searched."""
    rows = [listed_json(entry) for entry in listed_repositories(call.engine.registry)]
    found: Json = {"repositories": rows, **plain_account(len(rows), len(rows), call.limit)}
    return _list(found, "repositories", _repositories_text, call)


def _repositories_text(found: Json) -> str:
    lines = [
        f"{row['repository_id']}  {row['state']}  {row['files']:,} files  {row['root']}"
        for row in found["repositories"]
    ]
    left_out = found["total_count"] - found["returned_count"]
    more = [f"{left_out:,} more had no place; raise max_tokens."] if left_out else []
    return "\n".join([*lines, *more]) or "No repository is indexed yet; call index_codebase."


def _list(found: Json, rows: str, render: Callable[[Json], str], call: Call) -> Reply:
    reply = Reply(parts=(Part(render(found)),), structured=found, rows=rows, render=render)
    return fitted(reply, call.limit)


def _told(text: str, found: Json) -> Reply:
    return Reply(parts=(Part(text),), structured=found)
