"""A progress bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from asterism.cli.terminal import drawn
from asterism.indexing.report import Listener, Progress, SyncStage

if TYPE_CHECKING:
    # Off a terminal rich is not needed.
    from rich.progress import Progress as Bar

# Work that is done sooner needs no bar.
PATIENCE_SECONDS = 0.5

_WORDS = {
    SyncStage.listing: "Listing files",
    SyncStage.reading: "Reading",
    SyncStage.writing: "Writing",
    SyncStage.finishing: "Finishing",
    SyncStage.upgrading: "Upgrading",
}


@contextmanager
def watched_by_user() -> Iterator[Listener]:
    """Who listens to a job at the command line."""
    if not sys.stderr.isatty():
        yield Listener(_say_waiting)
        return
    bar = _Bar()
    try:
        yield Listener(bar.hear)
    finally:
        bar.close()


def _say_waiting(progress: Progress) -> None:
    """Waiting for another process is said in any case: otherwise it looks like hanging."""
    if progress.stage is SyncStage.waiting:
        sys.stderr.write(f"asterism: waiting for {progress.detail}, which is working on this.\n")


class _Bar:
    """Files, chunks, rate and remaining time of a job."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._bar: Bar | None = None
        self._stage = SyncStage.listing
        self._stage_began = self._began
        self._at_first: int | None = None

    def hear(self, progress: Progress) -> None:
        if progress.stage is SyncStage.waiting:
            _say_waiting(progress)
            return
        if progress.stage is not self._stage:
            self._stage, self._stage_began = progress.stage, time.monotonic()
        if self._bar is None and time.monotonic() - self._began < PATIENCE_SECONDS:
            return
        if self._bar is None:
            self._bar = _make_bar()
            self._bar.add_task("", total=None, rate="", chunks="")
            self._bar.start()
        seconds = time.monotonic() - self._stage_began
        if progress.stage is SyncStage.upgrading:
            # Texts that had vectors before say nothing of the speed.
            self._at_first = progress.files_done if self._at_first is None else self._at_first
            done, what = progress.files_done - self._at_first, "texts"
        else:
            done, what = progress.files_done, "files"
        rate = f"{done / seconds:,.0f} {what}/s" if seconds > 0.2 else ""
        chunks = f"{progress.chunks_done:,} chunks" if progress.chunks_done else ""
        self._bar.update(
            self._bar.task_ids[0],
            description=_WORDS[progress.stage],
            completed=progress.files_done,
            total=progress.files_total or None,
            rate=progress.detail or rate,
            chunks=chunks,
        )

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _make_bar() -> Bar:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description:<13}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[chunks]} {task.fields[rate]}"),
        TimeRemainingColumn(compact=True),
        console=Console(file=drawn(sys.stderr)),
        transient=True,
    )
