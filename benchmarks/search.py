"""Measures search: many questions in one process, and a command per question; by mode.

    python -m benchmarks.search [--questions 40] REPOSITORY…
    python -m benchmarks.search --semble PYTHON [--semble-model DIRECTORY] REPOSITORY…

The questions are made from each repository itself (names, sentences of documentation, texts in
quotation marks), a different one each time, so that no cache of questions helps; some are asked
before anything is measured. Each includes the look at every file whether the index is fresh, which
is given by itself as well. PYTHON is an interpreter that has semble 0.7.0; it is asked the same
questions in turn with us, and looks at no file. Without a model it answers by words alone. A cold
search is a command of its own, from the start of the interpreter to its end.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from asterism.config.load import load
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.engine.snapshot import SnapshotRequest, Unchanged, query_snapshot
from asterism.engine.stores import DataDirectories
from asterism.evaluation.self_supervised import SetOptions, make_queries
from asterism.store.registry import Registered
from asterism.types.search import Mode

WARM_UP = 8
COLD_ROUNDS = 3

_ABOUT_CODE = ("definition", "misspelt", "docstring", "mention", "usage")
_CATEGORIES: dict[Mode, tuple[str, ...]] = {
    Mode.hybrid: _ABOUT_CODE,
    Mode.semantic: _ABOUT_CODE,
    Mode.definition: ("definition",),
    Mode.exact: ("literal",),
}
_COMMAND = "import sys; from asterism.cli.main import main; sys.exit(main())"
_SEMBLE = """
import json, sys, time
from pathlib import Path
import numpy as np
from semble.index.index import _build
from semble.types import ContentType
class NoModel:
    dim = 1
    def encode(self, texts, **_):
        return np.zeros((len(texts), 1), dtype=np.float32)
name = sys.argv[1]
if name:
    from model2vec import StaticModel
    model = StaticModel.from_pretrained(name)
else:
    model = NoModel()
index = None
for line in sys.stdin:
    asked = json.loads(line)
    clock, cpu = time.perf_counter(), time.process_time()
    if "root" in asked:
        index = _build(Path(asked["root"]), model, name or "none", (ContentType.CODE,), False)
    else:
        index.search(asked["text"], top_k=10, alpha=None if name else 0.0)
    print(time.process_time() - cpu, time.perf_counter() - clock, flush=True)
"""


class Cost(NamedTuple):
    """Milliseconds."""

    cpu: float
    wall: float


class Figures(NamedTuple):
    """What was measured of one kind of search in one repository."""

    repository: str
    chunks: int
    kind: str
    ours: Sequence[Cost]
    theirs: Sequence[Cost] = ()


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--questions", type=int, default=40, help="measured for each mode")
    parser.add_argument("--semble", help="an interpreter that has semble 0.7.0")
    parser.add_argument("--semble-model", default="", help="a model2vec folder for it")
    options = parser.parse_args()
    print(
        "| repository | chunks | kind | CPU ms p50 | p90 | wall ms p50 | p90 "
        "| semble CPU ms p50 | p90 | ratio of CPU p50 |"
    )
    print("| --- | ---: | --- |" + " ---: |" * 7)
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        other = None
        if options.semble:
            other = stack.enter_context(Semble(options.semble, options.semble_model))
        for root in options.repositories:
            for row in _measure(root.resolve(), Path(scratch), other, options.questions):
                print(_shown(row), flush=True)


class Semble:
    """The other tool in a process of its own."""

    def __init__(self, python: str, model: str) -> None:
        self._process = subprocess.Popen(
            [python, "-c", _SEMBLE, model],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "HF_HUB_OFFLINE": "1"},
        )

    def __enter__(self) -> "Semble":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, **asked: str) -> Cost:
        """What indexing a `root`, or answering a `text` about the last one, takes."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        cpu, wall = map(float, self._process.stdout.readline().split())
        return Cost(1e3 * cpu, 1e3 * wall)


def _measure(root: Path, scratch: Path, other: Semble | None, count: int) -> list[Figures]:
    places = DataDirectories(scratch / "data", scratch / "cache")
    engine = Engine(places, _settings)
    registered = engine.register(root)
    chunks = engine.index(registered).chunks_total
    if other is not None:
        other.ask(root=str(root))
    questions = _questions(registered, count)
    rows = [
        Figures(
            root.name, chunks, f"warm {mode.value}", *_warm(engine, registered, mode, some, asks)
        )
        for mode, some in questions.items()
        # The other tool has one mode, which is like our first.
        for asks in [other if mode is Mode.hybrid else None]
        if len(some) > WARM_UP
    ]
    fresh = _freshness(registered, places)
    rows.append(Figures(root.name, chunks, "of which: is it fresh?", fresh))
    for mode, some in questions.items():
        if some:
            cold = [_cold(root, mode, text, places) for text in some[:COLD_ROUNDS]]
            rows.append(Figures(root.name, chunks, f"cold {mode.value}", cold))
    return rows


def _questions(registered: Registered, count: int) -> dict[Mode, list[str]]:
    """Different questions for each mode, those that only warm up included."""
    wanted = count + WARM_UP
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for query in make_queries(registered, SetOptions(per_category=wanted)):
        texts[query.category].append(query.query)
    return {
        mode: _in_turn([texts[category] for category in categories])[:wanted]
        for mode, categories in _CATEGORIES.items()
    }


def _in_turn(lists: Sequence[Sequence[str]]) -> list[str]:
    longest = max(map(len, lists), default=0)
    return [some[turn] for turn in range(longest) for some in lists if turn < len(some)]


def _warm(
    engine: Engine, registered: Registered, mode: Mode, texts: Sequence[str], other: Semble | None
) -> tuple[list[Cost], list[Cost]]:
    ours, theirs = [], []
    for text in texts:
        clock, cpu = time.perf_counter(), time.process_time()
        engine.search(registered, SearchRequest(text=text, mode=mode))
        ours.append(_since(clock, cpu))
        if other is not None:
            theirs.append(other.ask(text=text))
    return ours[WARM_UP:], theirs[WARM_UP:]


def _freshness(registered: Registered, places: DataDirectories) -> list[Cost]:
    costs: list[Cost] = []
    settings = _settings(registered.repository.root)
    opening = SnapshotRequest(registered, settings, places, Unchanged())
    for _ in range(WARM_UP + 20):
        clock, cpu = time.perf_counter(), time.process_time()
        with query_snapshot(opening):
            costs.append(_since(clock, cpu))
    return costs[WARM_UP:]


def _cold(root: Path, mode: Mode, text: str, places: DataDirectories) -> Cost:
    """A command in a process of its own, run where no file of the repository can be imported."""
    before, clock = _children_cpu(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND, "search", "--mode", mode.value, "--", text, str(root)],
        env={
            **os.environ,
            "ASTERISM_DATA_DIR": str(places.data),
            "ASTERISM_CACHE_DIR": str(places.cache),
        },
        cwd=places.data,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    # 1 says that nothing was found.
    assert done.returncode in (0, 1)
    return Cost(1e3 * (_children_cpu() - before), 1e3 * (time.perf_counter() - clock))


def _settings(root: str) -> Settings:
    return load(Path(root), {"work.jobs": 1}).settings


def _since(clock: float, cpu: float) -> Cost:
    return Cost(1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - clock))


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _shown(row: Figures) -> str:
    ours, theirs = row.ours, row.theirs
    cells = [
        row.repository,
        f"{row.chunks:,}",
        row.kind,
        *(_halves([cost.cpu for cost in ours])),
        *(_halves([cost.wall for cost in ours])),
        *(_halves([cost.cpu for cost in theirs])),
        "",
    ]
    if theirs:
        middle = statistics.median(cost.cpu for cost in theirs)
        cells[-1] = f"{statistics.median(cost.cpu for cost in ours) / middle:.1f}"
    return f"| {' | '.join(cells)} |"


def _halves(values: Sequence[float]) -> tuple[str, str]:
    """The median and what nine in ten stay under."""
    if not values:
        return "", ""
    ordered = sorted(values)
    ninety = ordered[min(len(ordered) - 1, round(0.9 * (len(ordered) - 1)))]
    return f"{statistics.median(ordered):.1f}", f"{ninety:.1f}"


if __name__ == "__main__":
    main()
