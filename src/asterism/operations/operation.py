"""One thing that users can call: its request, its reply, its traits and where it appears."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import UnionType
from typing import TYPE_CHECKING, Any, NamedTuple

from asterism.operations.calls import Call
from asterism.operations.limits import CallReply
from asterism.operations.schema import Json, reply_schema, request_fields

if TYPE_CHECKING:
    # It brings the engine, which a list of operations does not need.
    from asterism.engine.chat.requests import Hear, TurnHandle


class Route(NamedTuple):
    """Where the HTTP API has an operation."""

    method: str
    path: str


@dataclass(frozen=True, kw_only=True)
class Operation:
    """The declaration from which MCP, HTTP, OpenAPI, the command line and the pages are made.

    Either `run` or `begin` answers a call; the second argument is the checked request record.
    """

    name: str
    title: str
    description: str
    request: type[Any]
    """A frozen record whose fields are annotated as `operations.schema` says."""
    reply: type[Any] | UnionType | None = None
    """The record whose JSON is the reply; None where a turn of a chat is, as it is stored."""
    run: Callable[[Call, Any], CallReply] | None = None
    begin: Callable[[Call, Any, Hear], TurnHandle] | None = None
    """Begins a turn of a chat. HTTP answers with its events, or with the turn when it has ended."""

    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    needs_index: bool = False
    """It searches one index: it takes its turn in the project, and the server keeps the index fresh
    from then on."""
    uses_model: bool = False
    """A language model answers: it takes minutes, so there is no deadline."""
    has_progress: bool = False
    """It indexes: it takes minutes, and tells how far it is."""
    limits_texts: bool = False
    """`max_tokens` is the budget of the texts, which `run` keeps to, not of the whole reply."""

    is_tool: bool = False
    """MCP clients see it."""
    instruction: str = ""
    """`NAME: when to use it`, for the instructions of the MCP server; it may name more tools."""
    shows_reply: bool = False
    """MCP clients see the schema of the reply as well; it costs a model tokens."""
    route: Route | None = None

    @cached_property
    def parameters(self) -> dict[str, Json]:
        """The schema of each field of the request."""
        return {each.name: each.schema for each in request_fields(self.request)}

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The fields that have no default."""
        return tuple(each.name for each in request_fields(self.request) if each.required)

    @cached_property
    def reply_schema(self) -> Json:
        """The reply as JSON Schema."""
        return {"type": "object"} if self.reply is None else reply_schema(self.reply)

    @property
    def has_deadline(self) -> bool:
        """Whether it must end in time: a change is not interrupted half-way."""
        return self.read_only and not self.uses_model

    def answer(self, call: Call) -> CallReply:
        """Run the operation on arguments that are checked."""
        if self.run is None:
            raise TypeError(f"{self.name} begins a turn; it has no reply of its own.")
        return self.run(call, self.request(**call.arguments))
