"""What checksums cost: their share of the CPU time of an index, of first searches, of a sync.

The last line is the first search after the data directory was copied, which reads every file.

    python -m benchmarks.checksums PATH [--searches 10]

Each figure is a share of the same process's CPU time, so that a busy machine does not change it.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from asterism.config.settings import Settings
from asterism.engine import stores
from asterism.engine.engine import Engine
from asterism.engine.search import SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.indexing import index as writing
from asterism.store.catalogue import sums

# Every function that does nothing but for the sake of checksums, where its users find it.
_TIMED = (
    (writing, "written"),
    (writing, "look_deep"),
    (stores, "checked"),
    (stores, "check_by_chance"),
    (sums, "check"),
    (sums, "_settle"),
)
_QUERY = "where is the index opened"


def main() -> None:
    """Measure, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--searches", type=int, default=10)
    parser.add_argument("--step", choices=("index", "search", "sync", "copied"))
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(_step(options)))
        return
    many = options.searches
    with TemporaryDirectory() as home:
        for step, runs in (("index", 1), ("search", many), ("sync", many), ("copied", 1)):
            if step == "copied":
                shutil.copytree(Path(home) / "data", Path(home) / "again")
                (Path(home) / "data").rename(Path(home) / "before")
                (Path(home) / "again").rename(Path(home) / "data")
            found = [_run(options.path, Path(home), step) for _ in range(runs)]
            shares = sorted(run["checks"] / run["cpu"] for run in found)
            cpu = statistics.median(run["cpu"] for run in found)
            checks = statistics.median(run["checks"] for run in found)
            print(
                f"{step}: {checks * 1e3:.1f} ms of {cpu:.2f} CPU-s, {statistics.median(shares):.2%}"
                f" ({shares[0]:.2%} to {shares[-1]:.2%} of {runs}); {found[0]['chunks']:,} chunks"
            )


def _run(path: Path, home: Path, step: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.checksums", str(path), "--step", step]
    done = subprocess.run(
        [*command, "--data", str(home)], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _step(options: argparse.Namespace) -> dict[str, float]:
    spent = [0.0]
    for module, name in _TIMED:
        setattr(module, name, _timed(getattr(module, name), spent))
    engine = Engine(
        DataDirectories(options.data / "data", options.data / "cache"), lambda _root: Settings()
    )
    registered = engine.register(options.path)
    if options.step in ("search", "copied"):
        from asterism.engine import warm

        for name in ("checked", "check_by_chance"):
            setattr(warm, name, getattr(stores, name))
        engine.search(registered, SearchRequest(text=_QUERY))
    else:
        engine.index(registered)
    chunks = engine.status(registered).statistics
    times = time.process_time()
    engine.close()
    return {"cpu": times, "checks": spent[0], "chunks": chunks.chunks if chunks else 0}


def _timed(inner: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    def outer(*arguments: Any, **named: Any) -> Any:
        began = time.process_time()
        try:
            return inner(*arguments, **named)
        finally:
            spent[0] += time.process_time() - began

    return outer


if __name__ == "__main__":
    main()
