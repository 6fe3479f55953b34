"""The watcher: file events in, syncs out, with a record of what it last saw."""

import json
import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from threading import Event
from typing import NamedTuple

from asterism.indexing.report import SyncReport
from asterism.types.errors import AsterismError, PathMissing, PathUnreadable
from asterism.types.files import display_path
from asterism.types.processes import process_exists

# Files that change what counts, wherever they stand.
RULE_FILES = frozenset({".gitignore", ".asterismignore", "asterism.toml", "exclude"})

# How often a quiet watcher looks whether it should stop or its root is gone.
IDLE_MS = 500

# After a failed sync (a provider that is down, a full disk) it is tried again so much later.
RETRY_SECONDS = 30.0


class Outcome(StrEnum):
    """How a watcher's sync ended."""

    nothing = "nothing"
    done = "done"
    failed = "failed"


@dataclass(frozen=True, slots=True)
class WatchState:
    """What a watcher last saw, as status shows it."""

    pid: int
    started: float
    last_event: float = 0.0
    events: int = 0
    syncs: int = 0
    sentence: str = ""
    outcome: str = Outcome.nothing

    @property
    def running(self) -> bool:
        """Whether the watcher's process is still there."""
        return process_exists(self.pid)


class Watched(NamedTuple):
    """What is watched, and what to do about it."""

    root: str
    sync: Callable[[], SyncReport]
    """Brings the index up to date and says what it did."""
    left_out: Callable[[], Collection[str]]
    """Relative paths that are never indexed; a directory ends in `/` and includes everything
    below it. Events there are ignored."""


@dataclass
class Watcher:
    """Watches one repository until it is told to stop."""

    watched: Watched
    debounce_ms: int
    record: Callable[[WatchState], None]
    stop: Event = field(default_factory=Event)
    state: WatchState = field(default_factory=lambda: WatchState(os.getpid(), time.time()))
    retry_seconds: float = RETRY_SECONDS
    _folders_out: tuple[str, ...] = ()
    _files_out: frozenset[str] = frozenset()
    _retry_at: float | None = None

    def run(self) -> Iterator[WatchState]:
        """Sync at once and after each burst of events; yields after each sync."""
        for count in self._bursts():
            if not Path(self.watched.root).is_dir():
                raise PathMissing(
                    f"{display_path(self.watched.root)} is gone; nothing is left to watch."
                )
            due = self._retry_at is not None and time.monotonic() >= self._retry_at
            if count or due or not self.state.syncs:
                yield self._sync(count)

    def _bursts(self) -> Iterator[int]:
        """How many events came, once they pause; 0 now and then in between."""
        while not self.stop.is_set():
            try:
                yield from self._one_watch()
            # The second is what the library raises where the system's own error has no number.
            except (OSError, RuntimeError) as error:
                raise PathUnreadable(
                    f"{display_path(self.watched.root)} cannot be watched: {error}. If the "
                    "system's limit of watches is reached, raise fs.inotify.max_user_watches."
                ) from error

    def _one_watch(self) -> Iterator[int]:
        """Counts of events, until the end or until the root is replaced by another directory.

        The first 0 comes when the watch stands, so nothing falls between it and the first sync.
        """
        from watchfiles import watch

        watched = _identity(self.watched.root)
        if watched is None:
            yield 0
            return
        for events in watch(
            self.watched.root,
            watch_filter=None,
            # Without a pause the library would not wait for events at all.
            step=max(1, self.debounce_ms),
            debounce=max(1, 5 * self.debounce_ms),
            rust_timeout=IDLE_MS,
            yield_on_timeout=True,
            stop_event=self.stop,
            ignore_permission_denied=True,
        ):
            yield sum(self._counts(path) for _change, path in events)
            if _identity(self.watched.root) != watched:
                # The system goes on watching the old directory, where nothing will happen.
                self._retry_at = time.monotonic()
                return

    def _sync(self, count: int) -> WatchState:
        try:
            report = self.watched.sync()
            self._leave_out(self.watched.left_out())
            sentence = report.sentence
            outcome = Outcome.done if report.did_something else Outcome.nothing
            self._retry_at = None
        except AsterismError as error:
            sentence, outcome = str(error), Outcome.failed
            self._retry_at = time.monotonic() + self.retry_seconds
        self.state = replace(
            self.state,
            last_event=time.time() if count else self.state.last_event,
            events=self.state.events + count,
            syncs=self.state.syncs + 1,
            sentence=sentence,
            outcome=outcome,
        )
        self.record(self.state)
        return self.state

    def _leave_out(self, paths: Collection[str]) -> None:
        self._folders_out = tuple(path for path in paths if path.endswith("/"))
        self._files_out = frozenset(path for path in paths if not path.endswith("/"))

    def _counts(self, path: str) -> bool:
        """Whether an event may change the index."""
        relative = os.path.relpath(path, self.watched.root).replace(os.sep, "/")
        if relative.rpartition("/")[2] in RULE_FILES:
            return True
        if relative in self._files_out:
            return False
        return not f"{relative}/".startswith(self._folders_out)


def _identity(root: str) -> tuple[int, int] | None:
    """What tells a directory from another that took its place."""
    try:
        facts = Path(root).stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def save_watch(file: Path, state: WatchState) -> None:
    """Leave the record where status finds it; a watcher without a record is still a watcher."""
    values = {name: getattr(state, name) for name in WatchState.__slots__}
    beside = file.with_suffix(".new")
    with suppress(OSError):
        beside.write_text(json.dumps(values), encoding="utf-8")
        beside.replace(file)


def load_watch(file: Path) -> WatchState | None:
    """The record of a watcher, if there is one."""
    try:
        if not file.is_file():
            return None
        return WatchState(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
