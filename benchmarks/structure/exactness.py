"""Connections of random symbols: are they exact, and what do they cost?

    python -m benchmarks.structure.exactness --typescript6 DIRECTORY REPOSITORY…
    python -m benchmarks.structure.exactness --basedpyright ENVIRONMENT REPOSITORY…
    python -m benchmarks.structure.exactness --speed REPOSITORY…

DIRECTORY is one in which `npm install typescript@6` was run: the classic compiler walks over every
name of the repository and counts who refers to, calls and is called by each symbol, by the same
definitions. ENVIRONMENT is a virtual environment that has basedpyright, whose language server is
asked for references and call hierarchies, by its own definitions. Every difference is listed.
A repository is taken for the language that most of its files are in.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from asterism.types.files import FoundFile
from benchmarks.structure import python as python_oracle
from benchmarks.structure import speed
from benchmarks.structure import typescript as typescript_oracle
from benchmarks.structure.samples import Difference, Sample, Texts, listing, samples, shown

_FACTS = ("reference files", "callers", "callees")


class Repository(NamedTuple):
    """One repository with the symbols that were chosen."""

    root: str
    files: Sequence[FoundFile]
    is_python: bool
    size: int
    """Of files in its language."""
    chosen: list[Sample]


def main() -> None:
    """Print a table of differences, each difference, and a table of costs."""
    options = _options()
    repositories = [_open(place, options) for place in options.repositories]
    if options.typescript6 or options.basedpyright:
        _print_differences(repositories, options)
    if options.speed:
        print(speed.HEAD)
        print(speed.RULE)
        for one in repositories:
            measure = speed.measure_python if one.is_python else speed.measure_typescript
            costs = measure(one.root, one.files, one.chosen, one.size)
            print(speed.row(Path(one.root).name, costs), flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=50, help="symbols of each repository")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--typescript6", help="a directory that has npm's typescript 6")
    parser.add_argument("--basedpyright", help="a virtual environment that has basedpyright")
    parser.add_argument("--speed", action="store_true", help="measure what it costs")
    return parser.parse_args()


def _open(place: Path, options: argparse.Namespace) -> Repository:
    root = str(place.resolve())
    files = listing(root)
    counts = {
        endings: sum(file.path.endswith(endings) for file in files)
        for endings in (typescript_oracle.ENDINGS, python_oracle.ENDINGS)
    }
    endings = max(counts, key=lambda some: counts[some])
    chosen = samples(Texts(root), files, endings, options.count, options.seed)
    is_python = endings == python_oracle.ENDINGS
    return Repository(root, files, is_python, counts[endings], chosen)


def _print_differences(repositories: Sequence[Repository], options: argparse.Namespace) -> None:
    print(
        "| repository | compared with | files | symbols "
        "| reference files differ | callers differ | callees differ |"
    )
    print("| --- | --- |" + " ---: |" * 5)
    listed: list[tuple[str, list[Difference]]] = []
    for one in repositories:
        name = Path(one.root).name
        if one.is_python and options.basedpyright:
            found = python_oracle.compare(one.root, one.files, one.chosen, options.basedpyright)
        elif not one.is_python and options.typescript6:
            found = typescript_oracle.compare(one.root, one.files, one.chosen, options.typescript6)
        else:
            continue
        listed.append((name, found))
        other = "basedpyright" if one.is_python else "TypeScript 6"
        counts = Counter(difference.fact for difference in found)
        cells = [name, other, f"{one.size:,}", len(one.chosen), *(counts[f] for f in _FACTS)]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
    for name, found in listed:
        if found:
            print(f"\n{name}:\n")
        for difference in found:
            print(shown(difference))


if __name__ == "__main__":
    main()
