"""Hostile frames of MCP, over standard input to a real server process and over HTTP.

A case is `stdio` or `http`, a newline, and the frames, one on each line.
"""

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import IO, Any, cast

from asterism.operations.registry import TOOLS
from asterism.servers.mcp.handshake import STATELESS_VERSION, Front, NotOurs
from tests.fuzz.calls import LEFT_OUT, arguments
from tests.fuzz.mutations import damaged
from tests.fuzz.scene import OWN, leaks, toolbox_in
from tests.fuzz.target import Check, Target, one_by_one
from tests.servers.test_mcp_front import ENVELOPE, STATELESS, handshake, request

ANSWER_SECONDS = 300
"""How long a ping may wait for its answer on a busy machine."""
METHODS = (
    *("ping", "tools/list", "tools/call", "resources/list", "resources/read", "logging/setLevel"),
    *(
        "prompts/list",
        "completion/complete",
        "sampling/createMessage",
        "roots/list",
        "server/discover",
    ),
    *(
        "notifications/cancelled",
        "notifications/initialized",
        "notifications/progress",
        "initialize",
    ),
    *("", "tools/", "__init__", "\x00", "a" * 5_000),
)
IDS = (0, -1, 1.5, "a", "", None, True, 2**63, 10**30, "\x00", "\ud800", [1], {"a": 1}, "x" * 5_000)
RAW = (
    *(
        b"",
        b"{}",
        b"[]",
        b"null",
        b'"',
        b"\xff\xfe\x00",
        b"[" * 30_000,
        b'{"a":' * 30_000,
        b"NaN",
        b"1e999",
    ),
    *(
        b'{"jsonrpc":"2.0"}',
        b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
        b"Content-Length: 5\r\n\r\nhello",
    ),
    *(
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b"\x00" * 50,
    ),
    *(
        b'{"jsonrpc":"2.0","id":1,"error":3}',
        b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
        b" ",
    ),
    *(
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b"9" * 5_000 + b"}",
        b'\xc3\x28{"id":1}',
    ),
)
URIS = (
    "asterism://x",
    "file:///etc/passwd",
    "asterism://status/../..",
    "",
    "x" * 5_000,
    "asterism://é\x00",
)
# Indexing is not asked for: it would be asked for any directory of this machine.
CALLED = [name for name in TOOLS if name not in LEFT_OUT and name != "index_codebase"]


def _frame(random: Random, stateless: bool) -> bytes:
    chance = random.random()
    if chance < 0.15:
        return random.choice(RAW)
    if chance < 0.3:
        one = dict(random.choice([*handshake("2025-11-25"), *STATELESS]))
    elif chance < 0.7:
        name = random.choice(CALLED)
        tool = TOOLS[name]
        given = arguments(dict(tool.parameters), tool.required, random)
        one = request(random.randrange(100), "tools/call", {"name": name, "arguments": given})
    else:
        params: Any = random.choice(
            (
                None,
                {},
                {"uri": random.choice(URIS)},
                {"name": random.choice(CALLED), "arguments": random.choice(([], "x", None, 3))},
                {"requestId": random.randrange(100), "reason": "x"},
                {"level": random.choice(("debug", "loud", None))},
                {"_meta": random.choice((None, {}, {"progressToken": [1]}, "x"))},
                [1, 2],
                "x",
            )
        )
        one = {"jsonrpc": "2.0", "id": random.choice(IDS), "method": random.choice(METHODS)}
        one = {**one, **({} if params is None else {"params": params})}
        if random.random() < 0.2:
            one.pop(random.choice([*one]))
    if stateless and random.random() < 0.9:
        # Every request of this revision says by itself who asks.
        asked = one.get("params")
        one["params"] = {**(asked if isinstance(asked, dict) else {}), "_meta": ENVELOPE}
    data = json.dumps(one).encode("utf-8", "replace")
    return damaged(data, random) if random.random() < 0.3 else data


def _case(random: Random) -> bytes:
    over_http = random.random() < 0.3
    frames = (_frame(random, over_http) for _ in range(random.randrange(1, 6)))
    return b"\n".join([b"http" if over_http else b"stdio", *frames])


class _Process:
    """A server for standard input, which is started again when it has ended."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self._count = 0
        self._log = (base / "log.txt").open("ab")
        self._start()

    def _start(self) -> None:
        own = self._base / OWN
        self._process = subprocess.Popen(
            [sys.executable, "-m", "asterism.cli", "mcp", str(self._base / "shop")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={
                **os.environ,
                "HOME": str(own / "home"),
                "ASTERISM_DATA_DIR": str(own / "data"),
                "ASTERISM_CACHE_DIR": str(own / "cache"),
                "ASTERISM_INDEX_SYNC_SECONDS": "600",
                "ASTERISM_WORK_JOBS": "1",
                "ASTERISM_WATCH_SERVERS": "false",
            },
        )
        self._rest = b""
        self.ask([json.dumps(one).encode() for one in handshake("2025-11-25")[:2]])

    def ask(self, frames: list[bytes]) -> list[str]:
        """Send frames, and what is wrong with what comes back until a ping is answered."""
        self._count += 1
        name = f"ping-{self._count}"
        data = b"".join(
            frame + b"\n" for frame in [*frames, json.dumps(request(name, "ping")).encode()]
        )
        wrong: list[str] = []
        try:
            self._send(data, name, wrong)
        except OSError as error:
            wrong.append(f"the server ended: {error}")
        if wrong and self._process.poll() is not None:
            self._start()
        return wrong

    def _send(self, data: bytes, name: str, wrong: list[str]) -> None:
        streams = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        to, of = (stream.fileno() for stream in streams)
        os.set_blocking(to, False)
        while True:
            # Both ways at once: a server that answers while it is told may fill its pipe.
            reading, writing, _ = select.select([of], [to] if data else [], [], ANSWER_SECONDS)
            if not reading and not writing:
                self._process.kill()
                raise OSError(f"a ping was not answered in {ANSWER_SECONDS} s")
            if writing:
                data = data[os.write(to, data[:65_536]) :]
            if reading and self._is_answered(os.read(of, 65_536), name, wrong):
                return

    def _is_answered(self, got: bytes, name: str, wrong: list[str]) -> bool:
        if not got:
            self._process.wait()
            raise OSError(f"exit code {self._process.returncode}")
        *lines, self._rest = (self._rest + got).split(b"\n")
        for line in lines:
            wrong.extend(about_line(line))
            if f'"{name}"'.encode() in line:
                return True
        return False

    def close(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.communicate()
        self._log.close()

    def printed(self) -> list[str]:
        """Tracebacks in what the server wrote for people."""
        text = (self._base / "log.txt").read_text(encoding="utf-8", errors="replace")
        (self._base / "log.txt").write_text("")
        return leaks(text) if "Traceback" in text else []


def about_line(line: bytes) -> list[str]:
    """What is wrong with a line that a server wrote for a client on a pipe."""
    try:
        text = line.decode("utf-8")
        message = json.loads(text)
    except ValueError:
        return [f"a line is not JSON: {line[:80]!r}"]
    wrong = leaks(text)
    if _is_failure(message):
        # The client on a pipe is a program of the user, who has to find what is full or damaged.
        wrong = [one for one in wrong if not one.startswith(f"the reply holds {OWN}")]
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        wrong.append("a line is no message of JSON-RPC")
    if "[internal_error]" in text or '"code":-32603' in text.replace(" ", ""):
        wrong.append(f"an internal error: {text[:300]}")
    return wrong


def _is_failure(message: object) -> bool:
    """Whether a message is a tool's reply that it failed."""
    result = message.get("result") if isinstance(message, dict) else None
    return isinstance(result, dict) and result.get("isError") is True


@contextmanager
def _opened(place: Path) -> Iterator[Check]:
    from tests.servers.http_clients import client_of

    with toolbox_in(place) as toolbox, client_of(toolbox, read_only=True) as client:
        process = _Process(place)

        def check(case: bytes) -> list[str]:
            way, _, rest = case.partition(b"\n")
            frames = rest.split(b"\n")
            if way == b"http":
                return [text for frame in frames for text in _over_http(client, frame)]
            return [*_front(frames), *process.ask(frames), *process.printed()]

        try:
            yield check
        finally:
            process.close()


def _front(frames: list[bytes]) -> list[str]:
    """The opening of a session, answered without the SDK."""
    front = Front()
    wrong: list[str] = []
    for frame in frames:
        try:
            reply = front.answer(frame.decode("utf-8", "replace"))
        except NotOurs:
            break
        wrong.extend(
            about_line(reply.encode("utf-8", "backslashreplace")) if reply is not None else []
        )
    return wrong


def _over_http(client: Any, frame: bytes) -> list[str]:
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": STATELESS_VERSION,
        **_named(frame),
    }
    answer = client.post("/mcp", content=frame, headers=headers)
    wrong = leaks(answer.text)
    if answer.status_code >= 500 and answer.status_code != 503:
        wrong.append(f"/mcp gives {answer.status_code}: {answer.text[:300]}")
    return wrong


def _named(frame: bytes) -> dict[str, str]:
    """The headers that repeat what a frame asks for, as this revision wants them."""
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        message = json.loads(frame)
        found = {"mcp-method": message["method"]}
        name = (message.get("params") or {}).get("name", (message.get("params") or {}).get("uri"))
        named = {**found, **({} if name is None else {"mcp-name": name})}
        return {
            key: value for key, value in named.items() if value.isascii() and value.isprintable()
        }
    return {}


TARGET = Target(
    name="frames",
    about="hostile frames of MCP, over standard input and over HTTP",
    cases=one_by_one(_case),
    opened=_opened,
    batch=100,
    tries=200,
    deadline=120,
)
