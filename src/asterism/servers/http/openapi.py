"""The API in OpenAPI 3.1, made from the schemas that the calls are checked against."""

import re
from collections.abc import Iterable, Mapping

from asterism import __version__
from asterism.operations.operation import Operation, Route
from asterism.operations.schema import Json, input_schema
from asterism.servers.http.events import CONTENT_TYPE
from asterism.servers.http.replies import OWN_STATUSES, STATUSES
from asterism.servers.http.routes import routed

_PLACE = re.compile(r"\{(\w+)\}")
_ERROR = {"$ref": "#/components/schemas/Error"}
_INTRODUCTION = """\
Search code by meaning, words and syntax, and follow how it connects. The operations are those of \
the MCP tools at `/mcp`, with the same arguments, limits and accounts. A failure has a stable \
code, and a sentence that says what to do next."""
_EVENTS = """\
With `Accept: text/event-stream` the reply is a stream: `progress` events with stage, files_done, \
files_total and detail, then one `done` with what would be the reply, or one `error`."""


def openapi(operations: Iterable[Operation], with_token: bool = False) -> Json:
    """The whole description."""
    paths: dict[str, Json] = {}
    for route, operation in routed(operations):
        entry = _operation(route, operation)
        paths.setdefault(route.path, {})[route.method.lower()] = entry
    described: Json = {
        "openapi": "3.1.0",
        "info": {"title": "Asterism", "version": __version__, "description": _INTRODUCTION},
        "paths": paths,
        "components": {
            "schemas": {"Error": _error_schema()},
            "responses": {"Error": _response("What went wrong.", _ERROR)},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    return {**described, "security": [{"token": []}]} if with_token else described


def _operation(route: Route, operation: Operation) -> Json:
    answers = {"application/json": {"schema": operation.reply_schema}}
    described: Json = {
        "operationId": operation.name,
        "summary": operation.title,
        "description": operation.description,
        "responses": {
            "200": {"description": "What was asked for.", "content": answers},
            "default": {"$ref": "#/components/responses/Error"},
        },
    }
    if operation.has_progress:
        described["description"] = f"{operation.description}\n\n{_EVENTS}"
        answers[CONTENT_TYPE] = {"schema": {"type": "string"}}
    parameters = _parameters(route, operation)
    if route.method == "POST":
        schema = body_schema(route, operation)
        body = {"application/json": {"schema": schema}}
        described["requestBody"] = {"required": bool(schema.get("required")), "content": body}
        parameters = [one for one in parameters if one["in"] == "path"]
    return {**described, "parameters": parameters} if parameters else described


def body_schema(route: Route, operation: Operation) -> Json:
    """What a body may contain: every field that is not in the path."""
    in_path = {*_PLACE.findall(route.path)}
    parameters = {name: one for name, one in operation.parameters.items() if name not in in_path}
    return input_schema(parameters, [name for name in operation.required if name not in in_path])


def _parameters(route: Route, operation: Operation) -> list[Json]:
    in_path = {*_PLACE.findall(route.path)}
    return [
        {
            "name": name,
            "in": "path" if name in in_path else "query",
            "required": name in in_path or name in operation.required,
            "description": schema.get("description", ""),
            "schema": {key: value for key, value in schema.items() if key != "description"},
        }
        for name, schema in operation.parameters.items()
    ]


def _response(description: str, schema: Json) -> Json:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _error_schema() -> Json:
    codes: Mapping[str, int] = {**STATUSES, **OWN_STATUSES}
    return {
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["code", "message", "request_id"],
                "properties": {
                    "code": {"type": "string", "enum": sorted(codes)},
                    "message": {"type": "string"},
                    "request_id": {"type": "string"},
                },
            }
        },
    }
