"""Does every surface keep to the one table of limits, and does each error say what is too large?"""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from asterism.operations.arguments import checked
from asterism.operations.operation import Operation
from asterism.operations.registry import OPERATIONS, TOOLS
from asterism.operations.schema import input_schema
from asterism.search.filters import parse_filter_words, parse_filters
from asterism.servers.http.openapi import openapi
from asterism.types.errors import UsageError
from asterism.types.request_limits import (
    DEPTH,
    FIELDS,
    WILDCARDS_TOGETHER,
    Bound,
    check_depth,
)
from asterism.types.search import FILTER_KEYS

EVERYTHING: Mapping[str, Operation] = {operation.name: operation for operation in OPERATIONS}


def without_limit(schema: Any, place: str) -> list[str]:
    """The places in a schema where a text, a list or an object could have any size."""
    found = []
    kind = schema.get("type") if isinstance(schema, dict) else None
    needed = {"string": "maxLength", "array": "maxItems"}.get(str(kind))
    if needed and needed not in schema and "enum" not in schema:
        found.append(place)
    if kind == "object" and not {"properties", "maxProperties"} & {*schema}:
        found.append(place)
    for key, below in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if isinstance(below, dict | list):
            found += without_limit(below, f"{place}.{key}")
    return found


def test_every_field_of_every_tool_has_its_limit() -> None:
    for name, tool in EVERYTHING.items():
        assert without_limit(input_schema(tool.parameters, tool.required), name) == []


def test_openapi_has_the_same() -> None:
    for path, methods in openapi(OPERATIONS)["paths"].items():
        for operation in methods.values():
            for parameter in operation.get("parameters", []):
                assert without_limit(parameter["schema"], f"{path}.{parameter['name']}") == []
            body = operation.get("requestBody", {"content": {}})["content"]
            for content in body.values():
                assert without_limit(content["schema"], path) == []


FILTERS = {name: key.bound for name, key in FILTER_KEYS.items()}


def test_every_field_with_a_limit_is_a_parameter() -> None:
    named = {name for tool in EVERYTHING.values() for name in tool.parameters}
    assert {*FIELDS} <= named


VALUES = {"type": "function", "languages": "python", "extension": ".py", "repo": "x"}
LISTS = [name for name, bound in FILTERS.items() if bound.entries]


def check(filters: Mapping[str, object], said: str) -> None:
    """What is over a limit is refused by the parser, by tools, and on the command line."""
    with pytest.raises(UsageError, match=re.escape(said)):
        parse_filters(filters)
    (name, value), *_ = filters.items()
    words = [f"{name}={part}" for part in ([value] if isinstance(value, str) else value)]  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match=re.escape(said)):
        parse_filter_words(words)
    with pytest.raises(UsageError, match=r"give [0-9,]+ at most"):
        parse_filters(checked(TOOLS["search_code"], {"query": "x", "filters": filters})["filters"])


@pytest.mark.parametrize("name", LISTS)
def test_too_many_entries(name: str) -> None:
    most = FILTERS[name].entries or 0
    value = VALUES.get(name, "a")
    parse_filters({name: [value] * most})
    check({name: [value] * (most + 1)}, f"filters.{name} has {most + 1:,} entries; give {most:,}")


@pytest.mark.parametrize("name", [*LISTS, "decorator_contains"])
def test_too_long_a_text(name: str) -> None:
    most = FILTERS[name].characters or 0
    check({name: "a" * (most + 1)}, f"filters.{name} has {most + 1:,} characters; give {most:,}")


@pytest.mark.parametrize("name", [name for name, bound in FILTERS.items() if bound.wildcards])
def test_too_many_wildcards(name: str) -> None:
    most = FILTERS[name].wildcards or 0
    parse_filters({name: "*a" * most})
    check({name: "*a" * (most + 1)}, f"filters.{name} has {most + 1:,} wildcards; give {most:,}")
    together = WILDCARDS_TOGETHER // most + 1
    said = f"filters.{name} has {together * most:,} wildcards together; give 1,000 at most"
    check({name: [f"{'*a' * most}{number}" for number in range(together)]}, said)


def test_the_attack_of_the_report() -> None:
    check({"path_glob": "**/" * 200}, "filters.path_glob has 400 wildcards; give 100 at most")


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        (tool, name)
        for tool in EVERYTHING.values()
        for name, schema in tool.parameters.items()
        if schema.get("type") == "string" and "enum" not in schema
    ],
    ids=lambda part: part.name if isinstance(part, Operation) else part,
)
def test_every_text_of_every_request(tool: Operation, name: str) -> None:
    most = FIELDS[name].characters or 0
    required = {
        needed: tool.parameters[needed].get("enum", ["a"])[0]
        for needed in tool.required
        if tool.parameters[needed]["type"] == "string"
    }
    given = {**required, name: "a" * (most + 1)}
    with pytest.raises(UsageError, match=f"{name} has {most + 1:,} characters; give {most:,}"):
        checked(tool, given)


def test_depth() -> None:
    def nested(levels: int, inside: object = "x") -> object:
        for _ in range(levels):
            inside = [inside] if levels % 2 else {"a": inside}
        return inside

    for levels in (DEPTH, DEPTH - 1):
        check_depth("It", nested(levels))
    for levels in (DEPTH + 1, DEPTH + 2, 50_000):
        with pytest.raises(UsageError, match=f"It is nested more than {DEPTH} levels deep"):
            check_depth("It", nested(levels))
    with pytest.raises(UsageError, match="nested"):
        checked(TOOLS["search_code"], {"query": "x", "filters": {"path": nested(DEPTH + 1)}})


def test_keys() -> None:
    most = FIELDS["filters"].entries or 0
    filters = {f"key{number}": "x" for number in range(most + 1)}
    with pytest.raises(UsageError, match=f"filters has {most + 1} entries; give {most} at most"):
        checked(TOOLS["search_code"], {"query": "x", "filters": filters})


def test_a_bound_that_does_not_apply_limits_nothing() -> None:
    assert Bound() == (None, None, None)
