"""How long one client of a server waits while another sends heavy queries of the same project.

    python -m benchmarks.polite [--files 200] [--at-once 9] [--rounds 2] [--no-shares]

The heavy client sends patterns that run until their limit of five seconds, all at once, and again
when all are answered. Beside it the polite client, which has an identity of its own (the server's
token), sends one ordinary query after the other. Printed are its times, and how both were answered.
"""

import argparse
import http.client
import json
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

from benchmarks.hostile import START_SECONDS, address_of, environment, made_repository

HEAVY = {"query": "regex:(a+)+$", "mode": "exact"}
ORDINARY = {"query": "value"}
PAUSE_SECONDS = 0.2
SECONDS_BEFORE = 1.0
"""The heavy queries are on their way when the polite client begins."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Start a server and print how its polite client fares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=9)
    parser.add_argument("--rounds", type=int, default=2)
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
                address = address_of(server)
                token = (Path(base) / "data" / "server" / "token").read_text().strip()
                _measure(address, token, options.at_once, options.rounds)
            finally:
                server.terminate()


def _measure(address: str, token: str, at_once: int, rounds: int) -> None:
    bearer = {"authorization": f"Bearer {token}"}
    # The first query loads the models.
    _ask(address, ORDINARY, bearer)
    calm = [_ask(address, ORDINARY, bearer) for _ in range(20)]
    heavy: list[tuple[float, str]] = []
    over = Event()

    def attack() -> None:
        with ThreadPoolExecutor(at_once) as threads:
            for _ in range(rounds):
                heavy.extend(threads.map(lambda _: _ask(address, HEAVY, {}), range(at_once)))
        over.set()

    attacker = Thread(target=attack)
    attacker.start()
    time.sleep(SECONDS_BEFORE)
    beside = []
    while not over.is_set():
        beside.append(_ask(address, ORDINARY, bearer))
        time.sleep(PAUSE_SECONDS)
    attacker.join()
    print("| client | requests | p50 s | max s | answers |")
    print("| --- | ---: | ---: | ---: | --- |")
    rows = {"polite, alone": calm, f"polite, beside {at_once} heavy queries": beside}
    for name, answers in {**rows, "heavy": heavy}.items():
        times = [seconds for seconds, _ in answers]
        counts = Counter(answer for _, answer in answers)
        told = ", ".join(f"{answer}: {count:,}" for answer, count in sorted(counts.items()))
        shown = f"{statistics.median(times):.2f} | {max(times):.2f}"
        print(f"| {name} | {len(times):,} | {shown} | {told} |")


def _ask(address: str, body: dict[str, Any], headers: dict[str, str]) -> tuple[float, str]:
    """The seconds until the answer, and its status or code."""
    began = time.perf_counter()
    connection = http.client.HTTPConnection(address, timeout=START_SECONDS)
    sent = {"content-type": "application/json", **headers}
    connection.request("POST", "/api/search", json.dumps(body), sent)
    answer = connection.getresponse()
    found = json.loads(answer.read())
    connection.close()
    return time.perf_counter() - began, found.get("error", {}).get("code", str(answer.status))


if __name__ == "__main__":
    main()
