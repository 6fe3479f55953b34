"""Does a server give away, run or break anything when it is attacked?"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.hidden_paths import hidden_places
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.operations.registry import OPERATIONS
from asterism.operations.repositories import shown_detail
from asterism.servers.http.routes import routed
from tests.servers.conftest import copy_of_harbor, make_engine
from tests.servers.http_clients import client_of, error_of

SECRET = "swordfish-9f2c"
ROUTES = [("GET", "/healthz"), ("GET", "/metrics"), ("GET", "/api/openapi.json"), ("GET", "/none")]
ROUTES += [("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp")]
ROUTES += [
    (route.method, route.path.replace("{repository_id}", "harbor"))
    for route, _ in routed(OPERATIONS)
]
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with secrets in it and around it, and links that lead there."""
    base = tmp_path_factory.mktemp("attacked")
    harbor = copy_of_harbor(base)
    (base / "outside.py").write_text(f"KEY = '{SECRET}'\n")
    (harbor / ".env").write_text(f"KEY={SECRET}\n")
    (harbor / "ignored.log").write_text(SECRET)
    (harbor / ".gitignore").write_text("*.log\n")
    (harbor / "away.py").symlink_to(base / "outside.py")
    (harbor / "within.py").symlink_to(".env")
    (harbor / "folder").symlink_to(base)
    engine = make_engine(base)
    engine.index(engine.register(harbor))
    other = base / "other"
    other.mkdir()
    (other / "theirs.py").write_text("def theirs():\n    return 1\n")
    engine.index(engine.register(other))
    engine.close()
    return base


@pytest.fixture
def client(base: Path) -> Iterator[TestClient]:
    toolbox = Toolbox(make_engine(base), Standpoint(base / "harbor"))
    with client_of(toolbox) as made:
        yield made
    toolbox.close()


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("host", "evil.example", 421),
        ("host", "127.0.0.1.evil.example:8420", 421),
        ("origin", "http://evil.example", 403),
        ("origin", "http://127.0.0.1:3000", 403),
        ("origin", "null", 403),
    ],
)
def test_no_route_answers_a_rebound_name_or_a_foreign_page(
    client: TestClient, method: str, path: str, header: str, value: str, status: int
) -> None:
    answer = client.request(method, path, headers={header: value})
    assert answer.status_code == status
    assert error_of(answer) == f"{header}_refused"


@pytest.mark.parametrize("route", ["/api/file", "/api/outline", "/api/debug"])
@pytest.mark.parametrize(
    "path",
    [
        "../outside.py",
        "gateway/../../outside.py",
        "/etc/passwd",
        "//etc/passwd",
        "away.py",
        "folder/outside.py",
        ".env",
        "./.env",
        "gateway/../.env",
        "within.py",
        "ignored.log",
        "..",
        "README.md\0.py",
        "README.md/../../outside.py",
        "x" * 5_000,
        "\udcff",
        "%2e%2e/outside.py",
        "..\\outside.py",
        "~/.ssh/id_rsa",
    ],
)
def test_no_file_outside_the_index_is_shown(
    client: TestClient, base: Path, route: str, path: str
) -> None:
    query = path.encode("utf-8", "surrogateescape")
    answer = client.get(route, params={"file_path": query.decode("latin-1")})
    assert SECRET not in answer.text
    assert "root:" not in answer.text
    assert "KEY" not in answer.text
    assert str(base / "data") not in answer.text
    assert answer.status_code != 500
    if route != "/api/debug":
        assert answer.status_code in (400, 403, 404), answer.text
        assert error_of(answer)


def test_what_is_left_out_names_no_place_outside(client: TestClient, base: Path) -> None:
    answer = client.get("/api/skipped")
    reasons = {row["file_path"]: (row["reason"], row["detail"]) for row in answer.json()["skipped"]}
    assert reasons["away.py"] == ("outside_link", "…/outside.py")
    assert reasons["ignored.log"] == ("gitignored", ".gitignore:1: *.log")
    assert str(base / "outside.py") not in answer.text
    seen = client.get("/api/debug", params={"file_path": "ignored.log"})
    assert seen.json()["verdict"]["detail"] == ".gitignore:1: *.log"


@pytest.mark.parametrize(
    ("detail", "shown"),
    [
        (None, None),
        ("1,024 bytes", "1,024 bytes"),
        (".gitignore:3: /build/", ".gitignore:3: /build/"),
        ("/home/me/.config/git/ignore:3: *.log", "…/ignore:3: *.log"),
        ("/repo/.git/info/exclude:1: x", "/repo/.git/info/exclude:1: x"),
        ("../../etc/passwd", "…/passwd"),
        ("~/ignore:1: a: b/c", "…/ignore:1: a: b/c"),
    ],
)
def test_details(detail: str | None, shown: str | None) -> None:
    assert shown_detail(detail, "/repo") == shown


@pytest.mark.parametrize("field", ["path", "directory"])
@pytest.mark.parametrize("path", ["../", "/etc", "folder/"])
def test_searches_stay_inside(client: TestClient, field: str, path: str) -> None:
    route = "/api/context" if field == "path" else "/api/search"
    answer = client.post(route, json={"query": "key", field: path})
    assert SECRET not in answer.text
    assert (answer.status_code, error_of(answer)) == (403, "path_outside")


@pytest.mark.parametrize("id_", ["nowhere", "../other", "other\0", "*", "%", "' OR 1=1 --", ""])
def test_unknown_repositories(client: TestClient, id_: str) -> None:
    answer = client.post("/api/search", json={"query": "theirs", "repository_id": id_})
    assert answer.status_code in (400, 404)
    assert error_of(answer) in ("repository_unclear", "invalid_argument")


def test_a_file_of_another_repository_is_asked_for_by_its_own_id(client: TestClient) -> None:
    own = client.get("/api/file", params={"file_path": "theirs.py"})
    assert error_of(own) == "path_missing"
    crossed = client.get(
        "/api/file", params={"file_path": "../harbor/README.md", "repository_id": "other"}
    )
    assert error_of(crossed) == "path_outside"
    theirs = client.get("/api/file", params={"file_path": "theirs.py", "repository_id": "other"})
    assert theirs.json()["lines"][0] == "def theirs():"


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"not json",
        b"[]",
        b"null",
        b'"text"',
        b"5",
        b'{"query": NaN}',
        b'{"query": Infinity}',
        b"\xff\xfe{}",
        b"\x00",
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"query": "x"} trailing',
    ],
)
def test_malformed_bodies(client: TestClient, body: bytes) -> None:
    answer = client.post("/api/search", content=body, headers=JSON)
    assert (answer.status_code, error_of(answer)) == (400, "malformed")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "json"])
def test_other_kinds_of_content(client: TestClient, kind: str) -> None:
    answer = client.post("/api/search", content=b'{"query": "x"}', headers={"content-type": kind})
    assert (answer.status_code, error_of(answer)) == (415, "not_json")


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"query": 5},
        {"query": "x", "limit": 0},
        {"query": "x", "limit": 10**400},
        {"query": "x", "limit": "5"},
        {"query": "x", "unheard": 1},
        {"query": "x\0y"},
        {"query": "\ud800"},
        {"query": "x" * 200_000},
        {"query": "x", "mode": "psychic"},
        {"query": "x", "filters": {"unheard": 1}},
        {"query": "x", "filters": []},
        {"query": "x", "cursor": "forged"},
        {"query": "x", "directory": ["a"] * 2_000},
        {"query": {"$ne": None}},
    ],
)
def test_wrong_arguments(client: TestClient, asked: dict[str, Any]) -> None:
    body = json.dumps(asked).encode()
    answer = client.post("/api/search", content=body, headers=JSON)
    assert (answer.status_code, error_of(answer)) == (400, "invalid_argument")


@pytest.mark.parametrize(
    "query",
    [
        *("start_line=x", "start_line=0", "start_line=1&start_line=2", "start_line=1e9"),
        *("unheard=1", "start_line=%00"),
    ],
)
def test_wrong_queries(client: TestClient, query: str) -> None:
    answer = client.get(f"/api/file?file_path=README.md&{query}")
    assert (answer.status_code, error_of(answer)) == (400, "invalid_argument")


def test_bodies_and_addresses_that_are_too_long(client: TestClient) -> None:
    large = client.post("/api/search", content=b" " * 5_000_000, headers=JSON)
    assert (large.status_code, error_of(large)) == (413, "too_large")
    to_mcp = client.post("/mcp", content=b" " * 5_000_000, headers=JSON)
    assert (to_mcp.status_code, error_of(to_mcp)) == (413, "too_large")
    long = client.get("/api/file", params={"file_path": "x" * 9_000})
    assert (long.status_code, error_of(long)) == (414, "address_too_long")


@pytest.mark.parametrize("method", ["PUT", "PATCH", "TRACE", "CONNECT", "BREW", "OPTIONS"])
def test_other_methods(client: TestClient, method: str) -> None:
    answer = client.request(method, "/api/search")
    assert (answer.status_code, error_of(answer)) == (405, "method_not_allowed")
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize("path", ["/api/", "/api/search/", "//api/search", "/api/%00", "/../etc"])
def test_other_paths(client: TestClient, path: str) -> None:
    answer = client.post(path, json={"query": "x"})
    assert (answer.status_code, error_of(answer)) == (404, "not_found")


def test_a_damaged_index_names_no_directory_of_the_server(tmp_path: Path) -> None:
    harbor = copy_of_harbor(tmp_path)
    engine = make_engine(tmp_path)
    registered = engine.register(harbor)
    engine.index(registered)
    for file in registered.project.directory.glob("*.sqlite*"):
        file.write_bytes(b"this is no database" * 1_000)
    hidden = hidden_places([tmp_path / "data", tmp_path / "cache"])
    toolbox = Toolbox(engine, Standpoint(harbor), hidden)
    with client_of(toolbox) as client:
        for method, path in ROUTES[3:]:
            body = {"query": "x"} if method == "POST" else None
            answer = client.request(method, path, json=body)
            assert str(tmp_path / "data") not in answer.text, (method, path)
            assert "Traceback" not in answer.text
    toolbox.close()


def test_places_are_hidden_as_the_chunk_table_names_them_too(tmp_path: Path) -> None:
    hidden = hidden_places([tmp_path / "data"])
    said = f"Not found: {tmp_path / 'data'}/a; Not found: {str(tmp_path / 'data').lstrip('/')}/a"
    for place in hidden:
        said = said.replace(place, "…")
    assert said == "Not found: …/a; Not found: …/a"
    assert hidden_places(["/data"]) == ("/data",)
