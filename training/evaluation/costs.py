"""Measures one model in its own process.

python -m training.evaluation.costs KIND FOLDER < TEXTS
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from asterism.evaluation.run import Clock, now, peak_bytes
from asterism.types.errors import AsterismError, ProviderRefused
from training.evaluation.contenders import Contender

# The first questions find nothing in any cache of the processor.
WARM_UP = 3
MEGABYTE = 1_000_000


class Costs(NamedTuple):
    """CPU seconds are those of all threads together."""

    load_cpu_s: float
    texts_per_cpu_s: float
    query_cpu_ms: float
    query_ms: float
    memory_mb: float
    """What the process grew by, from before the model was loaded to its peak."""


def measured(contender: Contender, texts: Sequence[str], queries: Sequence[str]) -> Costs:
    """Load the model in a new process, and have it read the texts and then each question."""
    done = subprocess.run(
        [sys.executable, "-m", "training.evaluation.costs", contender.kind, str(contender.folder)],
        input=json.dumps({"texts": list(texts), "queries": list(queries)}).encode(),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ProviderRefused(said[-1] if said else f"The process ended with {done.returncode}.")
    return Costs(**json.loads(done.stdout))


def _peak_bytes() -> int:
    """The peak of this program; Linux counts that of the process which started it otherwise."""
    try:
        told = Path("/proc/self/status").read_text("ascii")
    except OSError:
        return peak_bytes()
    found = re.search(r"^VmHWM:\s+(\d+) kB$", told, re.MULTILINE)
    return int(found[1]) * 1024 if found else peak_bytes()


def _here(contender: Contender, texts: Sequence[str], queries: Sequence[str]) -> Costs:
    before = _peak_bytes()
    began = now()
    read, ask = _uses(contender, texts)
    ask("load the model")
    load = began.until(now())
    spent = _spent(read)
    times = [_spent(lambda query=query: ask(query)) for query in queries]  # type: ignore[misc]
    counted = times[WARM_UP:] or times
    return Costs(
        load.cpu,
        len(texts) / max(spent.cpu, 1e-9),
        1e3 * median(one.cpu for one in counted),
        1e3 * median(one.wall for one in counted),
        (_peak_bytes() - before) / MEGABYTE,
    )


def _uses(
    contender: Contender, texts: Sequence[str]
) -> tuple[Callable[[], object], Callable[[str], object]]:
    """To read all texts, and to answer one question; a reranker does both with the texts."""
    if contender.kind == "reranker":
        reranker = contender.reranker()
        first = list(texts[:40])
        return (
            lambda: reranker.score_within("where is it read", texts, None),
            lambda query: reranker.score_within(query, first, None),
        )
    embedder = contender.embedder()
    return lambda: embedder.embed_documents(texts), lambda query: embedder.embed_queries([query])


def _spent(work: Callable[[], object]) -> Clock:
    began = now()
    work()
    return began.until(now())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the costs as JSON."""
    kind, folder = sys.argv[1:] if arguments is None else arguments
    told = json.load(sys.stdin)
    try:
        contender = Contender(Path(folder).name, kind, Path(folder))  # type: ignore[arg-type]
        costs = _here(contender, told["texts"], told["queries"])
    except AsterismError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(json.dumps(costs._asdict()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
