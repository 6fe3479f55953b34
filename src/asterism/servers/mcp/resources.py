"""What a client can read beside the tools: the state of the indexes, and what was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from asterism.operations.json import compact
from asterism.servers.tools_running import Toolbox
from asterism.telemetry.exposition import prometheus_text

if TYPE_CHECKING:
    import anyio
    from mcp.server.context import ServerRequestContext
    from mcp.types import (
        ListResourcesResult,
        PaginatedRequestParams,
        ReadResourceRequestParams,
        ReadResourceResult,
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
    """What there is to read."""
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
