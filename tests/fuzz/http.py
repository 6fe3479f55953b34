"""Hostile HTTP requests: made by schemathesis from our OpenAPI, and damaged on top of that.

A case is JSON: method, path with query, headers, and the body as Latin-1.
"""

import contextlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

from tests.fuzz.calls import arguments
from tests.fuzz.mutations import damaged
from tests.fuzz.scene import leaks, toolbox_in
from tests.fuzz.target import Check, Target

HEADERS = (
    *(
        ("host", "evil.example"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1:8420"),
        ("accept", "*/*"),
    ),
    *(
        ("accept", "text/event-stream"),
        ("content-type", "text/plain"),
        ("content-type", "application/json"),
    ),
    *(
        ("content-type", "application/json; charset=utf-7"),
        ("content-encoding", "gzip"),
        ("cookie", "a=b"),
    ),
    *(("authorization", "Bearer x"), ("authorization", "Basic Og=="), ("x-request-id", "a" * 300)),
    *(
        ("range", "bytes=0-1"),
        ("if-none-match", "*"),
        ("expect", "100-continue"),
        ("te", "trailers"),
    ),
    *(
        ("x-forwarded-for", "1.2.3.4"),
        ("forwarded", "host=x"),
        ("upgrade", "websocket"),
        ("x", "é"),
    ),
    *(("mcp-session-id", "x"), ("last-event-id", "9" * 40), ("transfer-encoding", "chunked")),
)
PATHS = (
    *(
        "/",
        "//",
        "/api",
        "/api/",
        "/api/none",
        "/api/file/../file",
        "/%2e%2e/etc/passwd",
        "/healthz",
    ),
    *("/metrics", "/api/openapi.json", "/api/search/", "/mcp", "/mcp/", "/api/repositories/%00"),
    *(
        "/api/repositories/..%2f..",
        "/api/conversations/x",
        "/api/turns/x/events",
        "/static/../../x",
    ),
)
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "GETX", "PROPFIND")
BODIES = (
    *(
        b"",
        b"{}",
        b"[]",
        b"null",
        b"0",
        b'"',
        b'{"query":',
        b"\xff\xfe",
        b'{"query": "\\ud800"}',
        b"NaN",
    ),
    *(
        b"[" * 50_000,
        b'{"a":' * 20_000,
        b'{"query": 1e999}',
        b'{"query": "x", "query": "y"}',
        b"\0" * 100,
    ),
    *(b'{"limit": ' + b"9" * 5_000 + b"}", b'{"query": "' + b"x" * 200_000 + b'"}', b"a=b&c=d"),
)
SHORTEST = {"maxLength": 100, "maxItems": 5}
"""Long texts take long to make up; other cases have them."""
BY_SCHEMA = 4
"""One case of so many is made by schemathesis, which takes a hundred times as long as the others."""


@cache
def _described() -> dict[str, Any]:
    from asterism.operations.registry import OPERATIONS
    from asterism.servers.http.openapi import openapi

    return openapi(OPERATIONS)


def _shortened(value: Any) -> Any:
    if isinstance(value, list):
        return [_shortened(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: min(one, SHORTEST[key])
        if key in SHORTEST and isinstance(one, int)
        else _shortened(one)
        for key, one in value.items()
    }


def cases(seed: str, count: int) -> Iterator[bytes]:
    """Cases of one batch; those of schemathesis are its own for a seed."""
    random = Random(seed)
    made = [
        *_by_schema(seed, count // BY_SCHEMA),
        *(_by_hand(random) for _ in range(count - count // BY_SCHEMA)),
    ]
    random.shuffle(made)
    for one in made:
        yield _encoded(_damaged(one, random) if random.random() < 0.3 else one)


def _by_schema(seed: str, count: int) -> list[dict[str, Any]]:
    """Requests as schemathesis makes them, right ones and wrong ones."""
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded
    from hypothesis import strategies as st

    schema = schemathesis.openapi.from_dict(_shortened(_described()))
    modes = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)
    strategies: list[Any] = []
    for path, entry in _described()["paths"].items():
        for method, operation in entry.items():
            takes = bool(operation.get("parameters") or operation.get("requestBody"))
            strategies.extend(
                schema[path][method.upper()].as_strategy(mode) for mode in modes[: 1 + takes]
            )
    made: list[dict[str, Any]] = []

    @seeded(seed)
    @settings(
        max_examples=max(1, count),
        deadline=None,
        database=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.sampled_from(strategies).flatmap(lambda strategy: strategy))
    def collect(case: Any) -> None:
        made.append(_request_of(case))

    collect()
    return made[:count]


def _request_of(case: Any) -> dict[str, Any]:
    import requests

    sent = case.as_transport_kwargs(base_url="http://127.0.0.1:8420")
    sent.pop("cookies", None)
    prepared = requests.Request(**sent).prepare()
    body = prepared.body or b""
    return {
        "method": prepared.method,
        "path": prepared.path_url,
        # One header is another in every run, and says who made the request.
        "headers": [
            [str(name), str(value)]
            for name, value in prepared.headers.items()
            if not name.lower().startswith("x-schemathesis")
        ],
        "body": body if isinstance(body, bytes) else str(body).encode("utf-8", "replace"),
    }


_PLACE = re.compile(r"\{\w+\}")


def _by_hand(random: Random) -> dict[str, Any]:
    """A request for an operation with arguments that may be wrong."""
    from asterism.operations.registry import OPERATIONS
    from asterism.servers.http.routes import routed

    route, operation = random.choice(routed(OPERATIONS))
    given = arguments(dict(operation.parameters), operation.required, random)
    path = _PLACE.sub(
        lambda _found: quote(str(random.choice(("shop", "x", "..", "", "a/b", "\0")))),
        route.path,
    )
    body = b""
    if route.method == "POST":
        body = json.dumps(given).encode()
    elif given:
        pairs = (
            f"{quote(k, errors='replace')}={quote(str(v)[:4_000], errors='replace')}"
            for k, v in given.items()
        )
        path += "?" + "&".join(pairs)
    return {
        "method": route.method,
        "path": path,
        "headers": [["content-type", "application/json"]],
        "body": body,
    }


def _damaged(one: dict[str, Any], random: Random) -> dict[str, Any]:
    chance = random.randrange(5)
    if chance == 0:
        return {**one, "body": random.choice(BODIES)}
    if chance == 1:
        return {**one, "body": damaged(one["body"], random)}
    if chance == 2:
        more = [list(random.choice(HEADERS)) for _ in range(random.randrange(1, 4))]
        return {**one, "headers": [*one["headers"], *more]}
    if chance == 3:
        return {**one, "method": random.choice(METHODS)}
    return {**one, "path": random.choice(PATHS) + random.choice(("", "?x=1", "?path=../x&path=y"))}


def _encoded(one: dict[str, Any]) -> bytes:
    return json.dumps({**one, "body": one["body"].decode("latin-1")}).encode()


@contextmanager
def _opened(place: Path) -> Iterator[Check]:
    from tests.servers.http_clients import client_of

    with toolbox_in(place) as toolbox, client_of(toolbox, read_only=True) as client:

        def check(case: bytes) -> list[str]:
            try:
                one = json.loads(case)
                path, method = str(one["path"]), str(one["method"])
                headers = [
                    (str(k).encode("latin-1"), str(v).encode("latin-1")) for k, v in one["headers"]
                ]
                body = str(one["body"]).encode("latin-1")
            except (ValueError, KeyError, TypeError, AttributeError):
                return []
            request = _built(client, method, path, headers, body)
            if request is None:
                return []
            answer = client.send(request)
            return _about(method, path.partition("?")[0], answer)

        yield check


def _built(client: Any, method: str, path: str, headers: list[Any], body: bytes) -> Any:
    """The request, unless the client refuses to send such a thing at all."""
    with contextlib.suppress(Exception):
        return client.build_request(
            method, f"http://127.0.0.1:8420{path}", headers=headers, content=body
        )
    return None


STREAMING = "text/event-stream"


def _about(method: str, path: str, answer: Any) -> list[str]:
    text = answer.text
    wrong = leaks(text) + leaks(str(answer.headers))
    if answer.status_code >= 500 and answer.status_code != 503:
        wrong.append(
            f"{method} {_route(method, path) or 'elsewhere'} gives {answer.status_code}: {text[:300]}"
        )
    kind = answer.headers.get("content-type", "")
    if answer.status_code >= 400 and method != "HEAD" and not path.startswith("/mcp"):
        wrong.extend(_about_failure(answer))
    elif answer.status_code == 200 and kind.startswith("application/json"):
        route = _route(method, path)
        if route is not None:
            wrong.extend(
                f"{method} {route} not as described: {one.message}"
                for one in list(_validator(method, route).iter_errors(answer.json()))[:3]
            )
    return wrong


def _about_failure(answer: Any) -> list[str]:
    try:
        error = answer.json()["error"]
    except (ValueError, KeyError, TypeError):
        return [f"status {answer.status_code} without an error in JSON"]
    wrong = [f"the failure {error} is not as described"] if {*error} < {"code", "message"} else []
    if not str(error.get("message", "")).rstrip().endswith((".", "?", "]")):
        wrong.append(f"the message of {error.get('code')} is no sentence")
    return wrong


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    return [
        (
            re.compile(
                _PLACE.sub("[^/]+", re.escape(path).replace(r"\{", "{").replace(r"\}", "}"))
            ),
            path,
        )
        for path in _described()["paths"]
    ]


def _route(method: str, path: str) -> str | None:
    for pattern, route in _patterns():
        if pattern.fullmatch(path) and method.lower() in _described()["paths"][route]:
            return route
    return None


@cache
def _validator(method: str, route: str) -> Any:
    import jsonschema_rs

    operation = _described()["paths"][route][method.lower()]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    return jsonschema_rs.validator_for({**schema, "components": _described()["components"]})


TARGET = Target(
    name="http",
    about="hostile HTTP requests, by schemathesis and by hand",
    cases=cases,
    opened=_opened,
    batch=200,
    tries=300,
    deadline=120,
)
