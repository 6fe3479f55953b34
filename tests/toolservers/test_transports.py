"""Are tool servers at an address asked like those that are started, headers and floods included?"""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import uvicorn
from mcp.server.mcpserver import Context, MCPServer

from asterism.toolservers.options import ServerLimits, ServerSurroundings
from asterism.toolservers.servers import ToolServers
from asterism.types.context import FromEnvironment, Server
from asterism.types.errors import (
    ToolServerError,
    ToolServerFlooding,
    ToolServerMissing,
    ToolServerRefused,
    ToolServerSlow,
)

LIMITS = ServerLimits(connect_seconds=60, call_seconds=60)
HASTY = ServerLimits(connect_seconds=1, call_seconds=1)
SMALL = ServerLimits(connect_seconds=60, said_bytes=100_000)
SECRET = {"HUB_TOKEN": "t0p-s3cret"}


@contextmanager
def served(server: MCPServer) -> Iterator[str]:
    """The address of a real MCP server on a free port."""
    config = uvicorn.Config(
        server.streamable_http_app(), "127.0.0.1", 0, log_level="error", ws="none"
    )
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run)
    thread.start()
    try:
        while not running.started:
            assert thread.is_alive()
        port = running.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        running.should_exit = True
        thread.join()


@contextmanager
def answering(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server that is no MCP server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp"
        finally:
            server.shutdown()
            thread.join()


def problem(url: str, limits: ServerLimits = LIMITS) -> ToolServerError:
    with closing(ToolServers(ServerSurroundings(SECRET.get), limits)) as servers:
        listing = servers.tools([Server(name="hub", url=url)])
    assert listing.tools == ()
    (found,) = listing.problems
    return found.error


def test_a_real_server_is_listed_and_called_with_its_headers() -> None:
    hub = MCPServer("hub")

    @hub.tool(description="What the caller's header says")
    def whoami(context: Context) -> str:
        request = context.request_context.request
        assert request is not None
        return str(request.headers["authorization"]).removeprefix("Bearer ")[::-1]

    headers = {"Authorization": FromEnvironment("HUB_TOKEN", "Bearer ")}
    with (
        served(hub) as url,
        closing(ToolServers(ServerSurroundings(SECRET.get), LIMITS)) as servers,
    ):
        server = Server(name="hub", url=url, headers=headers)
        (tool,) = servers.tools([server]).tools
        assert (tool.name, tool.description) == ("whoami", "What the caller's header says")
        assert servers.call(server, "whoami", {}).text == SECRET["HUB_TOKEN"][::-1]


def test_tools_that_are_added_are_listed_again() -> None:
    hub = MCPServer("hub")

    @hub.tool()
    def one() -> str:
        return "1"

    @hub.tool()
    async def grow(context: Context) -> str:
        hub.add_tool(one, name="two")
        await context.notify_tools_changed()
        return "grown"

    with (
        served(hub) as url,
        closing(ToolServers(ServerSurroundings(SECRET.get), LIMITS)) as servers,
    ):
        server = Server(name="hub", url=url)
        assert [tool.name for tool in servers.tools([server]).tools] == ["one", "grow"]
        servers.call(server, "grow", {})
        wanted = ["one", "grow", "two"]
        # The notice travels on a line of its own, a moment after the answer.
        for _look in range(200):
            if [tool.name for tool in servers.tools([server]).tools] == wanted:
                break
            threading.Event().wait(0.05)
        assert [tool.name for tool in servers.tools([server]).tools] == wanted


def test_nothing_at_the_address_is_reported() -> None:
    with answering(BaseHTTPRequestHandler) as url:
        pass
    assert type(problem(url)) is ToolServerMissing


class Refusing(BaseHTTPRequestHandler):
    """Answers everything with 401."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(401)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """The request is not read."""


class Hanging(Refusing):
    """Takes requests and never answers."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.rfile.read(1)


class Flooding(Refusing):
    """Answers with JSON that does not end."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"x" * 65536)
        except OSError:
            self.close_connection = True


@pytest.mark.parametrize(
    ("handler", "limits", "error"),
    [
        (Refusing, LIMITS, ToolServerRefused),
        (Hanging, HASTY, ToolServerSlow),
        (Flooding, SMALL, ToolServerFlooding),
    ],
)
def test_what_misbehaves_is_reported(
    handler: type[BaseHTTPRequestHandler], limits: ServerLimits, error: type[ToolServerError]
) -> None:
    with answering(handler) as url:
        assert type(problem(url, limits)) is error
