"""A server of the protocol that does, on request, everything a real one should not."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def send(message: dict[str, Any]) -> None:
    body = json.dumps(message).encode()
    raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)


def raw(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def receive() -> dict[str, Any] | None:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        length = int(line.partition(b":")[2])
    body = sys.stdin.buffer.read(length)
    return json.loads(body) if body else None


def misbehave(method: str, params: Any, number: int) -> Any:
    """What to answer, after doing what the method's name says."""
    match method:
        case "sleep":
            time.sleep(params["seconds"])
        case "hang":
            time.sleep(600)
        case "die":
            os._exit(params.get("status", 3))
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "garbage":
            raw(b"Segmentation fault, sort of\n" * 500)
        case "no_length":
            raw(b"Content-Type: text/plain\r\n\r\n")
        case "oversized":
            raw(b"Content-Length: 99999999999\r\n\r\n")
        case "truncated":
            raw(b'Content-Length: 500\r\n\r\n{"jsonrpc"')
            os._exit(0)
        case "not_json":
            raw(b"Content-Length: 3\r\n\r\n{{{")
        case "not_an_object":
            raw(b"Content-Length: 2\r\n\r\n[]")
        case "flood":
            sys.stderr.write("a complaint\n" * 200_000)
        case "eat":
            kept = bytearray(b"x" * params["bytes"])
            time.sleep(600)
            del kept
        case "child":
            return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid
        case "ask":
            send({"jsonrpc": "2.0", "id": 700, "method": params["for"], "params": params["with"]})
            return receive()
        case "refuse":
            send({"jsonrpc": "2.0", "id": number, "error": {"code": -1, "message": "I will not"}})
            return None
        case "fail_once":
            # The first process that is asked dies; a file remembers it for the next.
            mark = Path(params["mark"])
            if not mark.exists():
                mark.touch()
                os._exit(1)
        case "pid":
            return os.getpid()
        case "variable":
            return os.environ.get(params["name"])
    return params


def main() -> None:
    while (message := receive()) is not None:
        number = message.get("id")
        if number is None:
            if message["method"] == "$/cancelRequest":
                sys.stderr.write("cancelled\n")
            continue
        result = misbehave(message["method"], message.get("params"), number)
        if message["method"] != "refuse":
            send({"jsonrpc": "2.0", "id": number, "result": result})


if __name__ == "__main__":
    if "--refuse-to-start" in sys.argv:
        sys.exit("no licence")
    main()
