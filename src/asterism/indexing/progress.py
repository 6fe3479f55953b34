"""How far a job is, told to whoever listens, and the question whether to go on."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from asterism.types.errors import Cancelled


class Stage(StrEnum):
    """What a job is doing."""

    waiting = "waiting"
    listing = "listing"
    reading = "reading"
    writing = "writing"
    finishing = "finishing"
    upgrading = "upgrading"
    """The index is complete, and gets second vectors; what is counted as files are texts."""


SYNC_STAGES = (Stage.waiting, Stage.listing, Stage.reading, Stage.writing, Stage.finishing)
"""Those that indexing goes through, in their order."""


class Progress(NamedTuple):
    """How far a job is."""

    stage: Stage
    files_done: int = 0
    files_total: int = 0
    chunks_done: int = 0
    detail: str = ""


def _nobody(_progress: Progress) -> None:
    """Nobody listens."""


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
