"""Does no sentence of a server name a path that is in no repository it knows?"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.hidden_paths import Hiding, hidden_places
from asterism.operations.dispatch.toolbox import Toolbox, failure
from asterism.operations.limits import CallReply, TextPart
from asterism.operations.registry import OPERATIONS
from asterism.servers.http.routes import routed
from asterism.types.errors import SettingError
from tests.servers.conftest import copy_of_harbor, make_engine
from tests.servers.http_clients import client_of

HIDING = Hiding(("/srv/own data", "/srv/cache"), lambda: ["/code/shop", "/code/a b"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is in /etc/passwd.", "It is in …."),
        ("/home/me/.config/asterism/config.toml: log.level = 5", "…: log.level = 5"),
        ("'/home/me/x' and \"/var/y\" (/tmp/z), /opt/q; /a/b", "'…' and \"…\" (…), …; …"),
        ("It is in ~/code/secret now.", "It is in … now."),
        ("C:\\Users\\me\\x and C:/Users/me", "… and …"),
        ("The store at /srv/own data/projects/x is damaged.", "The store at … is damaged."),
        ("/srv/cache: full", "…: full"),
        # The repositories are the client's.
        ("/code/shop is moved.", "/code/shop is moved."),
        ("/code/shop/src/a.py: line 5", "/code/shop/src/a.py: line 5"),
        ("/code/shopping/x", "…"),
        ("/code", "…"),
        # What is no path of a machine.
        ("Call POST /api/index, or /mcp.", "Call POST /api/index, or /mcp."),
        ("See http://127.0.0.1:8420/api/x and https://example.org/a/b.", None),
        ("and/or, 1/2, src/a.py, a / b, 5/", None),
        ("", None),
    ],
)
def test_sentences(text: str, expected: str | None) -> None:
    shown = HIDING.text(text)
    shown = shown.replace("…/projects/x", "…")
    assert shown == (text if expected is None else expected)


def test_a_client_reads_its_own_words() -> None:
    reply = failure("/etc/passwd is in no repository; /etc/shadow is another.", "path_outside")
    shown = HIDING.reply(reply, {"path": ["/etc/passwd"]}).parts[0].text
    assert shown == "/etc/passwd is in no repository; … is another."


def test_code_is_left_as_it_is_beside_a_sentence() -> None:
    code = 'open("/etc/passwd")'
    structured = {"notes": ["The log /var/log/x is full."], "results": [{"content": code}]}
    text = f"The log /var/log/x is full.\n{code}"
    reply = CallReply(
        parts=(TextPart(text),), structured=structured, meta={"asterism": {"note": "/a/b"}}
    )
    shown = HIDING.reply(reply)
    assert shown.structured == {"notes": ["The log … is full."], "results": [{"content": code}]}
    assert shown.parts[0].text == f"The log … is full.\n{code}"
    assert shown.meta == {"asterism": {"note": "…"}}


def test_a_pipe_hides_nothing() -> None:
    reply = failure("/etc/passwd: denied.", "storage_failed")
    assert Hiding(()).reply(reply) is reply


SECRET = "swordfish"
ROUTES = [
    (route.method, route.path.replace("{repository_id}", "harbor"))
    for route, _ in routed(OPERATIONS)
]


def fails(_root: str) -> Settings:
    raise SettingError(f"/home/{SECRET}/.config/asterism/config.toml: log.level is not allowed.")


@pytest.fixture(params=["settings", "registry", "index"])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TestClient]:
    """A server of which something is broken, whose files are in places that say much."""
    base = tmp_path / SECRET
    base.mkdir()
    harbor = copy_of_harbor(tmp_path)
    engine = make_engine(base)
    registered = engine.register(harbor)
    if request.param == "settings":
        engine = Engine(DataDirectories(base / "data", base / "cache"), fails)
    elif request.param == "registry":
        for file in (base / "data").glob("*.sqlite*"):
            file.write_bytes(b"this is no database" * 1_000)
    else:
        registered.project.directory.mkdir(parents=True, exist_ok=True)
        with sqlite3.connect(registered.project.directory / "catalogue.sqlite") as connection:
            connection.execute("CREATE TABLE something (x)")
    toolbox = Toolbox(engine, Standpoint(harbor), hidden_places([base / "data"]))
    with client_of(toolbox) as made:
        yield made
    toolbox.close()


def test_no_route_of_a_broken_server_names_its_places(client: TestClient) -> None:
    for method, path in ROUTES:
        body = {
            **({"query": "x"} if "search" in path or "context" in path else {}),
            **({"name": "Sign"} if path in ("/api/symbols", "/api/relations") else {}),
            **({"question": "x"} if path == "/api/ask" else {}),
        }
        for asked in (body, {**body, "repository_id": "harbor"}, {**body, "path": "README.md"}):
            answer = client.request(
                method,
                path,
                json=asked if method == "POST" else None,
                params=asked if method == "GET" else None,
            )
            assert SECRET not in answer.text, (method, path, answer.text)
            assert "Traceback" not in answer.text


def test_mcp_over_http_names_no_place_of_a_broken_server(client: TestClient) -> None:
    envelope = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    for tool in ("search_code", "codebase_search", "index_status", "list_repositories"):
        arguments = {"query": "x"} if "search" in tool else {}
        answer = client.post(
            "/mcp",
            json={
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": tool, "arguments": arguments, "_meta": envelope},
            },
            headers={
                "accept": "application/json, text/event-stream",
                "mcp-protocol-version": "2026-07-28",
                "mcp-method": "tools/call",
                "mcp-name": tool,
            },
        )
        assert answer.status_code == 200, answer.text
        assert SECRET not in answer.text, answer.text
