"""Does the description of the API say what the API takes and gives?"""

from typing import Any

import pytest
import schemathesis
import schemathesis.specs.openapi.checks as checks
from hypothesis import HealthCheck, Phase, given, settings
from starlette.testclient import TestClient

from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.operation import Operation, Route
from asterism.operations.registry import OPERATIONS, TOOLS
from asterism.operations.schema import input_schema
from asterism.servers.http.app import make_app
from asterism.servers.http.openapi import body_schema, openapi
from asterism.servers.http.replies import OWN_STATUSES, STATUSES
from asterism.servers.http.routes import routed
from asterism.servers.http.state import ServerState
from asterism.servers.mcp.tools import listed
from tests.servers.http_clients import ADDRESS, client_of

ENDPOINTS = routed(OPERATIONS)
NAMES = [operation.name for _, operation in ENDPOINTS]
DESCRIBED = openapi(OPERATIONS)
EXAMPLES = 3
"""Requests for each operation, right and wrong: together some twelve seconds, which is a fair share
of all tests."""


def of(route: Route) -> dict[str, Any]:
    found: dict[str, Any] = DESCRIBED["paths"][route.path][route.method.lower()]
    return found


@pytest.mark.parametrize(("route", "operation"), ENDPOINTS, ids=NAMES)
def test_a_route_takes_what_its_operation_takes(route: Route, operation: Operation) -> None:
    described = of(route)
    assert described["operationId"] == operation.name
    if route.method == "POST":
        body = described["requestBody"]["content"]["application/json"]["schema"]
        assert body == body_schema(route, operation)
        if "{" not in route.path:
            assert body == input_schema(operation.parameters, operation.required)
        return
    parameters = described.get("parameters", [])
    assert [one["name"] for one in parameters] == [*operation.parameters]
    for one in parameters:
        schema = {**one["schema"], "description": one["description"]}
        assert schema == operation.parameters[one["name"]]
        assert one["required"] == (one["name"] in operation.required)


def test_tools_are_described_as_models_see_them() -> None:
    for route, operation in ENDPOINTS:
        if operation.name in TOOLS:
            shown = listed(operation)
            described = of(route)
            assert described["description"].startswith(shown["description"])
            given = described["responses"]["200"]["content"]["application/json"]["schema"]
            assert given == shown.get("outputSchema", operation.reply_schema)


def test_names_are_unique_and_codes_complete() -> None:
    assert len({operation.name for operation in OPERATIONS}) == len(OPERATIONS)
    error = DESCRIBED["components"]["schemas"]["Error"]["properties"]["error"]
    assert error["properties"]["code"]["enum"] == sorted({*STATUSES, *OWN_STATUSES})


def test_the_description_is_served_and_says_whether_a_token_is_needed(toolbox: Toolbox) -> None:
    with TestClient(make_app(ServerState(toolbox=toolbox)), ADDRESS) as client:
        assert client.get("/api/openapi.json").json() == DESCRIBED
    assert openapi(OPERATIONS, with_token=True)["security"] == [{"token": []}]


LONGEST = {"maxLength": 100, "maxItems": 5}
"""Long texts take long to make up, and are sent elsewhere."""


def shortened(value: Any) -> Any:
    """The description with smaller limits."""
    if isinstance(value, list):
        return [shortened(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: min(one, LONGEST[key]) if key in LONGEST else shortened(one)
        for key, one in value.items()
    }


SCHEMA = schemathesis.openapi.from_dict(shortened(DESCRIBED))

CHECKS: list[Any] = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


@pytest.mark.parametrize("mode", [*schemathesis.GenerationMode], ids=lambda mode: mode.value)
@pytest.mark.parametrize(("route", "operation"), ENDPOINTS, ids=NAMES)
def test_whatever_is_sent_the_answer_is_as_described(
    toolbox: Toolbox, route: Route, operation: Operation, mode: schemathesis.GenerationMode
) -> None:
    """Nothing can be changed through the server that is asked, so that examples stay alone."""
    if mode is schemathesis.GenerationMode.NEGATIVE and not operation.parameters:
        pytest.skip("what takes nothing cannot be given anything wrong")
    cases = SCHEMA[route.path][route.method].as_strategy(mode)
    with client_of(toolbox, read_only=True) as client:

        @given(case=cases)
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def check(case: Any) -> None:
            sent = case.as_transport_kwargs()
            sent.pop("cookies")
            if isinstance(sent.get("data"), bytes):
                sent["content"] = sent.pop("data")
            answer = client.request(**sent)
            # A model or a compiler that is missing is a 503; a defect is this.
            assert answer.status_code != 500, answer.text
            case.validate_response(answer, checks=CHECKS)

        check()
