"""What connections cost: processor seconds to load, memory, milliseconds for a symbol."""

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from asterism.structure.positions import SymbolTarget
from asterism.structure.python.project import PythonOptions, PythonProject, require_checker
from asterism.structure.typescript.project import TypeScriptProject, require_compiler
from asterism.types.files import FoundFile
from benchmarks.structure.samples import Sample

# So many hits are connected together for one reply.
TOGETHER = 5

HEAD = (
    "| repository | files | load CPU s | MB after load | MB at the end | ms per symbol, first "
    "| warm median | p90 | of which our CPU | five together | slowest five |"
)
RULE = "| --- |" + " ---: |" * 10

_TICKS_PER_SECOND = 100


class Costs(NamedTuple):
    """What was measured of one repository."""

    files: int
    load_cpu: float
    load_memory: int
    memory: int
    first: Sequence[float]
    warm: Sequence[float]
    own: Sequence[float]
    together: Sequence[float]


def measure_typescript(
    root: str, files: Sequence[FoundFile], chosen: Sequence[Sample], count: int
) -> Costs:
    """The costs of the TypeScript compiler."""
    with tempfile.TemporaryDirectory() as cache:
        return _measure(TypeScriptProject(require_compiler(), root, cache), files, chosen, count)


def measure_python(
    root: str, files: Sequence[FoundFile], chosen: Sequence[Sample], count: int
) -> Costs:
    """The costs of the Python type checker."""
    with tempfile.TemporaryDirectory() as cache:
        project = PythonProject(require_checker(), root, PythonOptions(cache=cache))
        return _measure(project, files, chosen, count)


def _measure(
    project: TypeScriptProject | PythonProject,
    files: Sequence[FoundFile],
    chosen: Sequence[Sample],
    count: int,
) -> Costs:
    targets = [sample.target for sample in chosen]

    def ask(some: Sequence[SymbolTarget]) -> None:
        project.connections(some, files)

    try:
        ask(targets[:1])
        load_cpu, load_memory = _cpu(project.pid), project.memory()
        first, _ = _timed(ask, [[target] for target in targets])
        warm, own = _timed(ask, [[target] for target in targets])
        fives = [targets[at : at + TOGETHER] for at in range(0, len(targets), TOGETHER)]
        together, _ = _timed(ask, fives)
        return Costs(count, load_cpu, load_memory, project.memory(), first, warm, own, together)
    finally:
        project.close()


def _timed(
    ask: Callable[[Sequence[SymbolTarget]], None], questions: Sequence[Sequence[SymbolTarget]]
) -> tuple[list[float], list[float]]:
    """Milliseconds of each question: by the clock, and of our own processor time."""
    wall, own = [], []
    for question in questions:
        clock, cpu = time.perf_counter(), time.process_time()
        ask(question)
        wall.append(1e3 * (time.perf_counter() - clock))
        own.append(1e3 * (time.process_time() - cpu))
    return wall, own


def _cpu(process: int | None) -> float:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND


def row(name: str, costs: Costs) -> str:
    """One row of the table."""
    ordered = sorted(costs.warm)
    cells = [
        name,
        f"{costs.files:,}",
        f"{costs.load_cpu:.1f}",
        f"{costs.load_memory / 1e6:.0f}",
        f"{costs.memory / 1e6:.0f}",
        f"{statistics.median(costs.first):.1f}",
        f"{statistics.median(ordered):.1f}",
        f"{ordered[round(0.9 * (len(ordered) - 1))]:.1f}",
        f"{statistics.median(costs.own):.1f}",
        f"{statistics.median(costs.together):.0f}",
        f"{max(costs.together):.0f}",
    ]
    return f"| {' | '.join(cells)} |"
