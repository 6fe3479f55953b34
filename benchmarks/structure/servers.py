"""Installed language servers beside the resolver by name: edges that one has and the other not.

    python -m benchmarks.structure.servers --program clangd REPOSITORY…

The program is clangd, gopls, rust-analyzer or jdtls, or a path that ends like one. Each
repository is indexed in a directory that is removed afterwards; its own directory stays as it is.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from asterism.analysis.resolve.candidates import GUESS
from asterism.config.environment import program
from asterism.config.sections import StructureSettings, WorkSettings
from asterism.config.settings import Settings
from asterism.engine.connector import Questions
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.structure.positions import SymbolTarget
from asterism.structure.servers.catalogue import SERVERS, ServerProfile
from asterism.structure.servers.project import ServerProject
from asterism.types.files import FoundFile
from asterism.types.structure import Connections
from benchmarks.structure.samples import KINDS

WAIT_SECONDS = 300.0
"""A benchmark waits as long as the server likes."""

_FACTS = ("calls", "callers", "users", "extends", "implements", "subtypes")


class Cost(NamedTuple):
    """What a server takes."""

    first: float
    """Seconds until the first answer."""
    median: float
    slowest: float
    memory: int


def main() -> None:
    """Print a row for each repository, and how often the server did not know something."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    (server,) = (one for one in SERVERS if options.program.endswith(one.program))
    place = program(options.program) or options.program
    print("| repository | files | symbols | edges of both | server only | names only | gaps |")
    print("| --- |" + " ---: |" * 6)
    for repository in options.repositories:
        with tempfile.TemporaryDirectory() as home:
            _measure(server, place, repository, Path(home), options)


def _measure(
    server: ServerProfile, place: str, repository: Path, home: Path, options: argparse.Namespace
) -> None:
    given: dict[str, Any] = {server.family: place, "wait_seconds": WAIT_SECONDS}
    structure = StructureSettings(**given)
    settings = Settings(structure=structure, work=WorkSettings(jobs=1))
    engine = Engine(DataDirectories(home / "data", home / "cache"), lambda _root: settings)
    registered = engine.register(repository)
    engine.index(registered)
    connector = engine.connector(registered)
    with engine.snapshot(registered) as snapshot:
        listing, questions = snapshot.listing, connector.questions(snapshot)
        files = [file.path for file in listing if server.counts(file.path)]
        targets = [*_targets(questions, files, options)]
        witness = connector.witness(server.family)
        assert isinstance(witness, ServerProject)
        served, cost = _served(witness, listing, targets)
        named = [questions.by_name(target) for target in targets]
    engine.close()
    counts: Counter[str] = Counter()
    for one, other in zip(served, named, strict=True):
        mine, theirs = _edges(one), _edges(other)
        counts.update(both=len(mine & theirs), server=len(mine - theirs))
        counts.update(names=len(theirs - mine), gaps=bool(one.gaps))
    cells = [repository.name, len(files), len(targets)]
    cells += [counts[name] for name in ("both", "server", "names", "gaps")]
    print(f"| {' | '.join(map(str, cells))} |")
    print(
        f"  first answer {cost.first:.1f} s, then {cost.median:.0f} ms in the middle and "
        f"{cost.slowest:.0f} at most, {cost.memory} MB",
        flush=True,
    )


def _targets(
    questions: Questions, files: Sequence[str], options: argparse.Namespace
) -> Iterator[SymbolTarget]:
    chance = random.Random(options.seed)
    found = []
    for path in files:
        scope = questions.files.scope(path)
        for _, item in scope.outline.symbols() if scope else ():
            if item.kind in KINDS | {"struct", "trait"} and " " not in item.name:
                found.append(
                    SymbolTarget(path, item.qualified_name, item.start_line, item.name_offset)
                )
    yield from chance.sample(found, min(options.count, len(found)))


def _served(
    witness: ServerProject, listing: Sequence[FoundFile], targets: Sequence[SymbolTarget]
) -> tuple[list[Connections], Cost]:
    began = time.perf_counter()
    witness.connections(targets[:1], listing)
    first = time.perf_counter() - began
    answers: list[Connections] = []
    times: list[float] = []
    for target in targets:
        began = time.perf_counter()
        answers += witness.connections([target], listing)
        times.append(1000 * (time.perf_counter() - began))
    memory = witness.memory() // 1_000_000
    return answers, Cost(first, statistics.median(times), max(times), memory)


def _edges(known: Connections | None) -> set[tuple[str, str | None, str]]:
    """Edges inside the repository, those that were only guessed left out."""
    if known is None:
        return set()
    return {
        (fact, edge.target.path, edge.target.name)
        for fact in _FACTS
        for edge in getattr(known, fact)
        if edge.target.path is not None and edge.confidence > GUESS
    }


if __name__ == "__main__":
    main()
