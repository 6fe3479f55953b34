"""Many clients at once: python -m benchmarks.load REPOSITORY [--clients 50] [--searches 100].

Half of the clients use the API, half speak MCP over HTTP with the SDK's own client; every reply has
to be right in form and to hold no error.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import anyio
import httpx
from mcp import Client

from benchmarks.serving import Served, percentile, questions, serving


class Tally:
    """What came back."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {"api": [], "mcp": []}
        self.errors: list[str] = []
        self.memory: list[float] = []

    def done(self) -> int:
        """How many replies came."""
        return sum(map(len, self.times.values()))


async def by_api(served: Served, asked: list[str], tally: Tally) -> None:
    """One client of the API."""
    async with httpx.AsyncClient(base_url=served.address, timeout=600) as client:
        for question in asked:
            began = time.perf_counter()
            reply = await client.post("/api/search", json={"query": question})
            tally.times["api"].append(time.perf_counter() - began)
            if reply.status_code != 200 or "results" not in reply.json():
                tally.errors.append(f"{reply.status_code}: {reply.text[:200]}")


async def by_mcp(served: Served, asked: list[str], tally: Tally) -> None:
    """One client that speaks MCP."""
    async with Client(f"{served.address}/mcp") as client:
        for question in asked:
            began = time.perf_counter()
            reply = await client.call_tool("search_code", {"query": question})
            tally.times["mcp"].append(time.perf_counter() - began)
            if reply.is_error or not reply.structured_content:
                tally.errors.append(json.dumps(str(reply.content))[:200])


async def watch_memory(served: Served, tally: Tally, total: int) -> None:
    """Look at the server's memory at each tenth of the way."""
    for tenth in range(1, 11):
        while tally.done() < total * tenth // 10:
            await anyio.sleep(0.05)
        tally.memory.append(served.megabytes())


async def load(served: Served, repository: Path, clients: int, searches: int) -> Tally:
    """All clients at once."""
    tally = Tally()
    asked = questions(repository, clients * searches)
    async with anyio.create_task_group() as group:
        group.start_soon(watch_memory, served, tally, clients * searches)
        for number in range(clients):
            part = asked[number * searches : (number + 1) * searches]
            group.start_soon((by_api, by_mcp)[number % 2], served, part, tally)
    return tally


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Measure a server under load.")
    parser.add_argument("repository", type=Path)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--searches", type=int, default=100)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(options.repository, Path(folder)) as served,
    ):
        idle, began, cpu = served.megabytes(), time.perf_counter(), served.cpu_seconds()
        tally = anyio.run(load, served, options.repository, options.clients, options.searches)
        seconds, cpu = time.perf_counter() - began, served.cpu_seconds() - cpu
    print(f"{options.clients} clients × {options.searches} searches, {len(tally.errors)} errors")
    each = cpu / tally.done() * 1000
    print(f"{tally.done() / seconds:.0f} replies a second, {each:.1f} CPU-ms each")
    for name, times in tally.times.items():
        shown = ", ".join(
            f"p{share:.0%} {percentile(times, share):.0f}" for share in (0.5, 0.9, 0.99)
        )
        print(f"{name}: {shown} ms".replace("%", ""))
    print(f"memory: {idle:.0f} MB idle; {', '.join(f'{size:.0f}' for size in tally.memory)} MB")
    for error in tally.errors[:5]:
        print(error)


if __name__ == "__main__":
    main()
