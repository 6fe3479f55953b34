"""What the chunk table costs: building, opening, asking, updating, keeping; and how that grows.

    python -m benchmarks.store [--rows 10000 50000 100000] [--updates 0]

Every size runs in a process of its own, so that its peak memory is its own, and cold figures come
from one more process each. Rows and queries are made from a seed. Two figures in a cell are wall
time and the CPU time of all threads; they are medians, but for the cold ones, the best of five.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeVar

import numpy as np

from asterism.store.chunk_table import ChunkSnapshot, Matrix
from asterism.store.lance.schema import matrix_of
from asterism.store.lance.table import LanceTable
from asterism.types.index import Entry
from asterism.types.search import Filter
from benchmarks.store_rows import DIMENSIONS, ROWS_PER_FILE, Corpus

BATCH_ROWS = 8_000
WANTED = 40
"""How many rows a search recalls from each channel."""
QUERIES = 60
UPDATES = 15
SCOPE = Filter(languages=("go",), path_not_contains=("zzz",))
"""A quarter of the rows."""
COLUMNS = (
    "rows", "build s", "maintain s", "cold open + first query ms", "vector ms", "keyword ms",
    "filtered vector ms", "filtered keyword ms", "40 chunks ms", "update ms", "MB on disk",
    "peak MB", "recall",
)  # fmt: skip
Item = TypeVar("Item")


class Spent(NamedTuple):
    """Milliseconds."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:.1f} / {self.cpu:.1f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 50_000, 100_000])
    parser.add_argument("--updates", type=int, default=0, help="also update that many files")
    options = parser.parse_args()
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + " ---: |" * len(COLUMNS))
    for rows in options.rows:
        print(_in_process(f"from benchmarks.store import row; print(row({rows}))"), flush=True)
    if options.updates:
        print()
        updated(options.rows[0], options.updates)


def row(count: int) -> str:
    """All figures of one size."""
    corpus = Corpus()
    with TemporaryDirectory() as directory:
        table, built = build(Path(directory), corpus, count)
        start = time.perf_counter()
        table.maintain()
        maintained = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = table.size() / 1e6
        asked = questions(table.snapshot(), corpus)
        cold = min(float(_in_process(_cold(directory))) for _ in range(5))
        share = recall(table.snapshot(), corpus, table.path)
        update = _median([*range(UPDATES)], lambda number: replace(table, corpus, number, count))
    figures = [f"{built:.1f}", f"{maintained:.2f}", f"{cold:.0f}"]
    figures += [str(spent) for spent in (*asked, update)]
    figures += [f"{size:.0f}", f"{peak:.0f}", f"{share:.3f}"]
    return f"| {count:,} | " + " | ".join(figures) + " |"


def build(directory: Path, corpus: Corpus, count: int) -> tuple[LanceTable, float]:
    """A table of so many rows, written in batches, and the seconds spent on writing."""
    table = LanceTable.create(directory, DIMENSIONS)
    entries: list[Entry] = []
    vectors: list[Matrix] = []
    files, spent = count // ROWS_PER_FILE, 0.0
    for number in range(files):
        some, theirs = corpus.file(number, number)
        entries += some
        vectors.append(theirs)
        if len(entries) >= BATCH_ROWS or number == files - 1:
            start = time.perf_counter()
            table.append(entries, np.concatenate(vectors))
            spent += time.perf_counter() - start
            entries, vectors = [], []
    return table, spent


def questions(now: ChunkSnapshot, corpus: Corpus) -> list[Spent]:
    """Milliseconds of each kind of query, warm."""
    vectors = list(corpus.vectors(QUERIES))
    words = [corpus.query() for _ in range(QUERIES)]
    keys = [[match.key for match in now.matching(terms, WANTED)] for terms in words]
    return [
        _median(vectors, lambda vector: now.nearest(vector, WANTED)),
        _median(words, lambda terms: now.matching(terms, WANTED)),
        _median(vectors, lambda vector: now.nearest(vector, WANTED, SCOPE)),
        _median(words, lambda terms: now.matching(terms, WANTED, SCOPE)),
        _median(keys, now.chunks),
    ]


def recall(now: ChunkSnapshot, corpus: Corpus, path: Path) -> float:
    """How many of the nearest rows a query finds, by comparing with all of them."""
    import lance

    everything = lance.dataset(str(path)).to_table(columns=["id", "vector"])
    ids = np.array(everything["id"].to_pylist())
    vectors = matrix_of(everything["vector"])
    shares = []
    for vector in corpus.vectors(QUERIES):
        nearest = set(ids[np.argsort(-(vectors @ vector))[:WANTED]])
        found = {match.key.id for match in now.nearest(vector, WANTED)}
        shares.append(len(nearest & found) / WANTED)
    return float(np.mean(shares))


def replace(table: LanceTable, corpus: Corpus, number: int, count: int) -> None:
    """Write one file's rows anew, as a sync does."""
    file = (number * 7919) % (count // ROWS_PER_FILE)
    entries, vectors = corpus.file(file, 10_000_000 + file)
    table.append(entries, vectors)
    table.delete([file])


def updated(count: int, updates: int) -> None:
    """How queries, fragments and size fare while files change one at a time."""
    corpus = Corpus()
    random = np.random.default_rng(3)
    print("| updates | vector ms | keyword ms | fragments | MB on disk | update + maintain ms |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    with TemporaryDirectory() as directory:
        table, _ = build(Path(directory), corpus, count)
        table.maintain()
        versions = list(range(count // ROWS_PER_FILE))
        spent: list[float] = []
        for done in range(updates + 1):
            if done % max(1, updates // 10) == 0:
                print(_state(table, corpus, done, spent), flush=True)
            file = int(random.integers(len(versions)))
            start = time.perf_counter()
            table.append(*corpus.file(file, count + done))
            table.delete([versions[file]])
            table.maintain()
            versions[file] = count + done
            spent.append((time.perf_counter() - start) * 1e3)
        # The state an hour later, when no reader uses the old versions.
        table = LanceTable.open(directory, keep_seconds=0.0)
        table.maintain(thorough=True)
        print(_state(table, corpus, updates, spent).replace("| ", "| an hour later, ", 1))


def _state(table: LanceTable, corpus: Corpus, done: int, spent: Sequence[float]) -> str:
    vector, keyword, *_ = questions(table.snapshot(), corpus)
    fragments = table.fragments()
    mean = sum(spent) / len(spent) if spent else 0.0
    return (
        f"| {done:,} | {vector} | {keyword} | {fragments} | {table.size() / 1e6:.0f} | {mean:.1f} |"
    )


def _cold(directory: str) -> str:
    """A program that opens the table and asks one question, timed from the first import."""
    return (
        "import time; start = time.perf_counter()\n"
        "from asterism.store.lance.table import LanceTable\n"
        "import numpy as np\n"
        f"now = LanceTable.open({directory!r}).snapshot()\n"
        f"vector = np.full({DIMENSIONS}, {DIMENSIONS**-0.5}, dtype=np.float32)\n"
        f"now.nearest(vector, {WANTED}); now.matching(['abc', 'the'], {WANTED})\n"
        "print((time.perf_counter() - start) * 1e3)"
    )


def _in_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _median(items: Sequence[Item], work: Callable[[Item], object]) -> Spent:
    """What the middle run took; the first is for warming up."""
    work(items[0])
    wall, cpu = [], []
    for item in items[1:]:
        start, busy = time.perf_counter(), time.process_time()
        work(item)
        wall.append((time.perf_counter() - start) * 1e3)
        cpu.append((time.process_time() - busy) * 1e3)
    return Spent(float(np.median(wall)), float(np.median(cpu)))


if __name__ == "__main__":
    main()
