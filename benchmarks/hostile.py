"""How soon `/healthz` answers while clients send the worst queries that the limits allow.

    python -m benchmarks.hostile [--files 2000] [--clients 8] [--seconds 30] [--no-shares]

A server is started over a made repository whose file names have 60 letters a. Clients, each in a
process of its own, send globs, patterns, long filters and long questions as fast as they are
answered; beside them one process asks `/healthz` fifty times a second. Printed are its times and
how the attacks were answered. `--no-shares` lets clients use all of the processor, so that every
attack runs.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import random
import select
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing.synchronize import Event
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

PAUSE_SECONDS = 0.02
START_SECONDS = 600
LONG = "a" * 60


class Attack(NamedTuple):
    """A request and what it is called."""

    name: str
    body: dict[str, Any]


def attacks() -> list[Attack]:
    """The worst that a client may ask, and what it may not."""
    words = random.Random(7)
    many = " ".join(f"w{words.getrandbits(28):x}" for _ in range(1_000))
    globs = [f"{'*a' * 9}{number}z" for number in range(50)]
    search = {"query": "value", "mode": "hybrid"}
    return [
        Attack("glob, refused", {**search, "filters": {"path_glob": "**/" * 200}}),
        Attack("glob of the report", {**search, "filters": {"path_glob": "*a*a*a*a*a*a*az"}}),
        Attack("glob", {**search, "filters": {"path_glob": "*a" * 49 + "z"}}),
        Attack("globs", {**search, "filters": {"path_glob": globs}}),
        Attack("folders", {**search, "filters": {"path_glob": "**/a*/" * 16 + "z"}}),
        Attack("pattern", {"query": "regex:(a+)+$", "mode": "exact"}),
        Attack("compiling", {"query": "regex:(?i)" + r"[\x00-\U0010ffff]" * 500, "mode": "exact"}),
        Attack("many words", {"query": many}),
        Attack("sentences", {"query": "Where is a value made? " * 400}),
        Attack("one word", {"query": "a" * 10_000}),
        Attack("quotes", {"query": '"a" ' * 2_500, "mode": "exact"}),
        Attack("code", {"query": "x", "mode": "similar", "code_snippet": "f(a, b);\n" * 10_000}),
        Attack("names", {**search, "filters": {"path_contains": [LONG] * 1_000}}),
        Attack("everything", {"query": "value", "mode": "exact", "exhaustive": True, "limit": 100}),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Attack a server and print how its health check fares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--no-shares", action="store_true")
    options = parser.parse_args(arguments)
    with TemporaryDirectory() as base:
        variables = environment(Path(base), options.no_shares)
        repository = made_repository(Path(base) / "repository", options.files)
        asterism = [sys.executable, "-m", "asterism.cli"]
        subprocess.run(
            [*asterism, "index", str(repository)],
            env=variables,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        with subprocess.Popen(
            [*asterism, "serve", str(repository), "--port", "0"],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        ) as server:
            try:
                _measure(address_of(server), options.clients, options.seconds)
            finally:
                server.terminate()


def _measure(address: str, clients: int, seconds: float) -> None:
    # The first query loads the models; the attack begins when the server is warm.
    _post(address, {"query": "value"})
    calm = _health(address, 5.0)
    context = multiprocessing.get_context("spawn")
    stop, heard = context.Event(), context.SimpleQueue()
    processes = [
        context.Process(target=_attack, args=(address, number, stop, heard))
        for number in range(clients)
    ]
    for process in processes:
        process.start()
    beside = _health(address, seconds)
    stop.set()
    answers: Counter[tuple[str, int]] = Counter()
    for _ in processes:
        answers.update(heard.get())
    for process in processes:
        process.join()
    print("| /healthz | requests | p50 ms | p99 ms | max ms |")
    print("| --- | --- | --- | --- | --- |")
    for name, times in (("calm", calm), (f"beside {clients} attackers", beside)):
        print(f"| {name} | {len(times):,} | {_row(times)} |")
    print("\n| attack | answers by status |\n| --- | --- |")
    for attack in attacks():
        found = {status: count for (name, status), count in answers.items() if name == attack.name}
        print(f"| {attack.name} | {', '.join(f'{s}: {n:,}' for s, n in sorted(found.items()))} |")


def _row(times: Sequence[float]) -> str:
    last = statistics.quantiles(times, n=100, method="inclusive")[98]
    shown = (statistics.median(times), last, max(times))
    return " | ".join(f"{1_000 * value:.1f}" for value in shown)


def _health(address: str, seconds: float) -> list[float]:
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.perf_counter()
        connection = http.client.HTTPConnection(address, timeout=START_SECONDS)
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b"ok\n"
        times.append(time.perf_counter() - began)
        connection.close()
        time.sleep(PAUSE_SECONDS)
    return times


def _attack(address: str, number: int, stop: Event, heard: Any) -> None:
    answers: Counter[tuple[str, int]] = Counter()
    for attack in _endless(number):
        if stop.is_set():
            break
        answers[attack.name, _post(address, attack.body)] += 1
    heard.put(answers)


def _endless(number: int) -> Iterator[Attack]:
    chosen = random.Random(number)
    while True:
        yield chosen.choice(attacks())


def _post(address: str, body: dict[str, Any]) -> int:
    connection = http.client.HTTPConnection(address, timeout=START_SECONDS)
    connection.request(
        "POST", "/api/search", json.dumps(body), {"content-type": "application/json"}
    )
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def address_of(server: "subprocess.Popen[str]") -> str:
    """Where a server that was just started listens."""
    assert server.stdout is not None
    assert select.select([server.stdout], [], [], START_SECONDS)[0], "the server did not start"
    return server.stdout.readline().split()[2].rstrip(":").removeprefix("http://")


def environment(base: Path, no_shares: bool) -> dict[str, str]:
    """Variables for commands whose data is kept in a folder of the benchmark."""
    own = {"ASTERISM_DATA_DIR": str(base / "data"), "ASTERISM_CACHE_DIR": str(base / "cache")}
    more = {"ASTERISM_SERVER_CPU_SECONDS": "0"} if no_shares else {}
    return {**os.environ, **own, **more, "HOME": str(base)}


def made_repository(root: Path, files: int) -> Path:
    """A repository whose file names and lines have 60 letters a."""
    for number in range(files):
        folder = root / f"part{number % 40}"
        folder.mkdir(parents=True, exist_ok=True)
        text = f"def value_{number}(a):\n    text = '{LONG}!'\n    return text + str(a)\n"
        (folder / f"{LONG}{number}.py").write_text(text * 3)
    return root


if __name__ == "__main__":
    main()
