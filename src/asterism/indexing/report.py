"""What a sync reports: its progress while it runs, then what it did, in numbers and a sentence."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from asterism.disclosure.places import MaskedTokens
from asterism.types.errors import Cancelled
from asterism.types.index import Staleness


class SyncStage(StrEnum):
    """What a job is doing."""

    waiting = "waiting"
    listing = "listing"
    reading = "reading"
    writing = "writing"
    finishing = "finishing"
    upgrading = "upgrading"
    """The index is complete; encoder vectors are made, and texts are counted as files."""


SYNC_STAGES = (
    SyncStage.waiting,
    SyncStage.listing,
    SyncStage.reading,
    SyncStage.writing,
    SyncStage.finishing,
)
"""Those that indexing goes through, in their order."""


class Progress(NamedTuple):
    """How far a job is."""

    stage: SyncStage
    files_done: int = 0
    files_total: int = 0
    chunks_done: int = 0
    detail: str = ""


def _nobody(_progress: Progress) -> None:
    """Ignores progress."""


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Listener:
    """Who hears of progress, and who may say stop."""

    hear: Callable[[Progress], None] = _nobody
    stop: Callable[[], bool] = _never

    def report(self, progress: Progress) -> None:
        """Tell how far it is; raise Cancelled if that is enough."""
        self.hear(progress)
        if self.stop():
            raise Cancelled("Stopped as asked; what was done is kept, the next run goes on there.")


SILENT = Listener()


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeReport:
    """What was done."""

    model: str
    texts: int = 0
    """Different texts that the index has."""
    embedded: int = 0
    cached: int = 0
    """Vectors found in the user's cache."""
    dropped: int = 0
    """Vectors of texts that are no longer there."""
    too_large: int = 0
    """How many chunks the index has, where they are too many."""
    cancelled: bool = False
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def sentence(self) -> str:
        """What happened."""
        if self.too_large:
            return (
                f"No vectors of {self.model} were made: {self.too_large:,} chunks are more than "
                "can be compared in memory; the built-in model goes on answering."
            )
        if self.cancelled:
            return f"Stopped: vectors of {self.model} that were made are kept; run it again."
        how = [f"{self.embedded:,} made"] if self.embedded else []
        how += [f"{self.cached:,} from the cache"] if self.cached else []
        made = f" ({', '.join(how)})" if how else ""
        return f"All {self.texts:,} texts have vectors of {self.model}{made}."


NOTHING_MATCHED = (
    "No files matched: nothing here can be indexed; `asterism files PATH --skipped` says why."
)


@dataclass(slots=True)
class SyncAccount:
    """What was written and where vectors came from; grows batch by batch."""

    chunks: int = 0
    wrote: bool = False
    """Whether any row was added or removed."""
    embedded: int = 0
    cached: int = 0
    """Vectors found in the user's cache."""
    reused: int = 0
    """Vectors that the index itself had."""
    masked: MaskedTokens = field(default_factory=MaskedTokens)
    """Tokens in the texts that were sent to a server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """The account of one sync; a dry run says what it would do."""

    before: Staleness
    files: int = 0
    """How many files the index has now, or would have."""
    added: int = 0
    changed: int = 0
    removed: int = 0
    touched: int = 0
    """Known files with other times or size but the same content."""
    unchanged: int = 0
    parsed: int = 0
    reread: int = 0
    """Unchanged files that were parsed again because something they quote changed."""
    chunks_written: int = 0
    chunks_total: int = 0
    embedded: int = 0
    cached: int = 0
    reused: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    """Files that were listed and could not be read."""
    warnings: tuple[str, ...] = ()
    """What went wrong without stopping the sync, and what was masked."""
    masked: tuple[str, ...] = ()
    """The sentences on what was masked, by themselves."""
    cancelled: bool = False
    rebuilt: bool = False
    """Whether the index was built anew."""
    dry_run: bool = False
    seconds: float = 0.0

    @property
    def did_something(self) -> bool:
        """Whether any row was written or removed."""
        return bool(self.added or self.changed or self.removed or self.chunks_written)

    @property
    def sentence(self) -> str:
        """What happened."""
        if self.dry_run:
            return _dry(self)
        if self.cancelled and self.rebuilt:
            return "Stopped: the index is what it was before; run it again to build it anew."
        if self.cancelled:
            return (
                f"Stopped: {_count(self.files, 'file')} {_are(self.files)} indexed so far; "
                "run it again to go on."
            )
        if not self.files and not self.removed:
            return NOTHING_MATCHED
        if not self.did_something:
            return f"Nothing to do: {_unchanged(self)}."
        return f"{_what(self)}: {_rows(self)}." if self.chunks_written else f"{_what(self)}."


def _dry(report: SyncReport) -> str:
    if not report.files and not report.removed:
        return NOTHING_MATCHED
    if not (report.added or report.changed or report.removed):
        return f"Nothing would be done: {_unchanged(report)}."
    if report.before is Staleness.missing:
        return f"{_count(report.added, 'file')} would be indexed; nothing was written."
    return f"{_what(report)}; nothing was written."


def _unchanged(report: SyncReport) -> str:
    if report.files == 1:
        return "the one file is as it was"
    return f"all {report.files:,} files are as they were"


def _what(report: SyncReport) -> str:
    if report.before is Staleness.missing:
        anew = " anew" if report.rebuilt else ""
        return f"Indexed {_count(report.added, 'file')}{anew}"
    parts = [
        f"{count:,} {word}"
        for count, word in (
            (report.added, "added"),
            (report.changed, "changed"),
            (report.removed, "removed"),
        )
        if count
    ]
    if not parts:
        parts = [f"{report.parsed:,} read again"]
    return f"Files: {', '.join(parts)}"


def _rows(report: SyncReport) -> str:
    made = [f"{report.embedded:,} embedded"] if report.embedded else []
    known = report.cached + report.reused
    made += [f"{known:,} known already"] if known else []
    how = f" ({', '.join(made)})" if made else ""
    return f"{_count(report.chunks_written, 'chunk')} written{how}"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
