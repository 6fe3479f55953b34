"""The HTTP application: MCP, the API, health and metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from asterism.operations.error_codes import INTERNAL, INTERNAL_SENTENCE
from asterism.servers.http import api, chat, sessions
from asterism.servers.http.api import problem_response
from asterism.servers.http.gate import Gate
from asterism.servers.http.mcp import Framed
from asterism.servers.http.replies import HttpProblem, Refused
from asterism.servers.http.state import ServerState
from asterism.servers.mcp.server import make_server
from asterism.telemetry.exposition import CONTENT_TYPE, prometheus_text

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp

MOST_SESSIONS = 1_000
"""MCP sessions that are open at a time; one that is silent for half an hour is closed."""


def _operating(_state: ServerState) -> list[BaseRoute]:
    """Health and metrics."""
    from starlette.responses import PlainTextResponse, Response
    from starlette.routing import Route

    async def health(_request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def metrics(_request: Request) -> Response:
        return Response(prometheus_text(), media_type=CONTENT_TYPE)

    return [Route("/healthz", health, methods=["GET"]), Route("/metrics", metrics, methods=["GET"])]


ROUTES: tuple[Callable[[ServerState], list[BaseRoute]], ...] = (
    chat.routes,
    api.routes,
    sessions.routes,
    _operating,
)
"""The makers of all routes but that of MCP."""


def make_app(state: ServerState) -> ASGIApp:
    """The application; its caller closes the toolbox when the server has ended."""
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException

    server = make_server(state.toolbox, state)
    # The gate has looked at host and origin already, on this route as on every other.
    mcp = server.streamable_http_app(
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=state.limits.body_bytes,
        max_sessions=MOST_SESSIONS,
    )

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with server.session_manager.run():
            yield
            state.end()

    routes = [route for made in ROUTES for route in made(state)]
    app = Starlette(
        routes=[*routes, *mcp.routes],
        lifespan=lifespan,
        exception_handlers={Refused: _refused, HTTPException: _no_route, Exception: _failed},
    )
    app.router.redirect_slashes = False
    access = replace(state.access, is_page=state.pages.holds)
    return Gate(Framed(app, state.limits.body_bytes), access, state.limits)


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return problem_response(error.problem)


async def _no_route(request: Request, error: Exception) -> Response:
    """Errors of the router, as errors of the API."""
    from starlette.exceptions import HTTPException

    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        problem = HttpProblem("method_not_allowed", f"This route takes {allowed}.")
        response = problem_response(problem)
        response.headers["allow"] = allowed
        return response
    if error.status_code == 404:
        text = "There is nothing here; /api/openapi.json describes what there is."
        return problem_response(HttpProblem("not_found", text))
    return problem_response(HttpProblem("malformed", "The request cannot be understood."))


async def _failed(_request: Request, _error: Exception) -> Response:
    # The gate sees the error too, and logs it.
    return problem_response(HttpProblem(INTERNAL.name, INTERNAL_SENTENCE))
