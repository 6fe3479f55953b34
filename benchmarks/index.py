"""Measures indexing: first build, nothing to do, one changed file; beside another tool if asked.

    python -m benchmarks.index [--rounds 3] REPOSITORY…
    python -m benchmarks.index --semble PYTHON [--semble-model DIRECTORY] REPOSITORY…

Every repository is copied first, so that a file can be changed. CPU seconds are those of one
process (`jobs = 1`, imports done beforehand), which is what the other tool uses; wall seconds are
given for all cores as well. PYTHON is an interpreter that has semble 0.7.0; it indexes the same
directories, in turn with us, without a model or with the model2vec folder given. Of several rounds
the best counts for each.
"""

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from asterism.config.load import load
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories

_SEMBLE = """
import sys, time
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
for line in sys.stdin:
    began = time.process_time()
    _build(Path(line.rstrip("\\n")), model, name or "none", (ContentType.CODE,), False)
    print(time.process_time() - began, flush=True)
"""


class Figures(NamedTuple):
    """What was measured on one repository."""

    name: str
    files: int
    source_mb: float
    chunks: int
    symbols: int
    build_cpu: float
    build_wall: float
    noop_cpu: float
    change_wall: float
    size_mb: float
    semble_cpu: float | None = None


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--semble", help="an interpreter that has semble 0.7.0")
    parser.add_argument("--semble-model", default="", help="a model2vec folder for it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        other = None
        if options.semble:
            other = stack.enter_context(Semble(options.semble, options.semble_model))
        _measure(_sample(Path(scratch)), Path(scratch), other, 1)
        figures = [
            _measure(_copy(root, Path(scratch, "copies")), Path(scratch), other, options.rounds)
            for root in options.repositories
        ]
    _print(figures)


class Semble:
    """The other tool in a process of its own, which indexes one directory after the other."""

    def __init__(self, python: str, model: str) -> None:
        command = [python, "-c", _SEMBLE, model]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> "Semble":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def index(self, root: Path) -> float:
        """CPU seconds to index a directory."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{root}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())


def _copy(root: Path, into: Path) -> Path:
    name = "-".join(root.absolute().parts[-2:])
    return Path(shutil.copytree(root, into / name, symlinks=True))


def _sample(scratch: Path) -> Path:
    """Something small to load every library with."""
    root = scratch / "sample"
    root.mkdir()
    (root / "a.py").write_text("def a():\n    return 1\n")
    return root


def _measure(root: Path, scratch: Path, other: Semble | None, rounds: int) -> Figures:
    build, semble = float("inf"), float("inf")
    for turn in range(rounds):
        engine = _engine(scratch / f"one{turn}" / root.name, 1)
        registered = engine.register(root)
        began = _cpu()
        report = engine.index(registered)
        build = min(build, _cpu() - began)
        if other is not None:
            semble = min(semble, other.index(root))
    began = _cpu()
    engine.index(registered)
    noop = _cpu() - began
    known = engine.status(registered)
    assert known.statistics is not None
    changed = max(root.rglob("*.*"), key=lambda file: (file.is_file(), file.suffix in _CODE))
    changed.write_bytes(changed.read_bytes() + b"\n\n")
    clock = time.monotonic()
    engine.index(registered)
    change = time.monotonic() - clock
    parallel = _engine(scratch / "all" / root.name, 0)
    clock = time.monotonic()
    parallel.index(parallel.register(root))
    return Figures(
        root.name,
        report.files,
        known.statistics.source_bytes / 1e6,
        report.chunks_total,
        sum(known.statistics.symbols.values()),
        build,
        time.monotonic() - clock,
        noop,
        change,
        (known.chunks_bytes + known.statistics.database_bytes) / 1e6,
        semble if other is not None else None,
    )


_CODE = frozenset({".py", ".ts", ".go", ".rs", ".java", ".rb", ".php", ".c", ".cs", ".kt"})


def _engine(directory: Path, jobs: int) -> Engine:
    def settings(root: str) -> Settings:
        return load(Path(root), {"work.jobs": jobs}).settings

    return Engine(DataDirectories(directory / "data", directory / "cache"), settings)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _print(figures: Sequence[Figures]) -> None:
    print(
        "| repository | files | MB | chunks | symbols | build CPU s | build wall s (all cores) "
        "| no-op CPU s | one change s | index MB | semble CPU s | ratio |"
    )
    print("| --- |" + " --- |" * 11)
    for row in figures:
        print(_row(row))
    if len(figures) > 1:
        total = Figures("sum", *map(sum, zip(*(row[1:10] for row in figures), strict=True)))
        if all(row.semble_cpu is not None for row in figures):
            total = total._replace(semble_cpu=sum(row.semble_cpu or 0 for row in figures))
        print(_row(total))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nPeak memory of the measuring process: {peak:,.0f} MB", file=sys.stderr)


def _row(row: Figures) -> str:
    other = "" if row.semble_cpu is None else f"{row.semble_cpu:.2f}"
    ratio = "" if row.semble_cpu is None else f"{row.build_cpu / row.semble_cpu:.2f}"
    return (
        f"| {row.name} | {row.files:,} | {row.source_mb:.1f} | {row.chunks:,} | {row.symbols:,} "
        f"| {row.build_cpu:.2f} | {row.build_wall:.2f} | {row.noop_cpu:.3f} "
        f"| {row.change_wall:.2f} | {row.size_mb:.1f} | {other} | {ratio} |"
    )


if __name__ == "__main__":
    main()
