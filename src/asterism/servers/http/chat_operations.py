"""Which route of the HTTP API does what for chats."""

from collections.abc import Callable
from types import ModuleType
from typing import Protocol, TypeVar

from asterism.operations.calls import Call
from asterism.operations.limits import Part, Reply
from asterism.operations.schema import Tool
from asterism.servers.http.state import State
from asterism.servers.http_chat_tools import (
    ARCHIVE_CONVERSATION,
    ASK,
    ASK_ON,
    DELETE_CONVERSATION,
    EXPORT_CONVERSATION,
    GO_ON,
    LIST_CONVERSATIONS,
    RESTORE_CONVERSATION,
    SEARCH_CONVERSATIONS,
    SHOW_CONVERSATION,
    SHOW_TURN,
    STOP_TURN,
)
from asterism.types.errors import UsageError

ASK_PATH = "/api/ask"
ASK_ON_PATH = "/api/conversations/{conversation_id}/turns"
GO_ON_PATH = "/api/turns/{turn_id}/approvals"

_Operation = TypeVar("_Operation", covariant=True)


class Own(Protocol[_Operation]):
    """Makes an operation that is no tool."""

    def __call__(
        self,
        method: str,
        path: str,
        tool: Tool,
        do: Callable[[State, Call], Reply],
        asks: bool = True,
    ) -> _Operation:
        """One route."""
        ...


def chat_operations(own: Own[_Operation]) -> tuple[_Operation, ...]:
    """The routes; those that answer questions are carried out by `http_chat`, as streams too."""
    one, turn = "/api/conversations/{conversation_id}", "/api/turns/{turn_id}"
    plain = (
        ("GET", turn, SHOW_TURN),
        ("GET", "/api/conversations", LIST_CONVERSATIONS),
        ("GET", "/api/conversations/search", SEARCH_CONVERSATIONS),
        ("GET", one, SHOW_CONVERSATION),
        ("GET", f"{one}/export", EXPORT_CONVERSATION),
        ("POST", f"{one}/archive", ARCHIVE_CONVERSATION),
        ("POST", f"{one}/restore", RESTORE_CONVERSATION),
        ("DELETE", one, DELETE_CONVERSATION),
    )
    return (
        own("POST", ASK_PATH, ASK, _streamed, asks=False),
        own("POST", ASK_ON_PATH, ASK_ON, _streamed, asks=False),
        own("POST", GO_ON_PATH, GO_ON, _streamed, asks=False),
        own("POST", f"{turn}/stop", STOP_TURN, _stop, asks=False),
        *(own(method, path, tool, _by(tool.name), asks=False) for method, path, tool in plain),
    )


def _calls() -> ModuleType:
    # They bring the database, and wait for the first call.
    from asterism.servers import http_chat_calls

    return http_chat_calls


def _by(name: str) -> Callable[[State, Call], Reply]:
    def do(_state: State, call: Call) -> Reply:
        reply: Reply = getattr(_calls(), name)(call)
        return reply

    return do


def _stop(state: State, call: Call) -> Reply:
    id_ = call.arguments["turn_id"]
    stopped = state.toolbox.asking().stop(id_)
    return Reply(parts=(Part(""),), structured={"turnId": id_, "stopped": stopped})


def _streamed(_state: State, _call: Call) -> Reply:
    raise UsageError("This route is answered elsewhere.")
