"""What selecting costs: 200 hits under each preset, as plain text, as lines, as rows of JSON.

    python -m benchmarks.selection [--hits 200] [--runs 50]

Hits are made from a seed, twenty to a file, one of which holds the others, as a class does its
methods. Rendering and serialising are counted, as a selection does both, and so is choosing the
lines that matter to a question. The promise is 10 ms.
Times are of the CPU, so that other work on the machine does not count.
"""

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from asterism.search.query.parse import understand
from asterism.search.selection.excerpts import excerpts_for
from asterism.search.selection.options import PRESETS, SelectionOptions, staged
from asterism.search.selection.select import select
from asterism.search.selection.sizes import Measure
from asterism.types.search import Detail, Hit, Stage
from benchmarks.store_rows import ROWS_PER_FILE, Corpus


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hits", type=int, default=200)
    parser.add_argument("--runs", type=int, default=50)
    options = parser.parse_args()
    hits = made(options.hits)
    print(f"{len(hits)} hits, {sum(len(hit.chunk.full_source) for hit in hits):,} characters\n")
    print("| preset | written as | kept | dropped | median ms | slowest ms |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for name, chosen in _variants():
        for kind, measured in _measures(hits).items():
            spent = sorted(_run(hits, chosen, measured) for _ in range(options.runs))
            account = select(hits, chosen, measured()).account
            print(
                f"| {name} | {kind} | {account.returned_count} | {sum(account.dropped)} "
                f"| {statistics.median(spent):.2f} | {spent[-1]:.2f} |"
            )


def made(count: int) -> list[Hit]:
    """So many hits, the best first."""
    corpus, chance = Corpus(), random.Random(7)
    hits: list[Hit] = []
    for number in range(-(-count // ROWS_PER_FILE)):
        chunks = [entry.chunk for entry in corpus.file(number, 1)[0]]
        whole = "\n".join(chunk.full_source for chunk in chunks)
        chunks[0] = chunks[0]._replace(full_source=whole, end_line=chunks[-1].end_line)
        hits += (Hit(chunk, chance.random(), chance.uniform(0.2, 1.8)) for chunk in chunks)
    return sorted(hits[:count], key=lambda hit: -hit.score)


def _measures(hits: list[Hit]) -> Mapping[str, Callable[[], Measure]]:
    """Ways to write hits; what was read for one question is not kept for the next."""
    asked = understand(" ".join(hit.chunk.name for hit in hits[:3]))
    rows = partial(Measure, serialise=_row, envelope=1_000, separator=2)
    return {
        "text": Measure,
        "JSON": rows,
        "text or lines": lambda: Measure(excerpt=excerpts_for(asked)),
        "JSON, text or lines": lambda: rows(excerpt=excerpts_for(asked)),
    }


def _variants() -> Iterator[tuple[str, SelectionOptions]]:
    """The presets, and those that leave the most to be done."""
    yield from PRESETS.items()
    yield "context, everything passes", replace(PRESETS["context"], gate=0.0)
    yield "context, discover", staged(PRESETS["context"], Stage.discover)
    yield "chunks, 2,000 tokens", replace(PRESETS["chunks"], token_budget=2_000)
    yield "chunks, all of them", replace(PRESETS["chunks"], max_results=None)


def _row(hit: Hit, detail: Detail, text: str) -> str:
    chunk = hit.chunk
    return json.dumps(
        {
            "chunk_id": chunk.id,
            "file_path": chunk.relative_path,
            "content": text,
            "detail": detail.value,
            "start_line": chunk.start_line,
            "end_line": chunk.end_line,
            "similarity_score": hit.score,
            "distance": hit.distance,
            "kind": chunk.node_kind,
            "name": chunk.qualified_name,
            "signature": chunk.signature,
        }
    )


def _run(hits: list[Hit], options: SelectionOptions, measured: Callable[[], Measure]) -> float:
    measure = measured()
    start = time.process_time()
    select(hits, options, measure)
    return (time.process_time() - start) * 1e3


if __name__ == "__main__":
    main()
