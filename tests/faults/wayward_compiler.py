"""A program in a compiler's place that does what no compiler should, as the mode beside it says."""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

MODE = Path(sys.argv[0]).with_name("mode").read_text()


def send(message: dict[str, Any]) -> None:
    body = json.dumps(message).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.buffer.flush()


def receive() -> dict[str, Any] | None:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        length = int(line.partition(b":")[2])
    body = sys.stdin.buffer.read(length)
    return json.loads(body) if body else None


def misbehave() -> Any:
    """What to answer to a request, if anything ever comes of it."""
    if MODE == "hang":
        time.sleep(600)
    if MODE == "die":
        sys.exit("out of luck")
    if MODE == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if MODE == "garbage":
        sys.stdout.buffer.write(b"panic: runtime error\n\ngoroutine 1 [running]:\n" * 100)
        sys.stdout.buffer.flush()
    if MODE == "eat":
        # Twice what it may use, in one piece: its limit for data is four times that.
        kept = bytearray(b"x") * 400_000_000
        time.sleep(600)
        del kept
    return {"null": None, "list": [1, 2], "text": "yes", "empty": {}}.get(MODE)


def main() -> None:
    while (message := receive()) is not None:
        if "id" in message:
            send({"jsonrpc": "2.0", "id": message["id"], "result": misbehave()})


if __name__ == "__main__":
    main()
