"""File names with hidden characters over HTTP and MCP: verbatim in data, visible in texts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from asterism.operations.calls import Standpoint
from asterism.operations.dispatch.toolbox import Toolbox
from asterism.types.files import display_path
from tests.servers.conftest import make_engine
from tests.servers.http_clients import client_of

NAME = "src/\u202egnp\u200b\n\x1b[2J.py"


@pytest.fixture
def hidden(tmp_path: Path) -> Iterator[Toolbox]:
    """All tools over a repository with one file."""
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    (root / NAME).write_text("def settle(order):\n    return order.total\n")
    engine = make_engine(tmp_path)
    engine.index(engine.register(root))
    toolbox = Toolbox(engine, Standpoint(root, is_root=True))
    yield toolbox
    toolbox.close()


@pytest.fixture
def client(hidden: Toolbox) -> Iterator[TestClient]:
    with client_of(hidden) as made:
        yield made


@pytest.mark.parametrize(
    ("tool", "arguments", "key"),
    [
        ("search_code", {"query": "settle"}, "file_path"),
        ("search_code", {"query": "settle", "mode": "exact"}, "file_path"),
        ("symbol_lookup", {"name": "settle"}, "file_path"),
    ],
)
def test_data_is_verbatim_and_text_shows(
    hidden: Toolbox, tool: str, arguments: dict[str, Any], key: str
) -> None:
    reply = hidden.call(tool, arguments)
    found = reply.structured or {}
    rows = found.get("results") or found["symbols"]
    assert {row[key] for row in rows} == {NAME}
    text = "\n".join(part.text for part in reply.parts)
    assert f"{display_path(NAME)}:1" in text


@pytest.mark.parametrize("path", [NAME, display_path(NAME)], ids=["verbatim", "as shown"])
def test_every_route_takes_a_path_as_it_was_given(client: TestClient, path: str) -> None:
    for route in ("file", "outline", "debug"):
        answer = client.get(f"/api/{route}", params={"file_path": path})
        assert answer.status_code == 200, answer.text
        assert answer.json()["file_path"] == NAME
    for route, asked in (
        ("similar", {"file_path": path}),
        ("relations", {"name": "settle", "relation": "callers", "path": path}),
    ):
        answer = client.post(f"/api/{route}", json=asked)
        assert answer.status_code == 200, answer.text
    filters = {"path": path}
    found = client.post("/api/search", json={"query": "settle", "filters": filters}).json()
    assert [row["file_path"] for row in found["results"]] == [NAME]
    found = client.post("/api/symbols", json={"name": "settle", "filters": filters}).json()
    assert {row["file_path"] for row in found["symbols"]} == {NAME}


@pytest.mark.parametrize("path", [NAME, display_path(NAME)], ids=["verbatim", "as shown"])
def test_a_tool_takes_a_path_as_it_was_given(hidden: Toolbox, path: str) -> None:
    found = hidden.call("codebase_search", {"query": "settle", "path": path})
    assert display_path(NAME) in found.parts[0].text + found.parts[-1].text
