"""Runs the cases of a target in a process of its own, which may hang or die of one."""

import hashlib
import mmap
import os
import re
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from tests.fuzz.reduction import reduced
from tests.fuzz.target import Check, Target, mishap, signature_of, target_of

NOTE_BYTES = 4 * 1024 * 1024
"""Bytes for the case in work; a longer one is cut, and can be made again from its seed."""
_HEADER = struct.Struct("<QQQ")
SMALLER_SECONDS = 120.0
"""CPU seconds that making one case smaller may take: a slow case is kept as large as it is then."""
SHOWN = 20
"""Complaints about one case that are kept."""


class Batch(NamedTuple):
    """Cases to run: those of one seed, without the first few."""

    number: int
    seed: str
    cases: int
    skipped: int = 0


class Finding(NamedTuple):
    """A case that should not have gone the way it went."""

    kind: str
    """`complaint`, `crash` or `hang`."""
    complaints: tuple[str, ...]
    data: bytes
    small: bytes
    place: str
    """The seed and the number of the case."""

    @property
    def signature(self) -> str:
        """What tells mistakes apart."""
        return signature_of(self.complaints[0])


class Done(NamedTuple):
    """What a worker reports of a batch."""

    batch: Batch
    cases: int
    findings: list[Finding]
    """The first of each signature."""
    counts: Counter[str]
    peak_mb: int


class Note:
    """The case in work, in a file that outlives the process."""

    def __init__(self, path: Path) -> None:
        size = _HEADER.size + NOTE_BYTES
        if not path.exists() or path.stat().st_size != size:
            path.write_bytes(bytes(size))
        self._file = path.open("r+b")
        self._map = mmap.mmap(self._file.fileno(), 0)
        self._checks = 0

    def write(self, position: int, data: bytes) -> None:
        """Note that this case begins, or a smaller form of it."""
        kept = data[:NOTE_BYTES]
        self._checks += 1
        self._map[_HEADER.size : _HEADER.size + len(kept)] = kept
        self._map[: _HEADER.size] = _HEADER.pack(position, self._checks, len(kept))

    def read(self) -> tuple[int, int, bytes]:
        """The number of the last case that began, how many checks began, and what is checked."""
        position, checks, size = _HEADER.unpack(self._map[: _HEADER.size])
        return position, checks, self._map[_HEADER.size : _HEADER.size + size]

    def close(self) -> None:
        """Let go of the file."""
        self._map.close()
        self._file.close()


def work(name: str, folder: str, note_path: str, line: Connection) -> None:
    """Run batches until the line ends. What is printed is read for tracebacks."""
    output = Path(folder) / f"output-{os.getpid()}.txt"
    _redirect(output)
    target, note = target_of(name), Note(Path(note_path))
    _end_with(os.getppid())
    with tempfile.TemporaryDirectory(dir=folder) as place, target.opened(Path(place)) as check:
        line.send("ready")
        known: set[str] = set()
        with suppress(EOFError):
            while batch := line.recv():
                line.send(_run(target, check, batch, note, output, known))


def _end_with(parent: int) -> None:
    """End soon after the driver has ended, whatever is being worked on."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    Thread(target=look, daemon=True).start()


def complaints_of(check: Check, data: bytes) -> list[str]:
    """The complaints about one case, exceptions included."""
    try:
        return check(data)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - panics of native code are no Exceptions
        return [mishap(error)]


def _run(
    target: Target, check: Check, batch: Batch, note: Note, output: Path, known: set[str]
) -> Done:
    findings: list[Finding] = []
    counts: Counter[str] = Counter()
    cases = islice(target.cases(batch.seed, batch.cases), batch.skipped, None)
    done, peak = 0, _peak_mb()
    for position, data in enumerate(cases, batch.skipped):
        note.write(position + 1, data)
        done += 1
        complaints = complaints_of(check, data)
        before, peak = peak, _peak_mb()
        if peak - before > target.case_mb:
            complaints.append(f"one case took {peak - before} MB of memory")
        if not complaints:
            continue
        signature = signature_of(complaints[0])
        counts[signature] += 1
        if signature not in known:
            known.add(signature)
            found = Finding(
                "complaint", tuple(complaints), data, data, f"{batch.seed} case {position}"
            )
            # Now already: a smaller form of it may hang or kill this process.
            keep(found, output.parent)
            shows = partial(_shows, check, signature, note, position + 1)
            small = reduced(data, _for_a_while(shows), target.tries)
            findings.append(found._replace(small=small))
    for text in (*_printed(output), *_memory(target, peak)):
        counts[signature_of(text)] += 1
        findings.append(Finding("complaint", (text,), b"", b"", f"{batch.seed}, some case"))
    note.write(0, b"")
    return Done(batch, done, findings, counts, peak)


def keep(finding: Finding, folder: Path) -> None:
    """The case, its smaller form and what was complained of, as three files."""
    home = folder / "findings"
    home.mkdir(exist_ok=True)
    name = hashlib.sha256(finding.signature.encode()).hexdigest()[:10]
    if finding.kind != "complaint":
        name = f"{finding.kind}-{hashlib.sha256(finding.data).hexdigest()[:10]}"
    (home / f"{name}.input").write_bytes(finding.data)
    (home / f"{name}.small").write_bytes(finding.small)
    text = "\n".join((finding.place, *finding.complaints[:SHOWN], ""))
    (home / f"{name}.txt").write_text(text, encoding="utf-8", errors="backslashreplace")


def _for_a_while(shows: Callable[[bytes], bool]) -> Callable[[bytes], bool]:
    """Nothing shows a mistake any more when the time for making cases smaller is over."""
    end = time.process_time() + SMALLER_SECONDS
    return lambda data: time.process_time() < end and shows(data)


def _shows(check: Check, signature: str, note: Note, position: int, data: bytes) -> bool:
    note.write(position, data)
    return any(signature_of(text) == signature for text in complaints_of(check, data))


def _printed(output: Path) -> list[str]:
    """Tracebacks in what the process wrote, on its streams or by itself."""
    sys.stderr.flush()
    text = output.read_text(encoding="utf-8", errors="replace")
    with output.open("r+b") as file:
        file.truncate(0)
    at = text.find("Traceback (most recent call last)")
    return [f"printed a traceback\n{text[at : at + 4_000]}"] if at >= 0 else []


def _memory(target: Target, peak: int) -> list[str]:
    if peak <= target.memory_mb:
        return []
    return [f"reached {peak} MB of memory, more than {target.memory_mb} MB"]


def _peak_mb() -> int:
    with suppress(OSError):
        # What `getrusage` tells begins with the peak of the process that started this one.
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        if found := re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE):
            return int(found[1]) // 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // (1024 * 1024 if sys.platform == "darwin" else 1024)


def _redirect(output: Path) -> None:
    """Both streams, those of native code included, go to a file."""
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)
