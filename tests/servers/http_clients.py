"""Clients of the HTTP server, in this process and of one in a process of its own."""

import contextlib
import json
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from asterism.operations.dispatch.toolbox import Toolbox
from asterism.servers.http.app import make_app
from asterism.servers.http.state import ServerState
from tests.servers.test_mcp_stdio import environment

COMMAND = [sys.executable, "-m", "asterism.cli", "serve"]
WAIT_SECONDS = 120
"""How long a process may take before the test gives up; none takes a tenth of it."""
ADDRESS = "http://127.0.0.1:8420"


@contextlib.contextmanager
def client_of(toolbox: Toolbox, **state: Any) -> Iterator[TestClient]:
    """A client of an application over these tools; what goes wrong inside is an answer too."""
    app = make_app(ServerState(toolbox=toolbox, **state))
    with TestClient(app, ADDRESS, raise_server_exceptions=False) as client:
        yield client


def error_of(answer: Any) -> str:
    """The code of a failure, after a look at its form."""
    error: dict[str, str] = answer.json()["error"]
    assert set(error) == {"code", "message", "request_id"}
    assert error["request_id"] == answer.headers["x-request-id"]
    assert error["message"].endswith((".", "?"))
    assert "Traceback" not in error["message"]
    return error["code"]


def events_in(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The events of a stream, by name, with their data."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if line[:1] != ":")
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


class Served:
    """A server in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]", address: str) -> None:
        self.process = process
        self.address = address

    def end(self, number: int) -> int:
        """Send a signal, and wait for the end."""
        self.process.send_signal(number)
        return self.process.wait(WAIT_SECONDS)


@contextlib.contextmanager
def served(
    base: Path, repository: Path, *options: str, files: str = "", **variables: str
) -> Iterator[Served]:
    """`asterism serve` on a free port, as soon as it says where; it may have so many files open."""
    limited = [] if not files else ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh"]
    with subprocess.Popen(
        [*limited, *COMMAND, str(repository), "--port", "0", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**environment(base), **variables},
        encoding="utf-8",
    ) as process:
        try:
            assert process.stdout is not None
            assert select.select([process.stdout], [], [], WAIT_SECONDS)[0]
            greeting = process.stdout.readline()
            assert greeting.startswith("Serving on http://"), greeting
            yield Served(process, greeting.split()[2].rstrip(":"))
        finally:
            process.kill()


def descendants(pid: int) -> set[int]:
    """The processes that a process has started, and those that they have."""
    found: set[int] = set()
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    pending = [pid]
    while pending:
        below = children.get(pending.pop(), [])
        found.update(below)
        pending.extend(below)
    return found


def is_running(pid: int) -> bool:
    """Whether a process is there and not only a record of its end."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
