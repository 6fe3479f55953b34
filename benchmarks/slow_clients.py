"""How long `/healthz` and a search take while many clients send their requests slowly.

python -m benchmarks.slow_clients examples/harbor --clients 600
"""

import argparse
import contextlib
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

import httpx

from asterism.servers.http.process import make_room
from benchmarks.serving import serving

_HEAD = "POST /api/search HTTP/1.1\r\nHost: {place}\r\nContent-Type: application/json\r\n"
KINDS = {
    "bodies": _HEAD + 'Content-Length: 500\r\n\r\n{{"query":"',
    "headers": _HEAD + "X-Slow: ",
}
PAUSE_SECONDS = 0.02
"""Between two questions, as a monitor or a few users would ask."""


def measured(ask: Callable[[], int], count: int) -> str:
    """The milliseconds of some requests one after the other, and what they were answered."""
    times, statuses = [], Counter[int]()
    for _ in range(count):
        began = time.perf_counter()
        statuses[ask()] += 1
        times.append((time.perf_counter() - began) * 1000)
        time.sleep(PAUSE_SECONDS)
    times.sort()
    p50, p99 = times[count // 2], times[count * 99 // 100]
    return f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, max {times[-1]:.1f} ms, statuses {dict(statuses)}"


def health(place: str) -> int:
    """The status of `/healthz`, over a connection of its own, as a monitor makes it."""
    with contextlib.closing(HTTPConnection(place, timeout=60)) as monitor:
        monitor.request("GET", "/healthz")
        return monitor.getresponse().status


def search(client: httpx.Client) -> int:
    """The status of a search over a connection that is kept."""
    return client.post("/api/search", json={"query": "verify a signature", "limit": 3}).status_code


def main() -> None:
    """Print the figures with no slow client, then with many of each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--clients", type=int, default=600)
    parser.add_argument("--count", type=int, default=500)
    given = parser.parse_args()
    make_room(given.clients + 256)
    with tempfile.TemporaryDirectory() as folder:
        for kind in (None, *KINDS):
            with serving(given.repository, Path(folder)) as server, contextlib.ExitStack() as held:
                place = server.address.removeprefix("http://")
                host, _, port = place.partition(":")
                client = held.enter_context(httpx.Client(base_url=server.address, timeout=60))
                client.post("/api/search", json={"query": "webhook"})
                for _ in range(given.clients if kind else 0):
                    slow = held.enter_context(socket.create_connection((host, int(port))))
                    slow.sendall(KINDS[kind or ""].format(place=place).encode())

                print(f"{given.clients if kind else 0} slow {kind or 'clients'}")
                print(f"  /healthz     {measured(partial(health, place), given.count)}")
                searches = measured(partial(search, client), max(20, given.count // 10))
                print(f"  /api/search  {searches}")


if __name__ == "__main__":
    main()
