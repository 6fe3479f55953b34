"""Gives batches to worker processes, notices those that hang or die, and keeps what was found."""

import contextlib
import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.fuzz.target import Target, target_of
from tests.fuzz.worker import Batch, Done, Finding, Note, work

LOOK_SECONDS = 2.0
"""How often the watchdog looks at the workers."""
WALL_FACTOR = 10
"""A worker that uses no CPU hangs too, after so many times the deadline."""
START_SECONDS = 600.0
"""A worker that is not ready by then never will be."""
SHOWN = 20


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is run, from which seed, and where results are kept."""

    target: str
    runs: int
    seed: str
    jobs: int
    folder: Path


@dataclass(slots=True)
class Account:
    """What has been done so far."""

    cases: int = 0
    complaints: int = 0
    crashes: int = 0
    hangs: int = 0
    peak_mb: int = 0
    finished: set[int] = field(default_factory=set)
    """Numbers of finished batches."""
    signatures: Counter[str] = field(default_factory=Counter)

    @property
    def found(self) -> int:
        """Cases that went wrong."""
        return self.complaints + self.crashes + self.hangs

    def read(self, path: Path) -> None:
        """Go on from what an earlier run has written."""
        if not path.exists():
            return
        kept = json.loads(path.read_text(encoding="utf-8"))
        for name in ("cases", "complaints", "crashes", "hangs", "peak_mb"):
            setattr(self, name, kept[name])
        self.finished = {*range(kept["through"]), *kept["beyond"]}
        self.signatures = Counter(kept["signatures"])

    def write(self, path: Path) -> None:
        """Keep it for a later run."""
        through = 0
        while through in self.finished:
            through += 1
        kept = {
            **{name: getattr(self, name) for name in ("cases", "complaints", "crashes", "hangs")},
            "peak_mb": self.peak_mb,
            "through": through,
            "beyond": sorted(number for number in self.finished if number > through),
            "signatures": self.signatures,
        }
        new = path.with_suffix(".new")
        new.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        new.replace(path)


def run(plan: Plan, told: Callable[[Account], None] = lambda _account: None) -> Account:
    """Run what an earlier run of the same plan has not finished; `told` hears of progress."""
    target = target_of(plan.target)
    folder = plan.folder / plan.target
    folder.mkdir(parents=True, exist_ok=True)
    account, state = Account(), folder / f"progress-{plan.seed}.json"
    account.read(state)
    todo = _batches(plan, target, account.finished)
    # No more workers than batches: each takes a while to start.
    pending = len(range(0, plan.runs, target.batch)) - len(account.finished)
    workers = [_Worker(plan.target, folder, n) for n in range(max(1, min(plan.jobs, pending)))]
    try:
        for worker in workers:
            worker.give(next(todo, None))
        while any(worker.batch for worker in workers):
            wait([worker.line for worker in workers if worker.batch], LOOK_SECONDS)
            for worker in workers:
                if worker.batch is not None and _looked_at(worker, target, folder, account):
                    worker.give(next(todo, None))
                    account.write(state)
            told(account)
    finally:
        for worker in workers:
            worker.end()
    return account


def _batches(plan: Plan, target: Target, finished: set[int]) -> Iterator[Batch]:
    for number, first in enumerate(range(0, plan.runs, target.batch)):
        if number not in finished:
            count = min(target.batch, plan.runs - first)
            yield Batch(number, f"{plan.target}-{plan.seed}-{number}", count)


class _Worker:
    """One process, with the case that it works on."""

    def __init__(self, target: str, folder: Path, number: int) -> None:
        self._target, self._folder = target, folder
        self._note_path = folder / f"note-{number}.bin"
        self.note = Note(self._note_path)
        self.batch: Batch | None = None
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        self.line, theirs = context.Pipe()
        self.note.write(0, b"")
        self.process: BaseProcess = context.Process(
            target=work,
            args=(self._target, str(self._folder), str(self._note_path), theirs),
            daemon=False,
        )
        self.process.start()
        theirs.close()
        with contextlib.suppress(EOFError):
            if self.line.poll(START_SECONDS) and self.line.recv() == "ready":
                self._position, self._since = 0, _spent(self.process)
                return
        said = self._folder / f"output-{self.process.pid}.txt"
        text = said.read_text(errors="replace") if said.exists() else ""
        raise RuntimeError(f"the worker for {self._target} did not start\n{text[-3_000:]}")

    def give(self, batch: Batch | None) -> None:
        """The next batch; nothing lets the process end."""
        self.batch = batch
        if batch is not None:
            self._position, self._since = -1, _spent(self.process)
        self.line.send(batch)

    def hangs(self, deadline: float) -> bool:
        """Whether the case in work has been worked on for longer than the deadline."""
        position, _ = self.note.read()
        now = _spent(self.process)
        if position != self._position:
            self._position, self._since = position, now
        cpu, wall = now[0] - self._since[0], now[1] - self._since[1]
        return cpu > deadline or wall > WALL_FACTOR * deadline

    def again(self) -> None:
        """A new process in place of one that is dead or must die."""
        self.process.kill()
        self.process.join()
        self.line.close()
        self._start()

    def end(self) -> None:
        """Let the process go."""
        with contextlib.suppress(OSError):
            self.line.send(None)
        self.process.join(START_SECONDS if self.batch is None else 0)
        self.process.kill()
        self.process.join()
        self.line.close()
        self.note.close()


def _spent(process: BaseProcess) -> tuple[float, float]:
    """CPU seconds of a process, where the system tells, and the time."""
    try:
        text = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii", errors="replace")
        fields = text.rpartition(")")[2].split()
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        cpu = 0.0
    return cpu, time.monotonic()


def _looked_at(worker: _Worker, target: Target, folder: Path, account: Account) -> bool:
    """Whether the worker has finished its batch; a hang or crash is noted, and it goes on."""
    assert worker.batch is not None
    try:
        if worker.line.poll():
            done: Done = worker.line.recv()
            _take(done, folder, account)
            return True
        if not worker.hangs(target.deadline):
            return False
        kind, why = "hang", f"hangs: over {target.deadline:.0f} CPU seconds"
    except (EOFError, OSError):
        worker.process.join()
        kind, why = "crash", f"died with exit code {worker.process.exitcode}"
    position, data = worker.note.read()
    batch = worker.batch
    place = f"{batch.seed} case {position - 1}"
    _keep(Finding(kind, (why,), data, data, place), folder)
    account.hangs += kind == "hang"
    account.crashes += kind == "crash"
    account.signatures[why] += 1
    account.cases += max(0, position - batch.skipped)
    worker.again()
    worker.give(batch._replace(skipped=position))
    return False


def _take(done: Done, folder: Path, account: Account) -> None:
    account.cases += done.cases
    account.complaints += sum(done.counts.values())
    account.peak_mb = max(account.peak_mb, done.peak_mb)
    account.finished.add(done.batch.number)
    account.signatures.update(done.counts)
    for finding in done.findings:
        _keep(finding, folder)


def _keep(finding: Finding, folder: Path) -> None:
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


def progress_line(plan: Plan, account: Account, rate: float) -> str:
    """How far a run is."""
    left = (plan.runs - account.cases) / rate if rate else 0.0
    return (
        f"{plan.target}: {account.cases:,} of {plan.runs:,} cases, {rate:,.0f}/s, "
        f"{account.crashes} crashes, {account.hangs} hangs, {account.complaints} complaints "
        f"({len(account.signatures)} kinds), {account.peak_mb:,} MB at most, "
        f"{left / 60:,.0f} min to go"
    )
