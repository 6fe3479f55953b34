"""Routes that open and close sessions of pages in a browser."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from asterism.servers.access import PAGE_HEADER, IdentityKind, cookie_of, page_cookie
from asterism.servers.http.page_sessions import CODE_SECONDS
from asterism.servers.http.replies import HttpProblem, Refused
from asterism.servers.http.requests import json_body
from asterism.servers.http.state import ServerState

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

_USED = HttpProblem(
    "unauthorized", "The code was used, or is too old; open the page anew with the command."
)
_NO_PAGE = HttpProblem(
    "unauthorized", "A page does not open another; use the command or the server's token."
)


def routes(state: ServerState) -> list[BaseRoute]:
    """The routes below `/session`."""
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    async def code(request: Request) -> Response:
        if request.state.identity.kind is IdentityKind.page:
            raise Refused(_NO_PAGE)
        return JSONResponse({"code": state.pages.code(), "seconds": CODE_SECONDS})

    async def begin(request: Request) -> Response:
        given = (await json_body(request)).get("code")
        opened = state.pages.open(given) if isinstance(given, str) else None
        if opened is None:
            raise Refused(_USED)
        response = JSONResponse({"key": opened.key})
        response.set_cookie(_name(request), opened.cookie, httponly=True, samesite="strict")
        return response

    async def end(request: Request) -> Response:
        name = _name(request)
        cookies = tuple(request.headers.getlist("cookie"))
        state.pages.end(cookie_of(cookies, name), request.headers.get(PAGE_HEADER, ""))
        response = Response(status_code=HTTPStatus.NO_CONTENT)
        response.delete_cookie(name, httponly=True, samesite="strict")
        return response

    return [
        Route("/session/code", code, methods=["POST"]),
        Route("/session", begin, methods=["POST"]),
        Route("/session", end, methods=["DELETE"]),
    ]


def _name(request: Request) -> str:
    return page_cookie((request.scope.get("server") or ("", 0))[1])
