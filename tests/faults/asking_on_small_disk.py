"""Asks on a disk that fills up: `python -m tests.faults.asking_on_small_disk REPOSITORY DATA DISK`."""

import os
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path

from asterism.config.sections import RecordsSettings
from asterism.config.settings import Settings
from asterism.engine.chat.requests import AskRequest
from asterism.engine.chat.service import Asking
from asterism.engine.engine import Engine
from asterism.engine.search import SearchReply, SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.store.registry import Registered
from asterism.types.chat import TurnStatus
from asterism.types.errors import AsterismError


class Filling(Engine):
    """Its disk is full once it has searched: after a turn began, and before it ends."""

    disk: Path | None = None

    def search(self, registered: Registered, request: SearchRequest) -> SearchReply:
        """Search, then fill the disk if that is wanted."""
        found = super().search(registered, request)
        if self.disk is not None:
            fill(self.disk)
        return found


def main(repository: Path, data: Path, disk: Path) -> None:
    """Ask with free space, on a full disk, while the disk fills up, and with free space again."""
    settings = Settings(records=RecordsSettings(url=f"sqlite:///{disk}/records.sqlite"))
    engine = Filling(DataDirectories(data, data / "cache"), lambda _root: settings)
    registered = engine.locate(repository)

    def ask() -> None:
        try:
            asked = asking.ask(registered, AskRequest(question="what is total?"))
            answered = asked.result(60)
        except AsterismError as error:
            say(f"{type(error).__name__}: {error}")
            return
        kept = engine.records().turns().get(answered.turn.id).turn
        say(f"{answered.turn.status} {bool(answered.turn.answer)} {kept.status}")
        say("; ".join(answered.turn.notes) or "no notes")

    with closing(engine), closing(Asking(engine)) as asking:
        ask()
        fill(disk)
        ask()
        (disk / "filler").unlink()
        engine.disk = disk
        ask()
        engine.disk = None
        (disk / "filler").unlink()
        ask()
        total = engine.records().conversations().page().total
    with closing(sqlite3.connect(disk / "records.sqlite")) as connection:
        (sound,) = connection.execute("PRAGMA integrity_check").fetchone()
    say(f"{total} conversations, {sound}, {TurnStatus.done}")


def say(text: str) -> None:
    """One line for the test."""
    sys.stdout.write(f"{text}\n")


def fill(disk: Path) -> None:
    """Fill the disk, to the last page."""
    with (disk / "filler").open("ab", buffering=0) as filler, suppress(OSError):
        for size in (65_536, 4_096, 512, 1):
            with suppress(OSError):
                while True:
                    filler.write(b"x" * size)
        os.fsync(filler.fileno())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
