"""How fast outlines and chunks are made, on one process and on two, and what that holds in memory.

    python -m benchmarks.parse REPOSITORY… [--extensions .ts,.tsx] [--grow 1000,2500,5000,10000]

Every figure of one row comes from one run. CPU seconds are the process's own; wall speed compares
one process with two in the same run, with the start of the workers left out.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.contents import read_chunks
from asterism.analysis.parallel import in_parallel
from asterism.analysis.source.discovery import discover
from asterism.analysis.syntax.language import TABLE
from asterism.config.load import discovery_options, load

# What has a grammar. Data and prose are cheaper and would flatter us.
CODE = frozenset(
    extension for entry in TABLE if ":" in entry.home for extension in entry.extensions
)


class Job(NamedTuple):
    """A file to read, and the name it goes by; copies differ in that only."""

    path: str
    relative_path: str


class Totals(NamedTuple):
    """What a run of files came to."""

    files: int = 0
    characters: int = 0
    symbols: int = 0
    references: int = 0
    chunks: int = 0

    def plus(self, other: "Totals") -> "Totals":
        """The sum of two runs."""
        return Totals(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def main() -> None:
    """Measure each repository, print Markdown tables."""
    parser = argparse.ArgumentParser(description="Measure outlines and chunks.")
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--extensions", default="", help="comma-separated; default: all code")
    parser.add_argument("--grow", default="", help="file counts, made by reading files again")
    parser.add_argument("--rounds", type=int, default=3, help="best of so many runs")
    options = parser.parse_args()
    extensions = frozenset(options.extensions.split(",")) if options.extensions else CODE
    print("| repository | files | MB | median KB | files/CPU-s | MB/CPU-s | chunks/CPU-s | two |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for root in options.repositories:
        print(speed_row(root, jobs_of(root, extensions), options.rounds), flush=True)
    if options.grow:
        counts = [int(count) for count in options.grow.split(",")]
        print("\n| repository | files | symbols | chunks | CPU-s | files/CPU-s | peak MB |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        for root in options.repositories:
            for count in counts:
                print(growth_row(root, extensions, count), flush=True)


def jobs_of(root: Path, extensions: frozenset[str]) -> list[Job]:
    """The files discovery finds, of these extensions."""
    found = discover(str(root.absolute()), discovery_options(load(root.absolute()).settings))
    return [
        Job(f"{found.root}/{file.path}", file.path)
        for file in found.files
        if Path(file.path).suffix in extensions
    ]


def speed_row(root: Path, jobs: list[Job], rounds: int) -> str:
    """CPU speed of one process, and the wall speed of two against one."""
    work(jobs[:50])
    cpu, totals = min((_cpu(jobs) for _ in range(rounds)), key=lambda pair: pair[0])
    one = min(_wall(jobs, 1) for _ in range(rounds))
    two = min(_wall(jobs, 2) for _ in range(rounds))
    sizes = sorted(Path(job.path).stat().st_size for job in jobs)
    megabytes = sum(sizes) / 1e6
    return (
        f"| {root.name} | {totals.files:,} | {megabytes:.1f} | {sizes[len(sizes) // 2] / 1e3:.1f} "
        f"| {totals.files / cpu:,.0f} | {megabytes / cpu:.1f} | {totals.chunks / cpu:,.0f} "
        f"| {one / two:.2f} × |"
    )


def growth_row(root: Path, extensions: frozenset[str], count: int) -> str:
    """One size in a process of its own, so that its peak memory is its own too."""
    code = (
        "from pathlib import Path; from benchmarks.parse import grown; "
        f"print(grown(Path({str(root)!r}), frozenset({sorted(extensions)!r}), {count}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def grown(root: Path, extensions: frozenset[str], count: int) -> str:
    """A run over `count` files: the repository's own, read again under other names."""
    jobs = jobs_of(root, extensions)
    copies = (
        Job(job.path, f"{number // len(jobs)}/{job.relative_path}")
        for number, job in enumerate(islice(cycle(jobs), count))
    )
    start = time.process_time()
    totals = Totals()
    for batch in in_parallel(work, copies, 1):
        totals = totals.plus(batch)
    cpu = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"| {root.name} | {totals.files:,} | {totals.symbols:,} | {totals.chunks:,} "
        f"| {cpu:.2f} | {totals.files / cpu:,.0f} | {peak:.0f} |"
    )


def work(jobs: Sequence[Job]) -> Totals:
    """Read files, keep only the counts."""
    totals = Totals()
    for job in jobs:
        reading = read_chunks(job.path, job.relative_path, "benchmark")
        outline = reading.outline
        symbols = sum(1 for _ in outline.symbols())
        totals = totals.plus(
            Totals(1, len(reading.source), symbols, len(outline.references), len(reading.chunks))
        )
    return totals


def _cpu(jobs: Iterable[Job]) -> tuple[float, Totals]:
    start = time.process_time()
    totals = work(list(jobs))
    return time.process_time() - start, totals


def _wall(jobs: list[Job], workers: int) -> float:
    """Seconds for all files, from the moment the workers have done their first batches."""
    warm = list(islice(cycle(jobs), 64 * workers))
    results = in_parallel(work, [*warm, *jobs], workers)
    done = 0
    start = time.perf_counter()
    for totals in results:
        done += totals.files
        if done <= len(warm):
            start = time.perf_counter()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
