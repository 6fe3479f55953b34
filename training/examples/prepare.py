"""Examples from mined rows: `python -m training.examples.prepare ROWS --out FOLDER --exclude HASHES`."""

import argparse
import json
import lzma
import pickle
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing import Pool
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from training.sources.exclusions import Exclusions
from training.inputs import present
from training.examples.queries import KINDS, Example, examples, topics, change
from training.examples.rows import Row, hashed, read

# One documentation for more symbols than this says nothing about any of them.
SAME_DOC_AT_MOST = 2
# So that no language drowns the others.
ROWS_PER_LANGUAGE = 110_000
ENGLISH = "english"
# What people said themselves is rare among all that is taken from documentation.
WISHED_TIMES = 2


class Examples(NamedTuple):
    """Examples and what batches need to know of each."""

    queries: list[str]
    texts: list[str]
    sources: NDArray[np.int64]
    languages: NDArray[np.int64]
    names: list[str]
    """The symbol of each, so that it is never its own wrong answer."""
    kinds: NDArray[np.int64]
    """What each question was made of, as a place in `KINDS`."""
    files: NDArray[np.int64]
    """The file of each, by number."""
    spoken: tuple[str, ...] = ()
    """What the languages are called, by number."""

    def some(self, chosen: NDArray[np.int64]) -> "Examples":
        """Some of the examples, in their order."""
        return Examples(
            [self.queries[number] for number in chosen],
            [self.texts[number] for number in chosen],
            self.sources[chosen],
            self.languages[chosen],
            [self.names[number] for number in chosen],
            self.kinds[chosen],
            self.files[chosen],
            self.spoken,
        )


class Text(NamedTuple):
    """A question in English and the text that answers it; see `training.examples.english`."""

    query: str
    text: str
    source: str


Requested: TypeAlias = Mapping[str, Sequence[str]]
"""The change requests that each symbol of a file answers, by the name of the symbol."""


def kept_rows(rows: Iterator[Row], exclusions: Exclusions, counts: Counter[str]) -> list[Row]:
    """Rows without those that are to be kept out and those that say what others say."""
    seen: set[bytes] = set()
    docs: Counter[bytes] = Counter()
    kept: list[Row] = []
    for row in rows:
        counts["mined"] += 1
        digest = hashed(row.code)
        if digest in exclusions.symbols:
            counts["kept out"] += 1
            continue
        if digest in seen:
            counts["repeated code"] += 1
            continue
        seen.add(digest)
        if row.doc:
            said = hashed(row.doc)
            docs[said] += 1
            if docs[said] > SAME_DOC_AT_MOST:
                counts["repeated documentation"] += 1
                row = row._replace(doc="")
        kept.append(row)
    return kept


def balanced(rows: list[Row]) -> list[Row]:
    """At most so many of each language, documented ones first."""
    chance = random.Random(0)
    chance.shuffle(rows)
    rows.sort(key=lambda row: not row.doc)
    taken: Counter[str] = Counter()
    kept = []
    for row in rows:
        taken[row.language] += 1
        if taken[row.language] <= ROWS_PER_LANGUAGE:
            kept.append(row)
    kept.sort(key=lambda row: row.source)
    return kept


def _of_file(numbered: tuple[int, list[Row], Requested]) -> list[Example]:
    number, rows, requested = numbered
    chance = random.Random(number)
    found = [example for row in rows for example in examples(row, chance)]
    found += topics(rows, chance)
    found += [
        change(row, said, chance)
        for row in rows
        for said in requested.get(row.name, ())
        for _time in range(WISHED_TIMES)
    ]
    return found


def make(
    rows: list[Row],
    processes: int,
    english: Sequence[Text] = (),
    requested: Mapping[tuple[str, str], Requested] = MappingProxyType({}),
) -> Examples:
    """The examples of all rows, and those of texts that are no code."""
    files: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        files[row.source, row.path].append(row)
    tasks = [
        (number, rows_here, requested.get(file, {}))
        for number, (file, rows_here) in enumerate(files.items())
    ]
    with Pool(processes) as pool:
        made = pool.map(_of_file, tasks, chunksize=500)
    found = [
        (source, rows_here[0].language, number, example)
        for number, ((source, _path), rows_here, examples_here) in enumerate(
            zip(files, files.values(), made, strict=True)
        )
        for example in examples_here
    ]
    found += [
        (
            text.source,
            ENGLISH,
            len(files) + number,
            Example(text.query, text.text, ENGLISH, str(number)),
        )
        for number, text in enumerate(english)
    ]
    found.sort(key=lambda entry: entry[0])
    return _columns(found)


def _columns(found: Sequence[tuple[str, str, int, Example]]) -> Examples:
    sources = {name: number for number, name in enumerate(sorted({entry[0] for entry in found}))}
    languages = {name: number for number, name in enumerate(sorted({entry[1] for entry in found}))}
    numbers = np.array(
        [
            (sources[source], languages[language], KINDS.index(example.kind), file)
            for source, language, file, example in found
        ],
        dtype=np.int64,
    ).reshape(-1, 4)
    return Examples(
        [entry[3].query for entry in found],
        [entry[3].text for entry in found],
        numbers[:, 0],
        numbers[:, 1],
        [f"{entry[0]} {entry[3].symbol}" for entry in found],
        numbers[:, 2],
        numbers[:, 3],
        tuple(languages),
    )


def read_change_requests(path: Path) -> dict[tuple[str, str], dict[str, list[str]]]:
    """What `training.sources.history` wrote, by source and path."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    with path.open(encoding="utf-8") as file:
        for query, source, where, name in map(json.loads, file):
            found.setdefault((source, where), {}).setdefault(name, []).append(query)
    return found


def read_english(path: Path) -> list[Text]:
    """What `training.examples.english` wrote."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        told = map(json.loads, file)
        return [Text(entry["query"], entry["text"], entry["source"]) for entry in told]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write `examples.pickle` and `counts.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=present)
    parser.add_argument("--english", type=present, help="what training.examples.english wrote")
    parser.add_argument("--change-requests", type=present, help="what training.sources.history wrote")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--exclude", type=present, required=True)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    lines = (
        line
        for file in sorted(options.rows.rglob("*.jsonl"))
        for line in file.open(encoding="utf-8")
    )
    english = read_english(options.english) if options.english else []
    requested = read_change_requests(options.change_requests) if options.change_requests else {}
    rows = balanced(kept_rows(read(lines), Exclusions.load(options.exclude), counts))
    made = make(rows, options.processes, english, requested)
    with (options.out / "examples.pickle").open("wb") as file:
        pickle.dump(tuple(made), file, protocol=5)
    per_language = Counter(row.language for row in rows)
    documented = Counter(row.language for row in rows if row.doc)
    per_source = Counter(row.source for row in rows)
    of_kinds = np.bincount(made.kinds, minlength=len(KINDS)).tolist()
    report = {
        **counts,
        "rows": len(rows),
        "examples": len(made.queries),
        "languages": per_language,
        "documented": documented,
        "kinds": dict(zip(KINDS, of_kinds, strict=True)),
        "examples by language": _by_language(made),
        "sources": per_source,
    }
    (options.out / "counts.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    sys.stderr.write(json.dumps({k: v for k, v in report.items() if k != "sources"}) + "\n")
    return 0


def _by_language(made: Examples) -> dict[str, int]:
    counted = np.bincount(made.languages, minlength=len(made.spoken))
    return {name: int(number) for name, number in zip(made.spoken, counted, strict=True)}


def load(folder: Path) -> Examples:
    """What `main` wrote."""
    with (folder / "examples.pickle").open("rb") as file:
        return Examples(*pickle.load(file))


if __name__ == "__main__":
    sys.exit(main())
