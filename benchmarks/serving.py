"""A server of our own to measure: a process with indexes of its own, asked over HTTP."""

import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_ROOT = Path(__file__).resolve().parents[1]
_WORDS = re.compile(r"[a-z]{4,}")


class Served(NamedTuple):
    """Where the server is, and its process."""

    address: str
    pid: int

    def megabytes(self) -> float:
        """What it holds in memory, its helpers not counted."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        found = re.search(r"VmRSS:\s+(\d+)", status)
        return int(found[1]) / 1024 if found else 0.0

    def cpu_seconds(self) -> float:
        """What it has computed so far."""
        fields = (
            Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        )
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(repository: Path, folder: Path) -> Iterator[Served]:
    """Index a repository and serve it; everything is kept in the folder."""
    environment = {
        **os.environ,
        "ASTERISM_DATA_DIR": str(folder / "data"),
        "ASTERISM_CACHE_DIR": str(folder / "cache"),
        "ASTERISM_LOG_LEVEL": "error",
        "PYTHONPATH": str(_ROOT / "src"),
    }
    asterism = [sys.executable, "-m", "asterism.cli"]
    index = [*asterism, "index", str(repository)]
    subprocess.run(index, env=environment, check=True, stdout=subprocess.DEVNULL)
    process = subprocess.Popen(
        [*asterism, "serve", str(repository), "--port", "0"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        found = re.search(r"Serving on (http://[\d.:]+\d)", process.stdout.readline())
        assert found is not None, "the server did not say where it listens"
        yield Served(found[1], process.pid)
    finally:
        process.terminate()
        process.wait(60)


def questions(repository: Path, count: int, seed: int = 1) -> list[str]:
    """Questions out of a repository's own words: three that stand together in a file."""
    chance = random.Random(seed)
    files = sorted(
        file
        for file in repository.rglob("*")
        if file.is_file()
        and file.suffix in {".py", ".ts", ".go", ".rs", ".java", ".kt", ".c", ".rb"}
    )
    made: list[str] = []
    while len(made) < count:
        words = _WORDS.findall(chance.choice(files).read_text("utf-8", "replace").lower())
        if len(words) > 20:
            start = chance.randrange(len(words) - 10)
            made.append(" ".join(dict.fromkeys(words[start : start + 4])))
    return made


def percentile(times: list[float], share: float) -> float:
    """The time that this share of all stays under, in milliseconds."""
    return sorted(times)[min(len(times) - 1, int(share * len(times)))] * 1000
