"""The routes of the HTTP API: arguments in, work in a thread, JSON or events out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from asterism.indexing.report import Progress
from asterism.operations.calls import Caller
from asterism.operations.dispatch.clients import Spender
from asterism.operations.limits import result_json
from asterism.operations.operation import Operation
from asterism.operations.schema import Json
from asterism.servers.http.events import CONTENT_TYPE, Latest, ProgressResponse
from asterism.servers.http.openapi import openapi
from asterism.servers.http.replies import HttpProblem, Refused, Wording, encoded, problem_json
from asterism.servers.http.requests import arguments_of
from asterism.servers.http.routes import ROUTES_OF_TOOLS, routed
from asterism.servers.http.shares import spender_of
from asterism.servers.http.state import ServerState
from asterism.servers.http.workers import ThreadRequest, lane_of
from asterism.types.errors import ShareExceeded

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

_JSON = "application/json"
READ_ONLY = HttpProblem(
    "read_only", "This server only answers queries; the user who runs it changes its repositories."
)

_Run = Callable[[Callable[[Progress], None]], Awaitable[tuple[HttpProblem | None, bytes]]]
"""Does the work of a request, whose progress is heard."""


def routes(state: ServerState) -> list[BaseRoute]:
    """The routes of all operations but those that begin turns, and the description of all."""
    from starlette.responses import Response
    from starlette.routing import Route

    operations = state.toolbox.operations
    described = encoded(openapi(operations, with_token=state.access.is_closed))

    async def description(_request: Request) -> Response:
        return Response(described, media_type=_JSON)

    made: list[BaseRoute] = [
        Route(route.path, _endpoint(state, operation), methods=[route.method])
        for route, operation in routed(operations)
        if operation.begin is None
    ]
    return [Route("/api/openapi.json", description, methods=["GET"]), *made]


def _endpoint(state: ServerState, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    from starlette.responses import Response

    wording = Wording(ROUTES_OF_TOOLS)
    threads = state.indexings if operation.has_progress else state.threads

    def answered(given: Json, client: Spender, caller: Caller) -> tuple[HttpProblem | None, bytes]:
        """In a thread, the writing included: it takes as long as a small search."""
        # Others of its requests may have used the share while this one waited for a thread.
        problem = excess(state, client)
        if problem is not None:
            return problem, b""
        with state.shares.counted(client):
            reply = state.toolbox.run(operation, given, caller)
            if reply.error is not None:
                return wording.problem_of(reply), b""
            return None, encoded(result_json(reply))

    async def endpoint(request: Request) -> Response:
        if state.read_only and not operation.read_only:
            raise Refused(READ_ONLY)
        client = spender_of(request)
        problem = excess(state, client)
        if problem is not None:
            raise Refused(problem)
        given = await arguments_of(request, operation)
        lane = lane_of(given) if operation.needs_index else None
        seconds = state.toolbox.seconds_of(operation)
        wanted = ThreadRequest(client=client, lane=lane, seconds=seconds)
        work = partial(answered, given, client)
        if operation.has_progress and CONTENT_TYPE in request.headers.get("accept", ""):
            return ProgressResponse(partial(told, partial(threads.run, request, wanted, work)))
        problem, body = await threads.run(request, wanted, work)
        return Response(body, media_type=_JSON) if problem is None else problem_response(problem)

    async def told(run: _Run, latest: Latest) -> tuple[str, bytes]:
        try:
            problem, body = await run(latest.hear)
        except Refused as refused:
            problem, body = refused.problem, b""
        return ("done", body) if problem is None else ("error", encoded(problem_json(problem)))

    return endpoint


def excess(state: ServerState, client: Spender) -> HttpProblem | None:
    """The error for a client that used its share of the processor."""
    try:
        state.shares.check(client)
    except ShareExceeded as error:
        return HttpProblem("share_exceeded", str(error), error.seconds)
    return None


def problem_response(problem: HttpProblem) -> Response:
    """The answer to a request that failed."""
    from starlette.responses import JSONResponse

    return JSONResponse(problem_json(problem), problem.status, headers=problem.headers)
