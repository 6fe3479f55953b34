"""Does the description of the API say what the API takes and gives?"""

from typing import Any

import pytest
import schemathesis
import schemathesis.specs.openapi.checks as checks
from hypothesis import HealthCheck, Phase, given, settings
from starlette.testclient import TestClient

from asterism.operations.schema import input_schema
from asterism.servers.http.app import make_app
from asterism.servers.http.openapi import body_schema, openapi
from asterism.servers.http.replies import OWN_STATUSES, STATUSES
from asterism.servers.http.routes import ENDPOINTS, Endpoint
from asterism.servers.http.state import State
from asterism.servers.tools import TOOLS, listed
from asterism.servers.tools_running import Toolbox
from tests.servers.http_clients import ADDRESS, client_of

DESCRIBED = openapi(ENDPOINTS)
EXAMPLES = 3
"""Requests for each operation, right and wrong: together some twelve seconds, which is a fair share
of all tests."""


def of(operation: Endpoint) -> dict[str, Any]:
    found: dict[str, Any] = DESCRIBED["paths"][operation.path][operation.method.lower()]
    return found


@pytest.mark.parametrize("operation", ENDPOINTS, ids=lambda one: one.tool.name)
def test_an_operation_takes_what_its_tool_takes(operation: Endpoint) -> None:
    described = of(operation)
    assert described["operationId"] == operation.tool.name
    if operation.method == "POST":
        body = described["requestBody"]["content"]["application/json"]["schema"]
        assert body == body_schema(operation)
        if "{" not in operation.path:
            assert body == input_schema(operation.tool)
        return
    parameters = described.get("parameters", [])
    assert [one["name"] for one in parameters] == [*operation.tool.parameters]
    for one in parameters:
        schema = {**one["schema"], "description": one["description"]}
        assert schema == operation.tool.parameters[one["name"]]
        assert one["required"] == (one["name"] in operation.tool.required)


def test_tools_are_described_as_models_see_them() -> None:
    for operation in ENDPOINTS:
        if operation.tool.name in TOOLS:
            shown = listed(TOOLS[operation.tool.name])
            described = of(operation)
            assert described["description"].startswith(shown["description"])
            given = described["responses"]["200"]["content"]["application/json"]["schema"]
            assert given == shown.get("outputSchema", {"type": "object"})


def test_names_are_unique_and_codes_complete() -> None:
    assert len({one.tool.name for one in ENDPOINTS}) == len(ENDPOINTS)
    error = DESCRIBED["components"]["schemas"]["Error"]["properties"]["error"]
    assert error["properties"]["code"]["enum"] == sorted({*STATUSES, *OWN_STATUSES})


def test_the_description_is_served_and_says_whether_a_token_is_needed(toolbox: Toolbox) -> None:
    with TestClient(make_app(State(toolbox=toolbox)), ADDRESS) as client:
        assert client.get("/api/openapi.json").json() == DESCRIBED
    assert openapi(ENDPOINTS, with_token=True)["security"] == [{"token": []}]


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
@pytest.mark.parametrize("operation", ENDPOINTS, ids=lambda one: one.tool.name)
def test_whatever_is_sent_the_answer_is_as_described(
    toolbox: Toolbox, operation: Endpoint, mode: schemathesis.GenerationMode
) -> None:
    """Nothing can be changed through the server that is asked, so that examples stay alone."""
    if mode is schemathesis.GenerationMode.NEGATIVE and not operation.tool.parameters:
        pytest.skip("what takes nothing cannot be given anything wrong")
    cases = SCHEMA[operation.path][operation.method].as_strategy(mode)
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
            # A model or a compiler that is missing is a 503; a mistake of ours is this.
            assert answer.status_code != 500, answer.text
            case.validate_response(answer, checks=CHECKS)

        check()
