"""What looking for secrets costs: CPU time of listing and reading files, and of masking them.

    python -m benchmarks.secrets REPOSITORY… [--rounds 5]

Runs with and without the look at contents alternate, each in a process of its own; the least CPU
time of each counts, so that a busy machine changes little. "Read" is the listing and reading of all
files for a first index, without parsing or embedding. Masking is measured for all files, although
only texts that are sent to a server are masked.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.source import sniff, text
from asterism.analysis.source.discovery import discover
from asterism.config.loading import discovery_options, load
from asterism.disclosure.tokens import find_tokens, rules
from asterism.domain.errors import InputError

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
    """List and read the files; or mask their texts, which were read before the time begins."""
    if step == "without":
        sniff.secret_content = text.secret_content = _no_secret
    rules()
    begin = time.process_time()
    texts = read_all(repository)
    if step == "masking":
        decoded = [data.decode("utf-8", "replace") for data in texts]
        begin = time.process_time()
        for entry in decoded:
            find_tokens(entry)
    seconds = time.process_time() - begin
    return Measured(len(texts), sum(map(len, texts)), seconds)


def read_all(repository: Path) -> Sequence[bytes]:
    """The files as the indexer lists and reads them."""
    found = discover(str(repository.absolute()), discovery_options(load(repository.absolute()).settings))
    texts = []
    for file in found.files:
        try:
            texts.append(text.decode(text.read(f"{found.root}/{file.path}")))
        except InputError:
            continue
    return texts


def _no_secret(_name: str, _data: bytes) -> str | None:
    return None


if __name__ == "__main__":
    main()
