"""Asks on a disk that fills up: `python -m tests.faults.asking_on_small_disk REPOSITORY DATA DISK`."""

import os
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path

from asterism.config.sections_records import RecordsSettings
from asterism.config.settings import Settings
from asterism.domain.chat import Token, TurnEvent, TurnStatus
from asterism.domain.errors import AsterismError
from asterism.engine.asking import Asking
from asterism.engine.asking_requests import AskRequest
from asterism.engine.engine import Engine
from asterism.engine.wiring import Places


def main(repository: Path, data: Path, disk: Path) -> None:
    """Ask with room, without, while room runs out, and with room again."""
    settings = Settings(records=RecordsSettings(url=f"sqlite:///{disk}/records.sqlite"))
    engine = Engine(Places(data, data / "cache"), lambda _root: settings)
    registered = engine.locate(repository)

    def ask(hear: bool = False) -> None:
        def heard(event: TurnEvent) -> None:
            if hear and isinstance(event, Token):
                fill(disk)

        try:
            asked = asking.ask(registered, AskRequest(question="what is total?"), heard)
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
        ask(hear=True)
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
    """Leave no room, not even for a page."""
    with (disk / "filler").open("ab", buffering=0) as filler, suppress(OSError):
        for size in (65_536, 4_096, 512, 1):
            with suppress(OSError):
                while True:
                    filler.write(b"x" * size)
        os.fsync(filler.fileno())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
