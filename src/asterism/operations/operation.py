"""One thing that users can call: its request, its reply, what it does and where it appears."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from asterism.operations.reply_schema import reply_schema
from asterism.operations.schema import Tool, request_fields

if TYPE_CHECKING:
    # They bring the engine, which a list of operations does not need.
    from asterism.operations.calls import Call
    from asterism.operations.limits import Reply


class Route(NamedTuple):
    """Where the HTTP API has an operation."""

    method: str
    path: str


@dataclass(frozen=True, kw_only=True)
class Operation:
    """The declaration from which MCP, HTTP, OpenAPI, the command line and the pages are made."""

    name: str
    title: str
    description: str
    request: type[Any]
    """A frozen record whose fields are annotated as `operations.schema` says."""
    reply: type[Any] | None = None
    """The record whose JSON is the reply; None where the reply is text."""
    run: Callable[[Call, Any], Reply]
    """Answers a call; the second argument is the checked request record."""
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    asks: bool = True
    """It reads what the engine keeps between queries, so it takes turns within a project."""
    is_tool: bool = True
    """MCP clients see it."""
    route: Route | None = None
    command: str = ""
    """A command of the terminal made from the request and the reply. Most operations have a
    command with a module of its own instead, which takes its arguments from the request."""

    @cached_property
    def tool(self) -> Tool:
        """The schemas and hints, as protocols show them."""
        known = request_fields(self.request)
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            parameters={each.name: each.schema for each in known},
            required=tuple(each.name for each in known if each.required),
            output=None if self.reply is None else reply_schema(self.reply),
            read_only=self.read_only,
            destructive=self.destructive,
            idempotent=self.idempotent,
        )

    def answer(self, call: Call) -> Reply:
        """Run the operation on arguments that are checked."""
        return self.run(call, self.request(**call.arguments))
