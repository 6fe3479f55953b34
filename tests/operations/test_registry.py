"""Is an operation that is declared once found on every surface, with the same fields?"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import anyio
import pytest
from mcp import Client

from asterism.api.keywords import request_of
from asterism.cli.options import request_from
from asterism.cli.parser import Command, build_parser
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.operations.calls import Call, Standpoint
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.json import to_json
from asterism.operations.limits import CallReply, TextPart
from asterism.operations.operation import Operation, Route
from asterism.operations.registry import OPERATIONS
from asterism.operations.requests import SearchCode, engine_request
from asterism.operations.schema import Json, choice, request_fields, switch, text, whole
from asterism.servers.mcp.handshake import instructions_for
from asterism.servers.mcp.server import make_server
from asterism.types.request_limits import Bound
from scripts.house.table import EXAMPLES, files_with
from scripts.write_docs import operations_table, tools_page
from tests.servers.http_clients import client_of

HEAVY = (
    *("asterism.engine", "numpy", "lance", "pyarrow", "mcp", "starlette", "tree_sitter"),
    *("sqlite3", "sqlalchemy", "asyncio"),
)
MOST_MODULES = 65
"""Modules of Asterism that the list of operations loads; one more for each new operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    words: Annotated[str, text("What comes back.", Bound(characters=9))]
    limit: Annotated[int, whole("How often.", 1, 9)] = 2
    stage: Annotated[str | None, choice("When.", ("early", "late"))] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Echoed:
    results: tuple[str, ...]
    stage: str | None
    note: str | None = None


def echo(_call: Call, asked: Echo) -> CallReply:
    found = Echoed(results=(asked.words,) * asked.limit, stage=asked.stage)
    return CallReply(parts=(TextPart(asked.words),), structured=to_json(found))


SCRATCH = Operation(
    name="echo_text",
    title="Echo",
    description="Give a text back.",
    request=Echo,
    reply=Echoed,
    run=echo,
    is_tool=True,
    instruction="echo_text: to hear yourself",
    shows_reply=True,
    route=Route("POST", "/api/echo"),
)


async def listed_by_server(toolbox: Toolbox) -> dict[str, Json]:
    """The tools that an MCP client is shown, by name."""
    async with Client(make_server(toolbox)) as client:
        found = (await client.list_tools()).tools
    return {tool.name: tool.model_dump(by_alias=True, exclude_none=True) for tool in found}


def test_an_operation_that_is_added_is_on_every_surface(engine: Engine, harbor: Path) -> None:
    toolbox = Toolbox(engine, Standpoint(harbor), operations=(*OPERATIONS, SCRATCH))
    shown = anyio.run(listed_by_server, toolbox)["echo_text"]
    expected = {"results": ["x", "x"], "stage": None}
    assert toolbox.call("echo_text", {"words": "x"}).structured == expected
    assert toolbox.call("echo_text", {"words": "x", "limit": 10}).error == "invalid_argument"
    assert toolbox.call("echo_text", {"words": "x" * 10}).error == "invalid_argument"
    assert "- echo_text: to hear yourself\n" in instructions_for(toolbox.operations)
    with client_of(toolbox) as client:
        assert client.post("/api/echo", json={"words": "x"}).json() == expected
        described = client.get("/api/openapi.json").json()["paths"]["/api/echo"]["post"]
    body = described["requestBody"]["content"]["application/json"]["schema"]
    assert body == shown["inputSchema"]
    given = described["responses"]["200"]["content"]["application/json"]["schema"]
    assert given == shown["outputSchema"]
    assert given["required"] == ["results", "stage"]
    assert "## `echo_text`\n" in tools_page(toolbox.operations)
    assert "| `POST /api/echo` | `echo_text` | Echo |" in operations_table(toolbox.operations)
    command = Command("echo", "Give a text back.", operation="echo_text")
    line = ["echo", "--words", "x", "--stage", "late"]
    options = build_parser((command,), (SCRATCH,)).parse_args(line)
    assert request_from(Echo, options) == Echo(words="x", stage="late")


@dataclass(frozen=True, slots=True, kw_only=True)
class WiderSearch(SearchCode):
    """`search_code` with an option that it has not: a field that the engine's request knows."""

    spread: Annotated[bool, switch("Several symbols of a file early.")] = False


WIDER = Operation(
    name="wider_search",
    title="Search wider",
    description="Find code.",
    request=WiderSearch,
    reply=Echoed,
    run=lambda _call, asked: CallReply(
        parts=(), structured={"spread": engine_request(asked, SearchRequest).spread}
    ),
    is_tool=True,
    route=Route("POST", "/api/wider"),
)


def test_a_search_option_that_is_added_is_on_every_surface(engine: Engine, harbor: Path) -> None:
    toolbox = Toolbox(engine, Standpoint(harbor), operations=(WIDER,))
    shown = anyio.run(listed_by_server, toolbox)["wider_search"]
    described = "Several symbols of a file early."
    assert shown["inputSchema"]["properties"]["spread"]["description"] == described
    with client_of(toolbox) as client:
        for given, spread in (({}, False), ({"spread": True}, True)):
            answer = client.post("/api/wider", json={"query": "x", **given})
            assert answer.json() == {"spread": spread}
    assert described in tools_page(toolbox.operations)
    command = Command("wider", "Find code.", operation="wider_search")
    options = build_parser((command,), (WIDER,)).parse_args(["wider", "x", "--spread"])
    assert request_from(WiderSearch, options).spread
    asked, filters = request_of(WiderSearch, {"query": "x", "spread": True, "path": "src"})
    assert engine_request(asked, SearchRequest).spread
    assert filters == {"path": "src"}


@pytest.mark.parametrize("kind", ["a filter", "an MCP tool", "a search option"])
def test_what_is_added_touches_two_files(kind: str) -> None:
    assert len(files_with(*EXAMPLES[kind])) <= 2


def test_listing_operations_loads_nothing_heavy() -> None:
    script = (
        "import sys; import asterism.operations.registry as registry;"
        "[operation.parameters for operation in registry.OPERATIONS];"
        f"print([name for name in {HEAVY!r} if name in sys.modules]);"
        "print(sum(name.startswith('asterism') for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    heavy, count = done.stdout.splitlines()
    assert heavy == "[]"
    assert int(count) <= MOST_MODULES


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_declarations_are_complete(operation: Operation) -> None:
    assert operation.name.islower()
    assert operation.is_tool or operation.route is not None
    assert all(field.schema["description"] for field in request_fields(operation.request))


def test_an_optional_field_of_a_reply_is_left_out_while_it_has_its_default() -> None:
    bare = to_json(Echoed(results=(), stage=None))
    assert bare == {"results": [], "stage": None}
    assert to_json(Echoed(results=("x",), stage="late", note="n"))["note"] == "n"
    assert json.dumps(bare)
