"""Everything the HTTP API can do: which route does which, under the schemas of the tools."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import NamedTuple

from asterism.operations.calls import Call, Caller
from asterism.operations.limits import Reply
from asterism.operations.operation import Operation, Route
from asterism.operations.registry import OPERATIONS
from asterism.operations.schema import Json, Tool
from asterism.servers.http.chat_operations import chat_operations
from asterism.servers.http.state import State
from asterism.servers.http_tools import (
    ADD_REPOSITORY,
    REMOVE_REPOSITORY,
    VECTOR_SEARCH,
)
from asterism.servers.tools import TOOLS
from asterism.servers.tools_running import ASKING, Work, work_of


class Endpoint(NamedTuple):
    """One route: how it is called, and what answers."""

    method: str
    path: str
    tool: Tool
    answer: Callable[[State, Json, Caller], Reply]
    """In a thread; a failure is a reply too."""
    asks: bool = False
    """Whether it is a question to one repository, which answers one at a time."""
    progress: bool = False
    """Whether it takes long, and tells how far it is to a client that takes events."""


def _tool(method: str, path: str, name: str) -> Endpoint:
    """A tool for models, as it is."""

    def answer(state: State, given: Json, caller: Caller) -> Reply:
        return state.toolbox.call(name, given, caller)

    progress = name == "index_codebase"
    return Endpoint(method, path, TOOLS[name], answer, name in ASKING, progress)


def _declared(operation: Operation, route: Route) -> Endpoint:
    """An operation that is declared with its route."""

    def answer(state: State, given: Json, caller: Caller) -> Reply:
        return state.toolbox.run(work_of(operation), given, caller)

    return Endpoint(route.method, route.path, operation.tool, answer, operation.asks)


def _own(
    method: str, path: str, tool: Tool, do: Callable[[State, Call], Reply], asks: bool = True
) -> Endpoint:
    """What is no tool."""

    def answer(state: State, given: Json, caller: Caller) -> Reply:
        return state.toolbox.run(Work(tool, partial(do, state), asks), given, caller)

    return Endpoint(method, path, tool, answer, asks)


def _calls() -> ModuleType:
    # They bring what searching needs, and wait for the first call.
    from asterism.servers import http_calls

    return http_calls


def _add(state: State, call: Call) -> Reply:
    reply: Reply = _calls().add_repository(call, state.addable)
    return reply


def _remove(state: State, call: Call) -> Reply:
    reply: Reply = _calls().remove_repository(call, state.toolbox.forget)
    return reply


def _vector_search(_state: State, call: Call) -> Reply:
    reply: Reply = _calls().vector_search(call)
    return reply


_UNDECLARED: tuple[Endpoint, ...] = (
    _tool("GET", "/api/repositories", "list_repositories"),
    _own("POST", "/api/repositories", ADD_REPOSITORY, _add, asks=False),
    _own("DELETE", "/api/repositories/{repository_id}", REMOVE_REPOSITORY, _remove, asks=False),
    _tool("POST", "/api/index", "index_codebase"),
    _tool("POST", "/api/index/cancel", "cancel_indexing"),
    _tool("GET", "/api/status", "index_status"),
    _tool("GET", "/api/watch", "watch_status"),
    _tool("GET", "/api/debug", "index_debug"),
    _own("POST", "/tools/vector-search", VECTOR_SEARCH, _vector_search),
    _tool("GET", "/api/agents", "list_agents"),
    _tool("POST", "/api/items/search", "search_items"),
    _tool("GET", "/api/items", "list_items"),
    _tool("POST", "/api/items", "edit_item"),
    *chat_operations(_own),
)


def endpoints_of(operations: Sequence[Operation]) -> tuple[Endpoint, ...]:
    """Every route of a server with these operations."""
    declared = (
        _declared(operation, operation.route)
        for operation in operations
        if operation.route is not None
    )
    return (*declared, *_UNDECLARED)


ENDPOINTS = endpoints_of(OPERATIONS)

ROUTES_OF_TOOLS: Mapping[str, str] = {
    operation.tool.name: f"{operation.method} {operation.path}"
    for operation in ENDPOINTS
    # A name that is an ordinary word, as `ask` is, may be just that word.
    if "_" in operation.tool.name
}
"""What a message of a tool means here."""
