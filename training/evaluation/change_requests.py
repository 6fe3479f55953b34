"""A dataset of change requests, with the subjects of commits as queries.

    python -m training.evaluation.change_requests CLONE... --change-requests FILE --out DATA

The requests are those that `training.sources.history` found. The source files of each clone are
written to DATA/repos, and subjects of commits to DATA/queries.jsonl; right are the files that still
have a commit's lines. `python -m benchmarks.ranking.refit DATA/queries.jsonl --repos-dir DATA/repos
--change-requests` fits the ranking weights of change requests on them.
"""

import argparse
import math
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from asterism.analysis.syntax.language import detect
from asterism.evaluation.datasets import LabelledPlace, Query, write_dataset
from training.evaluation.unseen import CHANGE
from training.examples.mine import source_name
from training.examples.prepare import read_change_requests
from training.inputs import present
from training.sources.archives import SourceFile, source_files

# Of a larger repository only the folders with the most change requests are used: less time.
FILES_AT_MOST = 1_800
FOLDERS_DEEP = 3

Subjects = Mapping[str, Sequence[str]]
"""The paths that answer each subject."""


def subjects_by_source(path: Path) -> dict[str, dict[str, list[str]]]:
    """The change requests of each source, with the files that answer them."""
    found: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for (source, where), symbols in read_change_requests(path).items():
        for subject in {said for some in symbols.values() for said in some}:
            found[source].setdefault(subject, []).append(where)
    return found


def chosen(files: Sequence[SourceFile], requested: Subjects) -> list[SourceFile]:
    """All files, or those of the folders with the most change requests for their size."""
    if len(files) <= FILES_AT_MOST:
        return list(files)
    sizes = Counter(_folder(file.path) for file in files)
    asked = Counter(_folder(path) for paths in requested.values() for path in paths)
    taken: set[str] = set()
    left = FILES_AT_MOST
    for folder in sorted(sizes, key=lambda name: (-asked[name] / math.sqrt(sizes[name]), name)):
        if asked[folder] and sizes[folder] <= left:
            taken.add(folder)
            left -= sizes[folder]
    return [file for file in files if _folder(file.path) in taken]


def _folder(path: str) -> str:
    return "/".join(PurePosixPath(path).parts[:-1][:FOLDERS_DEEP])


def queries(
    source: str, requested: Subjects, there: set[str], chance: random.Random
) -> Iterator[Query]:
    """Subjects whose answers are there, in any order."""
    known = {
        said: paths for said in sorted(requested) if (paths := there.intersection(requested[said]))
    }
    for number, said in enumerate(chance.sample(list(known), len(known)), 1):
        targets = tuple(LabelledPlace(path) for path in sorted(known[said]))
        language = detect(targets[0].path).key
        yield Query(f"{source}-{number:03}", said, source, targets, language, CHANGE)


def write(clone: Path, requested: Subjects, out: Path, chance: random.Random) -> list[Query]:
    """One repository's sources, and what is asked of it."""
    source = source_name(clone)
    files = chosen(list(source_files(clone)), requested)
    for file in files:
        place = out / "repos" / source / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.data)
    return list(queries(source, requested, {file.path for file in files}, chance))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the sources and the dataset."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", nargs="+", type=present)
    parser.add_argument(
        "--change-requests", type=present, required=True, help="what training.sources.history wrote"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--size", type=int, default=100, help="questions of each repository")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    requested = subjects_by_source(options.change_requests)
    chance = random.Random(options.seed)
    found: list[Query] = []
    for clone in options.clones:
        asked = write(clone, requested.get(source_name(clone), {}), options.out, chance)
        asked = asked[: options.size]
        sys.stderr.write(f"{source_name(clone)}: {len(asked)} questions\n")
        found += asked
    write_dataset(options.out / "queries.jsonl", found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
