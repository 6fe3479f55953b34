"""Snapshots of random symbols of real repositories: whole, complete, and nothing more.

    python -m benchmarks.snapshots --count 500 REPOSITORY…

Each is parsed, and checked against a walk over the leaves of the file's tree that shares nothing
with the code that chose what to show: names of the file's own imports, constants and types that
the target names must be in the snapshot, and everything in it must be named elsewhere in it. For
Python the language's own parser and symbol tables say exactly which names are used.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.source.discovery import discover
from asterism.analysis.source.text import decode, is_binary
from asterism.analysis.syntax.language import detect
from asterism.analysis.syntax.outlines import outline
from asterism.reply.snapshots import Snapshot, snapshot
from asterism.types.outline import Outline
from tests.reply.snapshot_checks import faults

# Small files say little and huge ones are generated.
SIZES = range(200, 400_000)


class Sample(NamedTuple):
    """One random symbol."""

    outline: Outline
    source: bytes
    target: int


def main() -> int:
    """Print failures, and a table by language."""
    arguments = _arguments()
    chosen = random.Random(arguments.seed)
    counts: dict[str, Counter[str]] = {}
    for sample in _samples(arguments.repositories, arguments.count, chosen, arguments.languages):
        counter = counts.setdefault(sample.outline.language, Counter())
        before = time.process_time()
        made = snapshot(sample.outline, sample.source, [sample.target])
        counter["µs"] += int((time.process_time() - before) * 1e6)
        counter["count"] += 1
        counter[made.form] += 1
        if arguments.verbose and made.form != "pruned":
            _show(sample, made, "form", "")
        counter["chars"] += len(made.text)
        target = sample.outline.items[sample.target]
        counter["own"] += target.span.end - target.span.start
        for fault in faults(sample.outline, sample.source, made):
            counter[fault.kind] += 1
            if arguments.verbose:
                _show(sample, made, fault.kind, fault.message)
    _table(counts)
    return 0


def _samples(
    roots: Sequence[Path], count: int, chosen: random.Random, languages: Sequence[str]
) -> Iterator[Sample]:
    """`count` symbols of each language, at most three of one file."""
    files: dict[str, list[tuple[Path, str]]] = {}
    for root in roots:
        for path in _files(root):
            entry = detect(path)
            if ":" in entry.home and (not languages or entry.language in languages):
                files.setdefault(entry.language, []).append((root / path, path))
    for language in sorted(files):
        left = count
        chosen.shuffle(files[language])
        for place, path in files[language]:
            data = place.read_bytes()
            if len(data) not in SIZES or is_binary(data):
                continue
            source = decode(data)
            found = outline(path, source)
            symbols = [index for index, _item in found.symbols()]
            if found.problems or not symbols:
                continue
            for index in chosen.sample(symbols, min(3, left, len(symbols))):
                left -= 1
                yield Sample(found, source, index)
            if not left:
                break


def _files(root: Path) -> Iterator[str]:
    for entry in discover(str(root)).files:
        yield entry.path


def _show(sample: Sample, made: Snapshot, kind: str, message: str) -> None:
    target = sample.outline.items[sample.target]
    place = f"{sample.outline.path}:{target.start_line}"
    sys.stdout.write(f"{kind}: {place} {target.qualified_name}: {message} ({made.form})\n")


def _table(counts: dict[str, Counter[str]]) -> None:
    names = ("unparsed", "missing", "unused", "twice")
    forms = ("pruned", "whole_imports", "whole_items", "whole_file")
    head = ["language", "symbols", *names, *forms, "ms each", "chars", "of target"]
    sys.stdout.write(" | ".join(head) + "\n")
    for language, counter in sorted(counts.items()):
        count = counter["count"]
        row = [language, count, *(counter[name] for name in (*names, *forms))]
        row += [f"{counter['µs'] / count / 1000:.1f}", counter["chars"] // count]
        row += [f"{counter['chars'] / max(1, counter['own']):.2f}"]
        sys.stdout.write(" | ".join(map(str, row)) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=100, help="symbols of each language")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--languages", nargs="*", default=[])
    parser.add_argument("--verbose", action="store_true", help="print each failure")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
