"""The tools as an MCP server object, for any transport: stdio now, streamable HTTP beside it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from asterism import __version__
from asterism.indexing.report import SYNC_STAGES, Progress
from asterism.operations.calls import Caller
from asterism.operations.dispatch.toolbox import Toolbox, failure, truncation_warning
from asterism.operations.error_codes import code_of, sentence_of
from asterism.operations.json import compact
from asterism.operations.limits import CallReply, written
from asterism.servers.http.shares import spender_of
from asterism.servers.http.state import ServerState
from asterism.servers.http.workers import ThreadRequest, lane_of
from asterism.servers.mcp.handshake import NAME, TITLE, instructions_for
from asterism.servers.mcp.sampling import lent_by, request_name
from asterism.servers.mcp.tools import listed
from asterism.telemetry.exposition import prometheus_text
from asterism.types.deadlines import counting_threads
from asterism.types.errors import ShareExceeded, TooBusy, WaitedTooLong

if TYPE_CHECKING:
    import anyio
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.types import (
        CallToolRequestParams,
        CallToolResult,
        EmptyResult,
        ListResourcesResult,
        ListToolsResult,
        PaginatedRequestParams,
        ReadResourceRequestParams,
        ReadResourceResult,
        SetLevelRequestParams,
    )


class _Readable(NamedTuple):
    title: str
    description: str
    mime_type: str
    read: Callable[[Toolbox], str]


def _states(toolbox: Toolbox) -> str:
    reply = toolbox.call("list_repositories", {})
    return compact(reply.structured or {"error": reply.parts[0].text})


RESOURCES: Mapping[str, _Readable] = {
    "asterism://status": _Readable(
        "Indexes",
        "Every repository that is known, and the state of its index.",
        "application/json",
        _states,
    ),
    "asterism://metrics": _Readable(
        "Metrics",
        "What this server has measured, as Prometheus reads it.",
        "text/plain",
        lambda _toolbox: prometheus_text(),
    ),
}


async def list_resources(
    _context: ServerRequestContext[Any, Any], _params: PaginatedRequestParams | None
) -> ListResourcesResult:
    """The resources."""
    from mcp.types import ListResourcesResult, Resource

    return ListResourcesResult(
        resources=[
            Resource(
                uri=uri,
                name=uri.rpartition("/")[2],
                title=one.title,
                description=one.description,
                mime_type=one.mime_type,
            )
            for uri, one in RESOURCES.items()
        ]
    )


async def read_resource(
    toolbox: Toolbox,
    limiter: anyio.CapacityLimiter,
    _context: ServerRequestContext[Any, Any],
    params: ReadResourceRequestParams,
) -> ReadResourceResult:
    """Read one, in a thread like every other call."""
    import anyio.to_thread
    from mcp.shared.exceptions import MCPError
    from mcp.types import INVALID_PARAMS, ReadResourceResult, TextResourceContents

    found = RESOURCES.get(str(params.uri))
    if found is None:
        raise MCPError(
            INVALID_PARAMS,
            f"There is no such resource; there are {', '.join(RESOURCES)}.",
            {"uri": str(params.uri)},
        )
    text = await anyio.to_thread.run_sync(partial(found.read, toolbox), limiter=limiter)
    contents = TextResourceContents(uri=str(params.uri), mime_type=found.mime_type, text=text)
    return ReadResourceResult(contents=[contents])


CALLS_AT_ONCE = 8
"""Threads that answer; searches are short and share two or more cores, the others wait."""
INDEXINGS_AT_ONCE = 2
"""Indexings that a client waits for; they take minutes, and must not take the searches' threads."""
ANSWERS_AT_ONCE = 32
"""Answers in words: they wait for a model most of their time."""
TELL_SECONDS = 0.1
"""How often a client hears of progress; more often could not be read."""

_Context: TypeAlias = "ServerRequestContext[Any, Any]"


def make_server(toolbox: Toolbox, state: ServerState | None = None) -> Server[dict[str, Any]]:
    """The server; its caller closes the toolbox when no transport is left.

    `state` is that of an HTTP server, whose clients share its threads and the processor; a client
    by itself has no limit. A server that only reads has no tools that change something: models
    choose among what they see.
    """
    import anyio
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError
    from mcp.types import INVALID_PARAMS, ListToolsResult, SetLevelRequestParams, Tool

    only_reading = state is not None and state.read_only
    offered = {
        name: tool for name, tool in toolbox.tools.items() if tool.read_only or not only_reading
    }
    limiter = anyio.CapacityLimiter(CALLS_AT_ONCE)
    indexings = anyio.CapacityLimiter(INDEXINGS_AT_ONCE)
    answers = anyio.CapacityLimiter(ANSWERS_AT_ONCE)
    listing = ListToolsResult(
        tools=[Tool.model_validate(listed(tool)) for tool in offered.values()]
    )

    async def list_tools(
        _context: _Context, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return listing

    async def call_tool(context: _Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in offered:
            raise MCPError(
                INVALID_PARAMS,
                f"There is no tool {params.name[:80]!r}; there are {', '.join(offered)}.",
            )
        if state is not None:
            return await _called_over_http(state, context, params)
        operation = offered[params.name]
        alone = indexings if operation.has_progress else limiter
        alone = answers if operation.uses_model else alone
        return await _called(toolbox.call, alone, context, params, operation.uses_model)

    server: Server[dict[str, Any]] = Server(
        NAME,
        version=__version__,
        title=TITLE,
        instructions=instructions_for(toolbox.operations),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=partial(read_resource, toolbox, limiter),
    )
    # A client may choose what it is told; all that it is told are warnings.
    server.add_request_handler("logging/setLevel", SetLevelRequestParams, _level)
    return server


async def _level(_context: _Context, _params: SetLevelRequestParams) -> EmptyResult:
    from mcp.types import EmptyResult

    return EmptyResult()


async def _called_over_http(
    state: ServerState, context: _Context, params: CallToolRequestParams
) -> CallToolResult:
    """Run a tool in one of the threads that all clients share, within the client's part."""
    operation = state.toolbox.tools[params.name]
    threads = state.indexings if operation.has_progress else state.threads
    threads = state.answers if operation.uses_model else threads
    wanted = ThreadRequest(
        client=spender_of(context.request, is_session=True),
        lane=lane_of(params.arguments or {}) if operation.needs_index else None,
        seconds=state.toolbox.seconds_of(operation),
    )
    try:
        state.shares.check(wanted.client)
        async with threads.place(wanted):
            call = partial(_counted, state, wanted)
            return await _called(call, threads.limiter, context, params, operation.uses_model)
    except ShareExceeded as error:
        return _answered(refusal(error))
    except (TooBusy, WaitedTooLong) as error:
        return _answered(failure(sentence_of(error), code_of(error).name))


def _counted(
    state: ServerState,
    wanted: ThreadRequest,
    name: str,
    arguments: Mapping[str, object] | None,
    caller: Caller,
) -> CallReply:
    """Runs the call in a thread and counts its time for the client's share."""
    counted = partial(state.shares.counted, wanted.client)
    try:
        # Others of its calls may have used the share while this one waited for a thread.
        state.shares.check(wanted.client)
    except ShareExceeded as error:
        return refusal(error)
    with counting_threads(counted), counted():
        return state.toolbox.call(name, arguments, caller._replace(arrived=wanted.arrived))


def refusal(error: ShareExceeded) -> CallReply:
    """The answer to a client that used its share: a failure, with the seconds to wait."""
    reply = failure(sentence_of(error), code_of(error).name)
    told = {"retry_after_seconds": round(error.seconds, 1)}
    return replace(reply, meta={name: {**part, **told} for name, part in reply.meta.items()})


def _answered(reply: CallReply) -> CallToolResult:
    from mcp.types import CallToolResult

    return CallToolResult.model_validate(written(reply), by_name=False)


async def _called(
    call: Callable[[str, Mapping[str, object] | None, Caller], CallReply],
    limiter: anyio.CapacityLimiter,
    context: _Context,
    params: CallToolRequestParams,
    uses_model: bool,
) -> CallToolResult:
    """Run a tool in a thread, which ends early if the request is cancelled.

    The thread is awaited in any case: an abandoned one would not be counted, so that clients that
    come and go would start any number.
    """
    import anyio
    import anyio.to_thread

    gone, latest = Event(), _Latest()
    client = context.session.client_params
    caller = Caller(
        latest.hear,
        gone.is_set,
        client.client_info.name if client else None,
        lent_by(context) if uses_model else None,
        request_name(context),
    )
    work = partial(call, params.name, params.arguments, caller)
    async with anyio.create_task_group() as group:
        group.start_soon(_tell, latest, context, gone)
        reply = await anyio.to_thread.run_sync(work, limiter=limiter)
        group.cancel_scope.cancel()
    await latest.tell(context)
    warning = truncation_warning(params.name, reply)
    if warning is not None:
        await _warn(context, warning)
    return _answered(reply)


class _Latest:
    """The latest progress of a job: written by its thread, sent by the event loop."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._told = -1.0

    def hear(self, progress: Progress) -> None:
        """Called by the thread that works."""
        self._progress = progress

    async def tell(self, context: _Context) -> None:
        """Tell the client, if there is something new; the number only ever grows."""
        progress = self._progress
        if progress is None:
            return
        done = SYNC_STAGES.index(progress.stage)
        share = progress.files_done / progress.files_total if progress.files_total else 0.0
        amount = done + min(share, 0.99)
        if amount > self._told:
            self._told = amount
            await context.session.report_progress(amount, len(SYNC_STAGES), _words(progress))


async def _tell(latest: _Latest, context: _Context, gone: Event) -> None:
    """Tell the client until the request ends; it ends early where it is cancelled."""
    import anyio

    try:
        while True:
            await latest.tell(context)
            await anyio.sleep(TELL_SECONDS)
    finally:
        # A thread that still works, or waits for its turn, sees that it is not needed.
        gone.set()


def _words(progress: Progress) -> str:
    if progress.files_total:
        return f"{progress.stage}: {progress.files_done:,} of {progress.files_total:,} files"
    return f"{progress.stage}: {progress.detail}" if progress.detail else progress.stage.value


async def _warn(context: _Context, text: str) -> None:
    """A log message to the client; newer protocols want it only if the request asked for it."""
    from mcp.shared.exceptions import MCPDeprecationWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        sending = context.session.send_log_message(
            "warning", text, logger=NAME, related_request_id=context.request_id
        )
    await sending
