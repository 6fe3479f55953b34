"""Examples from mined rows: `python -m training.prepare ROWS --out FOLDER --exclude HASHES`."""

import argparse
import json
import pickle
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.exclusions import Exclusions
from training.queries import Example, examples
from training.rows import Row, hashed, read

# One documentation for more symbols than this says nothing about any of them.
SAME_DOC_AT_MOST = 2
# So that no language drowns the others.
ROWS_PER_LANGUAGE = 75_000


KINDS = ("doc", "name", "said", "heading", "place")


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

    def some(self, chosen: NDArray[np.int64]) -> "Examples":
        """Some of the examples, in their order."""
        return Examples(
            [self.queries[number] for number in chosen],
            [self.texts[number] for number in chosen],
            self.sources[chosen],
            self.languages[chosen],
            [self.names[number] for number in chosen],
            self.kinds[chosen],
        )


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


def _of_row(numbered: tuple[int, Row]) -> list[Example]:
    number, row = numbered
    return list(examples(row, random.Random(number)))


def make(rows: list[Row], processes: int) -> Examples:
    """The examples of all rows."""
    sources = {name: number for number, name in enumerate(sorted({row.source for row in rows}))}
    languages = {name: number for number, name in enumerate(sorted({row.language for row in rows}))}
    queries: list[str] = []
    texts: list[str] = []
    names: list[str] = []
    where: list[tuple[int, int, int]] = []
    with Pool(processes) as pool:
        made = pool.map(_of_row, list(enumerate(rows)), chunksize=2_000)
    for row, pairs in zip(rows, made, strict=True):
        for query, text, kind in pairs:
            queries.append(query)
            texts.append(text)
            names.append(f"{row.path}#{row.name}")
            where.append((sources[row.source], languages[row.language], KINDS.index(kind)))
    places = np.array(where, dtype=np.int64)
    return Examples(queries, texts, places[:, 0], places[:, 1], names, places[:, 2])


def main(arguments: Sequence[str] | None = None) -> int:
    """Write `examples.pickle` and `counts.json`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--exclude", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    lines = (
        line
        for file in sorted(options.rows.rglob("*.jsonl"))
        for line in file.open(encoding="utf-8")
    )
    rows = balanced(kept_rows(read(lines), Exclusions.load(options.exclude), counts))
    made = make(rows, options.processes)
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
        "examples by language": _by_language(made, rows),
        "sources": per_source,
    }
    (options.out / "counts.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    sys.stderr.write(json.dumps({k: v for k, v in report.items() if k != "sources"}) + "\n")
    return 0


def _by_language(made: Examples, rows: list[Row]) -> dict[str, int]:
    names = sorted({row.language for row in rows})
    counted = np.bincount(made.languages, minlength=len(names))
    return {name: int(number) for name, number in zip(names, counted, strict=True)}


def load(folder: Path) -> Examples:
    """What `main` wrote."""
    with (folder / "examples.pickle").open("rb") as file:
        return Examples(*pickle.load(file))


if __name__ == "__main__":
    sys.exit(main())
