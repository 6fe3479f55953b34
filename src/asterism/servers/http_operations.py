"""Everything the HTTP API can do: which route does which, under the schemas of the tools."""

from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import NamedTuple

from asterism.operations.calls import Call, Caller
from asterism.operations.limits import Reply
from asterism.operations.schema import Json, Tool
from asterism.servers.http_chat_operations import chat_operations
from asterism.servers.http_state import State
from asterism.servers.http_tools import (
    ADD_REPOSITORY,
    FILE_LINES,
    FILE_OUTLINE,
    REMOVE_REPOSITORY,
    SIMILAR,
    SKIPPED_FILES,
    SYMBOL_RELATIONS,
    VECTOR_SEARCH,
)
from asterism.servers.tools import TOOLS
from asterism.servers.tools_running import ASKING, Work


class Operation(NamedTuple):
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


def _tool(method: str, path: str, name: str) -> Operation:
    """A tool for models, as it is."""

    def answer(state: State, given: Json, caller: Caller) -> Reply:
        return state.toolbox.call(name, given, caller)

    progress = name == "index_codebase"
    return Operation(method, path, TOOLS[name], answer, name in ASKING, progress)


def _own(
    method: str, path: str, tool: Tool, do: Callable[[State, Call], Reply], asks: bool = True
) -> Operation:
    """What is no tool."""

    def answer(state: State, given: Json, caller: Caller) -> Reply:
        return state.toolbox.run(Work(tool, partial(do, state), asks), given, caller)

    return Operation(method, path, tool, answer, asks)


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


def _plainly(name: str) -> Callable[[State, Call], Reply]:
    def do(_state: State, call: Call) -> Reply:
        reply: Reply = getattr(_calls(), name)(call)
        return reply

    return do


OPERATIONS: tuple[Operation, ...] = (
    _tool("POST", "/api/search", "search_code"),
    _tool("POST", "/api/context", "codebase_search"),
    _tool("POST", "/api/symbols", "symbol_lookup"),
    _own("POST", "/api/similar", SIMILAR, _plainly("similar_code")),
    _own("POST", "/api/relations", SYMBOL_RELATIONS, _plainly("symbol_relations")),
    _tool("GET", "/api/repositories", "list_repositories"),
    _own("POST", "/api/repositories", ADD_REPOSITORY, _add, asks=False),
    _own("DELETE", "/api/repositories/{repository_id}", REMOVE_REPOSITORY, _remove, asks=False),
    _tool("POST", "/api/index", "index_codebase"),
    _tool("POST", "/api/index/cancel", "cancel_indexing"),
    _tool("GET", "/api/status", "index_status"),
    _tool("GET", "/api/watch", "watch_status"),
    _tool("GET", "/api/debug", "index_debug"),
    _own("GET", "/api/skipped", SKIPPED_FILES, _plainly("skipped_files"), asks=False),
    _own("GET", "/api/outline", FILE_OUTLINE, _plainly("file_outline"), asks=False),
    _own("GET", "/api/file", FILE_LINES, _plainly("file_lines"), asks=False),
    _own("POST", "/tools/vector-search", VECTOR_SEARCH, _plainly("vector_search")),
    _tool("GET", "/api/agents", "list_agents"),
    _tool("POST", "/api/items/search", "search_items"),
    _tool("GET", "/api/items", "list_items"),
    _tool("POST", "/api/items", "edit_item"),
    *chat_operations(_own),
)

ROUTES_OF_TOOLS: Mapping[str, str] = {
    operation.tool.name: f"{operation.method} {operation.path}"
    for operation in OPERATIONS
    # A name that is an ordinary word, as `ask` is, may be just that word.
    if "_" in operation.tool.name
}
"""What a message of a tool means here."""
