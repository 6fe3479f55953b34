"""Choose source files over languages: `python -m training.sources.corpus ARCHIVE... --out FOLDER`.

A machine with an accelerator may reach nothing else, so what is to be mined there travels as a
few compressed shards. Each member's path begins with the name of its source.
"""

import argparse
import bz2
import hashlib
import io
import random
import re
import sys
import tarfile
import zipfile
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from multiprocessing import Pool
from pathlib import Path
from subprocess import CalledProcessError

from training.examples.mine import TEST, source_name
from training.inputs import present
from training.sources.archives import SourceFile, source_files
from training.sources.exclusions import named_like_excluded

MEGABYTE = 1_000_000
SUFFIXES_OF = {
    "python": "py pyi",
    "javascript": "js mjs cjs jsx",
    "typescript": "ts mts cts tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "kotlin": "kt kts",
    "scala": "scala sc",
    "swift": "swift",
    "csharp": "cs",
    "c": "c h",
    "cpp": "cc cpp cxx hpp hh hxx",
    "php": "php",
    "ruby": "rb rake",
    "elixir": "ex exs",
    "haskell": "hs",
    "lua": "lua",
    "zig": "zig",
    "bash": "sh bash bats",
}
LANGUAGE_OF = {
    suffix: language for language, some in SUFFIXES_OF.items() for suffix in some.split()
}
# Megabytes of source for a language; those with fewer give all that they have.
SHARE = 62
SHARES = {"python": 85, "c": 50, "haskell": 50, "javascript": 55}
PER_SOURCE = 9
# Where documentation is rare every file is welcome; elsewhere a file must have some.
ALL_WELCOME = frozenset({"bash", "lua", "elixir", "zig"})
TESTS_KEPT = 0.15
SHARD_BYTES = 43 * MEGABYTE
_DOCUMENTED = re.compile(rb'"""|\'\'\'|/\*\*|///|@doc|-- \||^\s*(?:#|//) [A-Z]', re.MULTILINE)


def _chosen(file: SourceFile, language: str, chance: random.Random) -> bool:
    if named_like_excluded(file.path):
        return False
    if TEST.search(file.path) and chance.random() > TESTS_KEPT:
        return False
    return language in ALL_WELCOME or len(_DOCUMENTED.findall(file.data)) * 2_000 > len(file.data)


class _Shards:
    def __init__(self, stem: Path) -> None:
        self._stem, self._number = stem, 0
        self._open()

    def _open(self) -> None:
        self._path = self._stem.with_name(f"{self._stem.name}-{self._number}.tar.bz2")
        self._closing = ExitStack()
        self._file = self._closing.enter_context(self._path.open("wb"))
        packed = self._closing.enter_context(bz2.BZ2File(self._file, "w"))
        self._tar = self._closing.enter_context(tarfile.TarFile(fileobj=packed, mode="w"))

    def add(self, path: str, data: bytes) -> None:
        about = tarfile.TarInfo(path)
        about.size = len(data)
        self._tar.addfile(about, io.BytesIO(data))
        if self._file.tell() > SHARD_BYTES:
            self.close()
            self._number += 1
            self._open()

    def close(self) -> None:
        self._closing.close()


def _pack(task: tuple[Sequence[Path], Path, int]) -> Counter[str]:
    archives, stem, processes = task
    seen: set[bytes] = set()
    taken: Counter[str] = Counter()
    shards = _Shards(stem)
    for archive in archives:
        source = source_name(archive)
        chance = random.Random(source)
        here: Counter[str] = Counter()
        try:
            files = [file for file in source_files(archive) if LANGUAGE_OF.get(_suffix(file.path))]
        except (
            OSError,
            EOFError,
            tarfile.TarError,
            zipfile.BadZipFile,
            CalledProcessError,
        ) as error:
            sys.stderr.write(f"{source}: {error}\n")
            continue
        chance.shuffle(files)
        for file in files:
            language = LANGUAGE_OF[_suffix(file.path)]
            size = len(file.data)
            room = SHARES.get(language, SHARE) * MEGABYTE / processes
            if taken[language] + size > room or here[language] + size > PER_SOURCE * MEGABYTE:
                continue
            digest = hashlib.blake2b(file.data, digest_size=8).digest()
            if digest in seen or not _chosen(file, language, chance):
                continue
            seen.add(digest)
            shards.add(f"{source}/{file.path}", file.data)
            taken[language] += size
            here[language] += size
        sys.stderr.write(f"{source} {sum(here.values()) // 1000} kB\n")
    shards.close()
    return taken


def _suffix(path: str) -> str:
    return path.rsplit(".", 1)[-1].lower()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the shards."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archives", nargs="+", type=present)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    archives = sorted(options.archives)
    random.Random(0).shuffle(archives)
    count = options.processes
    tasks = [(archives[n::count], options.out / f"shard{n}", count) for n in range(count)]
    total: Counter[str] = Counter()
    with Pool(count) as pool:
        for taken in pool.imap_unordered(_pack, tasks):
            total += taken
    for language, size in total.most_common():
        sys.stderr.write(f"{language} {size / MEGABYTE:.1f} MB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
