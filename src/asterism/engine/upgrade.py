"""Makes encoder vectors: at once for a caller, or by a background thread at low priority."""

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock, Thread, get_native_id
from time import monotonic

from asterism.config.load import upgrade_options
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.metrics import MeasuredEmbedder
from asterism.engine.status import wanted_upgrade
from asterism.engine.stores import DataDirectories, cache
from asterism.indexing.lock import upgrader
from asterism.indexing.report import SILENT, Listener, Progress, SyncStage, UpgradeReport
from asterism.indexing.upgrade import Upgrade, upgrade
from asterism.models.embed.provider import Embedder
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.catalogue.schema import Mark, mark_of
from asterism.store.chunk_table import ChunkSnapshot
from asterism.store.encoder_vectors import FILE_NAME
from asterism.store.lance.process import stay_small
from asterism.store.registry import Registered
from asterism.telemetry.events import log_event
from asterism.types.errors import AsterismError, IndexBusy, IndexMissing

LOOK_SECONDS = 2.0
"""How often it looks whether an index has changed; a look is a call of stat."""
AGAIN_SECONDS = 60.0
"""After a failure (damaged weights, a full disk) it is tried again so much later."""
SETTINGS_SECONDS = 10.0
"""How long a negative look at the settings is remembered."""
END_SECONDS = 5.0
"""How long an ending process waits for the texts that are being embedded: some 40 ms of them."""
NICENESS = 10
"""Other processes get nine times as much of a shared core."""


class Upgrader:
    """Background thread that keeps the encoder vectors of used repositories complete."""

    def __init__(self, engine: Engine, tell: Callable[[str], None] | None = None) -> None:
        """`tell` hears once what went wrong; without it the log does."""
        self._engine = engine
        self._tell = tell or _log
        self._lock = Lock()
        self._stop = Event()
        self._new = Event()
        self._thread: Thread | None = None
        self._attended: dict[str, Registered] = {}
        self._done: dict[str, tuple[Mark, object]] = {}
        self._rests: dict[str, float] = {}
        self._failures: dict[str, str] = {}

    def attend(self, registered: Registered) -> None:
        """Make what is missing from now on, if the settings want it; returns at once."""
        id_ = registered.project.id
        if id_ in self._attended or monotonic() < self._rests.get(id_, 0.0):
            return
        if self._wanted(registered) is None:
            # Reading the settings takes half a millisecond, which not every question should.
            self._rests[id_] = monotonic() + SETTINGS_SECONDS
            return
        with self._lock:
            if self._stop.is_set() or id_ in self._attended:
                return
            self._attended[id_] = registered
            self._new.set()
            if self._thread is None:
                self._thread = Thread(target=self._run, name="asterism-upgrade", daemon=True)
                self._thread.start()

    def forget(self, registered: Registered) -> None:
        """Nothing more for a project of which a repository is to be removed."""
        with self._lock:
            self._attended.pop(registered.project.id, None)

    def halt(self) -> None:
        """End, and wait for nothing."""
        self._stop.set()
        self._new.set()

    def close(self) -> None:
        """End; what was made is kept."""
        self.halt()
        if self._thread is not None:
            self._thread.join(END_SECONDS)

    def _wanted(self, registered: Registered) -> object:
        return upgrade_options(self._engine.settings_of(registered))

    def _run(self) -> None:
        lower_priority()
        while not self._stop.is_set():
            self._new.clear()
            for id_, registered in list(self._attended.items()):
                if self._stop.is_set():
                    return
                self._look(id_, registered)
            self._new.wait(LOOK_SECONDS)

    def _look(self, id_: str, registered: Registered) -> None:
        """Upgrade an index that is not what it was after the last time."""
        if monotonic() < self._rests.get(id_, 0.0):
            return
        try:
            directory, wanted = registered.project.directory, self._wanted(registered)
            if wanted is None:
                self.forget(registered)
                return
            state = (mark_of(directory), wanted)
            if self._done.get(id_) == state and (directory / FILE_NAME).exists():
                return
            # Another process is making them; one at a time is enough for a machine.
            with suppress(IndexBusy, IndexMissing), self._turn():
                if self._upgraded(id_, registered):
                    self._done[id_] = state
                    self._failures.pop(id_, None)
        except AsterismError as error:
            self._rests[id_] = monotonic() + AGAIN_SECONDS
            if self._failures.get(id_) != str(error):
                self._failures[id_] = str(error)
                self._tell(str(error))

    def _upgraded(self, id_: str, registered: Registered) -> bool:
        def stop() -> bool:
            return self._stop.is_set() or id_ not in self._attended

        questions = self._engine.questions
        report = self._engine.upgrade(
            registered,
            Listener(stop=stop),
            wait_seconds=0,
            give_way=lambda: questions.wait_for_none(self._stop),
        )
        if report.embedded or report.too_large:
            log_event(
                "upgrade",
                texts=report.texts,
                embedded=report.embedded,
                cached=report.cached,
                seconds=report.seconds,
                outcome=report.sentence,
            )
        return not report.cancelled

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One process of a user at a time, whatever the project."""
        place = self._engine.cache_place
        with suppress(OSError):
            # Where it cannot be made, the lock says so.
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with upgrader(place):
            yield


def _log(failure: str) -> None:
    log_event("upgrade", logging.WARNING, outcome=failure)


def lower_priority() -> None:
    """Lower the priority of this thread and of those it starts, on Linux."""
    # Elsewhere a priority is the whole process's.
    if sys.platform == "linux":
        with suppress(OSError):
            ours = os.getpriority(os.PRIO_PROCESS, 0)
            os.setpriority(os.PRIO_PROCESS, get_native_id(), ours + NICENESS)


POLITE_TEXTS = 2
"""Texts between two looks at who else needs the processor, side by side: 10 to 20 ms of two cores,
and never more than two."""


def upgrade_index(
    registered: Registered,
    settings: Settings,
    places: DataDirectories,
    listener: Listener = SILENT,
    wait_seconds: float = -1,
    give_way: Callable[[], None] | None = None,
) -> UpgradeReport:
    """Make the encoder vectors that an index lacks; −1 waits for another upgrade without limit.

    With `give_way` texts are embedded a few at a time, and it is called before each few.
    """
    options, wanted = wanted_upgrade(settings)
    directory = registered.project.directory
    # Without an index nothing is left behind, not even a lock.
    _version(directory)
    stay_small()

    def make_embedder() -> Embedder:
        from asterism.models.embed.encoder import EncoderEmbedder

        return MeasuredEmbedder(EncoderEmbedder(options))

    work = Upgrade(
        directory=directory,
        made_for=wanted,
        version=lambda: _version(directory),
        chunks=lambda version: _chunks(directory, version),
        embedder=make_embedder,
        cache=lambda: cache(settings, places),
    )
    if give_way is not None:
        work = replace(work, run_texts=POLITE_TEXTS, give_way=give_way)

    def waiting(holder: str) -> None:
        listener.report(Progress(SyncStage.waiting, detail=holder))

    with upgrader(directory, wait_seconds, waiting):
        return upgrade(work, listener)


def _version(directory: Path) -> int:
    with Catalogue.open(directory) as catalogue:
        return catalogue.chunks_version()


def _chunks(directory: Path, version: int) -> ChunkSnapshot:
    from asterism.store.lance.table import LanceTable

    with Catalogue.open(directory) as catalogue:
        name = catalogue.table.name
    return LanceTable.open(directory, name=name).snapshot(version)
