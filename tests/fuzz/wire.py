"""Hostile bytes on the socket of a real HTTP server.

A case is what a client sends before it closes its side of the connection.
"""

import contextlib
import http.client
import os
import re
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from tests.fuzz.mutations import crossed, damaged
from tests.fuzz.scene import OWN, engine_in, leaks, write_files
from tests.fuzz.target import Check, Target, one_by_one

TOKEN = "fuzz-token-0123456789abcdef0123456789"
WAIT_SECONDS = 300
"""How long anything may take on a busy machine."""
PORT_MARK = b"127.0.0.1:1"
"""Placeholder in a case for the address of the server, which no seed knows."""
HEAD = b"Host: " + PORT_MARK + b"\r\nAuthorization: Bearer " + TOKEN.encode() + b"\r\n"


def _post(path: bytes, body: bytes) -> bytes:
    return (
        b"POST " + path + b" HTTP/1.1\r\n" + HEAD
        + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    )  # fmt: skip


REQUESTS = (
    b"GET /healthz HTTP/1.1\r\n" + HEAD + b"\r\n",
    b"GET /api/status HTTP/1.1\r\n" + HEAD + b"\r\n",
    b"GET /api/file?file_path=cart.py&start_line=1&end_line=5 HTTP/1.1\r\n" + HEAD + b"\r\n",
    _post(b"/api/search", b'{"query": "Cart"}'),
    _post(b"/api/symbols", b'{"name": "Money"}'),
    _post(b"/mcp", b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'),
    b"POST /api/search HTTP/1.1\r\n"
    + HEAD
    + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    b'11\r\n{"query": "Cart"}\r\n0\r\n\r\n',
)
PIECES = (
    *(
        b"\r\n",
        b"\n",
        b"\r",
        b"\r\n\r\n",
        b"\x00",
        b" ",
        b":",
        b"HTTP/1.1",
        b"HTTP/9.9",
        b"GET",
        b"\xff",
    ),
    *(
        b"Content-Length: 5\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: 99999999999999999999\r\n",
    ),
    *(
        b"Transfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: gzip, chunked\r\n",
        b"Expect: 100-continue\r\n",
    ),
    *(
        b"Host: evil.example\r\n",
        b"Host:\r\n",
        b"X: " + b"a" * 20_000 + b"\r\n",
        b"ffffffffffffffff\r\n",
    ),
    *(
        b"Upgrade: h2c\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"/../../etc/passwd",
    ),
    *(
        b"Origin: http://evil.example\r\n",
        b"X: y\r\n" * 300,
        b"%00",
        b"?" + b"a=b&" * 2_000,
        b"http://a/",
    ),
)


def _case(random: Random) -> bytes:
    data = b"".join(random.choice(REQUESTS) for _ in range(random.choice((1, 1, 1, 2, 3))))
    if random.random() < 0.15:
        data = crossed(data, random.choice(REQUESTS), random)
    for _ in range(random.randrange(4)):
        at = random.randrange(len(data) + 1)
        data = data[:at] + random.choice(PIECES) + data[at:]
    return damaged(data, random) if random.random() < 0.4 else data


@contextmanager
def _opened(place: Path) -> Iterator[Check]:
    root = write_files(place)
    engine = engine_in(place)
    engine.index(engine.register(root))
    engine.close()
    own = place / OWN
    log = (place / "log.txt").open("ab")
    process = subprocess.Popen(
        [sys.executable, "-m", "asterism.cli", "serve", str(root), "--port", "0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=log,
        env={
            **os.environ,
            "HOME": str(own / "home"),
            "ASTERISM_DATA_DIR": str(own / "data"),
            "ASTERISM_CACHE_DIR": str(own / "cache"),
            "ASTERISM_SERVER_TOKEN": TOKEN,
            "ASTERISM_WORK_JOBS": "1",
            "ASTERISM_WATCH_SERVERS": "false",
        },
    )
    try:
        address = _address(process)

        def check(case: bytes) -> list[str]:
            answer = _sent(address, case.replace(PORT_MARK, b"127.0.0.1:%d" % address[1]))
            wrong = [*_about(answer), *_health(address)]
            if process.poll() is not None:
                wrong.append(f"the server ended with code {process.returncode}")
            if "Traceback" in (text := (place / "log.txt").read_text(errors="replace")):
                os.truncate(place / "log.txt", 0)
                wrong.append(f"the server printed a traceback\n{text[-3_000:]}")
            return wrong

        yield check
    finally:
        process.kill()
        process.communicate()
        log.close()


_SERVING = re.compile(r"http://[\w.:\[\]]+")


def _address(process: "subprocess.Popen[bytes]") -> tuple[str, int]:
    assert process.stdout is not None
    ended = time.monotonic() + WAIT_SECONDS
    text = ""
    while time.monotonic() < ended:
        if select.select([process.stdout], [], [], 1)[0]:
            text += os.read(process.stdout.fileno(), 4_096).decode()
        found = _SERVING.search(text)
        if found is not None and "\n" in text[found.start() :]:
            parts = urlsplit(found[0].rstrip(":"))
            assert parts.hostname is not None
            assert parts.port is not None
            return parts.hostname, parts.port
    raise TimeoutError(f"the server said only {text!r}")


def _sent(address: tuple[str, int], data: bytes) -> bytes:
    """Everything that comes back until the server closes; it may close before it has heard all."""
    answer = b""
    with socket.create_connection(address, WAIT_SECONDS) as line:
        with contextlib.suppress(ConnectionError):
            line.sendall(data)
        with contextlib.suppress(OSError):
            line.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionError):
            while got := line.recv(65_536):
                answer += got
    return answer


_STATUS = re.compile(rb"^HTTP/1\.1 (\d{3}) ", re.MULTILINE)


def _about(answer: bytes) -> list[str]:
    wrong = leaks(answer.decode("utf-8", "replace"))
    if answer and not answer.startswith(b"HTTP/1.1 "):
        wrong.append(f"the answer is no HTTP: {answer[:80]!r}")
    statuses = {int(found) for found in _STATUS.findall(answer)}
    wrong.extend(
        f"the answer is {status}" for status in statuses if status >= 500 and status != 503
    )
    return wrong


def _health(address: tuple[str, int]) -> list[str]:
    line = http.client.HTTPConnection(*address, timeout=WAIT_SECONDS)
    try:
        line.request("GET", "/healthz", headers={"Authorization": f"Bearer {TOKEN}"})
        status = line.getresponse().status
    finally:
        line.close()
    return [] if status == 200 else [f"/healthz is {status} afterwards"]


TARGET = Target(
    name="wire",
    about="hostile bytes on the socket of a real HTTP server",
    cases=one_by_one(_case),
    opened=_opened,
    batch=100,
    tries=200,
    deadline=120,
)
