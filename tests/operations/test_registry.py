"""Is an operation that is declared once found on every surface, with the same fields?"""

import argparse
import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest

from asterism.api.codebase import Codebase
from asterism.cli.options import add_request, request_from
from asterism.engine.engine import Engine
from asterism.operations.calls import Call, Standpoint
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.json import to_json
from asterism.operations.limits import Part, Reply
from asterism.operations.operation import Operation, Route
from asterism.operations.registry import OPERATIONS
from asterism.operations.requests import CodebaseSearch, SearchCode, SimilarCode, SymbolLookup
from asterism.operations.schema import choice, request_fields, text, whole
from asterism.servers.mcp.tools import listed
from asterism.types.search import Filters
from tests.servers.http_clients import client_of

HEAVY = ("asterism.engine", "numpy", "lance", "pyarrow", "mcp", "starlette", "tree_sitter")


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    query: Annotated[str, text("What comes back.")]
    limit: Annotated[int, whole("How often.", 1, 9)] = 2
    stage: Annotated[str | None, choice("When.", ("early", "late"))] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Echoed:
    results: tuple[str, ...]
    stage: str | None
    note: str | None = None


def echo(_call: Call, asked: Echo) -> Reply:
    found = Echoed(results=(asked.query,) * asked.limit, stage=asked.stage)
    return Reply(parts=(Part(asked.query),), structured=to_json(found))


SCRATCH = Operation(
    name="echo_text",
    title="Echo",
    description="Give a text back.",
    request=Echo,
    reply=Echoed,
    run=echo,
    is_tool=True,
    shows_reply=True,
    route=Route("POST", "/api/echo"),
)


def test_an_operation_that_is_added_is_on_every_surface(engine: Engine, harbor: Path) -> None:
    toolbox = Toolbox(engine, Standpoint(harbor), operations=(*OPERATIONS, SCRATCH))
    shown = listed(toolbox.tools["echo_text"])
    expected = {"results": ["x", "x"], "stage": None}
    assert toolbox.call("echo_text", {"query": "x"}).structured == expected
    assert toolbox.call("echo_text", {"query": "x", "limit": 10}).error == "invalid_argument"
    with client_of(toolbox) as client:
        assert client.post("/api/echo", json={"query": "x"}).json() == expected
        described = client.get("/api/openapi.json").json()["paths"]["/api/echo"]["post"]
    body = described["requestBody"]["content"]["application/json"]["schema"]
    assert body == shown["inputSchema"]
    given = described["responses"]["200"]["content"]["application/json"]["schema"]
    assert given == shown["outputSchema"]
    assert given["required"] == ["results", "stage"]
    parser = argparse.ArgumentParser()
    add_request(parser, Echo)
    options = parser.parse_args(["--query", "x", "--limit", "3", "--stage", "late"])
    assert request_from(Echo, options) == Echo(query="x", limit=3, stage="late")


def test_listing_operations_loads_nothing_heavy() -> None:
    script = (
        "import sys; import asterism.operations.registry as registry;"
        "[operation.parameters for operation in registry.OPERATIONS];"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_declarations_are_complete(operation: Operation) -> None:
    assert operation.name.islower()
    assert operation.is_tool or operation.route is not None
    assert all(field.schema["description"] for field in request_fields(operation.request))


FILTERS = {*Filters.__annotations__}
ELSEWHERE = {"repository_id", "project_id"}
"""Programs hold a repository already."""


@pytest.mark.parametrize(
    ("function", "request_record", "only_declared"),
    [
        # Every hit of a program has its reasons; folders and extensions are filters.
        (Codebase.search, SearchCode, {"explain", "file_type", "directory"}),
        (Codebase.similar, SimilarCode, {"explain", "stage", "exhaustive", "cursor"}),
        (Codebase.context, CodebaseSearch, set()),
        # Programs get every place at once.
        (Codebase.symbols, SymbolLookup, {"filters", "include_context", "cursor", "max_tokens"}),
    ],
    ids=lambda value: getattr(value, "__qualname__", ""),
)
def test_programs_call_the_fields_by_the_same_names(
    function: Callable[..., object], request_record: type, only_declared: set[str]
) -> None:
    taken = inspect.signature(function).parameters
    declared = {field.name: field for field in request_fields(request_record)}
    names = {*taken} - {"self", "narrowed"}
    assert names - {*declared} <= {"stage"}
    left_out = {*declared} - names - ELSEWHERE
    assert left_out - (FILTERS if "narrowed" in taken else set()) == only_declared
    for name in names & {*declared}:
        default = taken[name].default
        if default and default is not inspect.Parameter.empty:
            assert declared[name].schema["default"] == default


def test_an_optional_field_of_a_reply_is_left_out_while_it_has_its_default() -> None:
    bare = to_json(Echoed(results=(), stage=None))
    assert bare == {"results": [], "stage": None}
    assert to_json(Echoed(results=("x",), stage="late", note="n"))["note"] == "n"
    assert json.dumps(bare)
