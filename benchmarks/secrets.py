"""What looking for secrets costs: its share of reading a repository, and the speed of masking.

    python -m benchmarks.secrets REPOSITORY… [--rounds 5]

Runs with and without the look at contents alternate, each in a process of its own; the least CPU
time of each counts, so that a busy machine changes little. "Read" is the listing, reading and
cutting into chunks of all files, the part of a first index before embedding. Masking is measured
for all files, although only texts that are sent to a server are masked.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.contents import read_chunks
from asterism.analysis.source import names, text
from asterism.analysis.source.discovery import discover
from asterism.config.load import discovery_options, load
from asterism.disclosure.tokens import find_tokens, rules
from asterism.types.errors import InputError

STEPS = ("with", "without", "masking")


class Measured(NamedTuple):
    """What one run of one step took."""

    files: int
    characters: int
    seconds: float


def main() -> None:
    """Measure each repository, and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(measure(options.repositories[0], options.step)))
        return
    print("| repository | files | read without | read with | ratio | masking |")
    print("| --- | --- | --- | --- | --- | --- |")
    for repository in options.repositories:
        print(row(repository, options.rounds))


def row(repository: Path, rounds: int) -> str:
    """A line of the table."""
    best: dict[str, Measured] = {}
    for _ in range(rounds):
        for step in STEPS:
            found = in_a_process(repository, step)
            if step not in best or found.seconds < best[step].seconds:
                best[step] = found
    plain, looked, masked = best["without"], best["with"], best["masking"]
    speed = masked.characters / 1e6 / masked.seconds
    cells = (
        repository.resolve().name,
        f"{looked.files:,}",
        f"{plain.seconds:.3f} s",
        f"{looked.seconds:.3f} s",
        f"{looked.seconds / plain.seconds:.3f}",
        f"{speed:.1f} MB/s",
    )
    return f"| {' | '.join(cells)} |"


def in_a_process(repository: Path, step: str) -> Measured:
    """One run by itself: nothing that another one has cached makes it faster."""
    command = [sys.executable, "-m", "benchmarks.secrets", str(repository), "--step", step]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    return Measured(*json.loads(done.stdout))


def measure(repository: Path, step: str) -> Measured:
    """Read the repository; or mask its texts, which were read before the time begins."""
    if step == "without":
        for module in (names, text):
            setattr(module, "secret_content", _no_secret)  # noqa: B010 - not exported by them
    if step != "masking":
        begin = time.process_time()
        texts = read_all(repository)
        return _measured(texts, time.process_time() - begin)
    texts = read_all(repository)
    rules()
    begin = time.process_time()
    for entry in texts:
        find_tokens(entry)
    return _measured(texts, time.process_time() - begin)


def _measured(texts: Sequence[str], seconds: float) -> Measured:
    return Measured(len(texts), sum(map(len, texts)), seconds)


def read_all(repository: Path) -> Sequence[str]:
    """The texts of the files, each listed, read and cut into chunks as for an index."""
    found = discover(
        str(repository.absolute()), discovery_options(load(repository.absolute()).settings)
    )
    texts = []
    for file in found.files:
        try:
            reading = read_chunks(f"{found.root}/{file.path}", file.path, "measured")
        except InputError:
            continue
        texts.append(reading.source.decode("utf-8", "replace"))
    return texts


def _no_secret(_name: str, _data: bytes) -> str | None:
    return None


if __name__ == "__main__":
    main()
