"""Cost of encoder vectors: time, memory and disk to compute them, and latency of queries meanwhile.

    python -m benchmarks.encoder_vectors ROOT --model FOLDER [--questions 100] [--every 0.2]

One process indexes a repository, as a server does, asks it with the built-in model's vectors alone,
then beside the background thread that makes the others, then with those. Every question is another
one. Milliseconds are of wall time and of the CPU of the thread that asks, which other programs on
the machine disturb less.
"""

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from asterism.config.model_sections import EmbeddingSettings
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.engine.upgrade import Upgrader
from asterism.store.encoder_vectors import encoder_bytes
from asterism.store.lance.process import stay_small
from asterism.store.registry import Registered

WORDS = ("read", "write", "check", "parse", "open", "close", "make", "find", "remove", "sort")
THINGS = ("file", "error", "token", "value", "list", "request", "option", "type", "string", "date")


class Spent(NamedTuple):
    """What one question took, in milliseconds."""

    wall: float
    cpu: float


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--model", type=Path, required=True, help="the folder of an encoder")
    parser.add_argument("--questions", type=int, default=100, help="before and after")
    parser.add_argument("--every", type=float, default=0.2, help="seconds between two questions")
    options = parser.parse_args()
    stay_small()
    with TemporaryDirectory() as scratch:
        measure(DataDirectories(Path(scratch) / "data", Path(scratch) / "cache"), options)


def measure(places: DataDirectories, options: argparse.Namespace) -> None:
    """Index, ask, upgrade and ask, ask."""
    embedding = EmbeddingSettings()

    def settings(_root: str) -> Settings:
        return replace(Settings(), embedding=embedding)

    engine = Engine(places, settings)
    registered = engine.register(options.root)
    report = engine.index(registered)
    print(f"{report.files:,} files, {report.chunks_total:,} chunks, {report.seconds:.1f} s")
    questions = texts()
    ask(engine, registered, islice(questions, 10))
    some = islice(questions, options.questions)
    show("static alone", ask(engine, registered, some, options.every))
    memory = peak()
    embedding = EmbeddingSettings(upgrade=str(options.model.resolve()))
    behind = Upgrader(engine)
    began, cpu = time.monotonic(), time.process_time()
    behind.attend(registered)
    meanwhile: list[Spent] = []
    while not complete(engine, registered):
        meanwhile += ask(engine, registered, islice(questions, 5), options.every)
    seconds, spent = time.monotonic() - began, time.process_time() - cpu
    own = sum(one.cpu for one in meanwhile) / 1000
    show("while they are made", meanwhile)
    behind.close()
    ask(engine, registered, islice(questions, 3))
    some = islice(questions, options.questions)
    show("by encoder vectors", ask(engine, registered, some, options.every))
    print(f"made in {seconds:.0f} s with {spent - own:.0f} CPU-s")
    print(f"peak memory {memory:.0f} MB before, {peak():.0f} MB after")
    print(f"on disk {encoder_bytes(registered.project.directory) / 1e6:.1f} MB")


def texts() -> Iterator[str]:
    """Questions, each of them once."""
    for number in range(100):
        for thing in THINGS:
            for word in WORDS:
                yield f"how to {word} a {thing}" + f" of kind {number}" * bool(number)


def ask(
    engine: Engine, registered: Registered, questions: Iterator[str], pause: float = 0.0
) -> list[Spent]:
    """The time of each question."""
    found = []
    for text in questions:
        wall, cpu = time.perf_counter(), time.thread_time()
        engine.search(registered, SearchRequest(text=text))
        found.append(Spent(1000 * (time.perf_counter() - wall), 1000 * (time.thread_time() - cpu)))
        time.sleep(pause)
    return found


def complete(engine: Engine, registered: Registered) -> bool:
    """Whether encoder vectors answer."""
    state = engine.status(registered).upgrade
    return state is not None and state.complete


def show(name: str, spent: list[Spent]) -> None:
    """Medians and the slowest twentieth."""

    def cells(of: Callable[[Spent], float]) -> str:
        values = [of(one) for one in spent]
        return f"{np.percentile(values, 50):.1f} / {np.percentile(values, 95):.1f}"

    wall, cpu = cells(lambda one: one.wall), cells(lambda one: one.cpu)
    print(f"{name}: {len(spent)} questions, p50 / p95 ms: wall {wall}, CPU {cpu}")


def peak() -> float:
    """The largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
