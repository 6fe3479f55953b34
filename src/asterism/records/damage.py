"""A damaged file of conversations: put aside under another name, never deleted, and told."""

import shutil
import time
from contextlib import suppress
from pathlib import Path

from asterism.telemetry.notices import notify
from asterism.types.errors import RecordsCorrupt
from asterism.types.files import display_path

_KNOWN = ".known"
"""Ends the name of an empty file that says that there were conversations."""


def damaged(place: str, why: str) -> RecordsCorrupt:
    """The error for a file that is not what was written."""
    return RecordsCorrupt(
        f"The conversations in {place} are damaged ({why}); restore the file from a backup, or "
        "move it away to begin anew."
    )


def put_aside(path: Path, inode: int) -> None:
    """Give a damaged file another name, its journal too, and say which.

    It is known by its inode: another process may have begun a new one meanwhile.
    """
    if path.stat().st_ino != inode:
        return
    aside = path.with_name(f"{path.name}.damaged-{time.time_ns()}")
    path.rename(aside)
    for ending in ("-wal", "-shm"):
        with suppress(OSError):
            shutil.move(f"{path}{ending}", f"{aside}{ending}")
    note_lost(path)
    notify(
        f"The conversations in {display_path(str(path))} were damaged. They are kept as "
        f"{display_path(aside.name)}, and a new file was begun; to get them back, restore a "
        f"backup, or try `sqlite3 {display_path(aside.name)} .recover`."
    )


def tell_loss(path: Path) -> None:
    """Say that a file is gone or empty that had conversations; an empty one is well-formed."""
    with suppress(OSError):
        known = _known(path).exists()
        if known and not (path.exists() and path.stat().st_size):
            note_lost(path)
            notify(
                f"The conversations that were in {display_path(str(path))} are gone: the file was "
                "removed or emptied by something else. A new one was begun; restore a backup to "
                "get them back."
            )


def is_known(path: Path) -> bool:
    """Whether there were conversations of ours in the file."""
    return _known(path).exists()


def note_known(path: Path) -> None:
    """Remember that there are conversations."""
    with suppress(OSError):
        _known(path).touch(mode=0o600)


def note_lost(path: Path) -> None:
    """Forget it: it was told."""
    with suppress(OSError):
        _known(path).unlink(missing_ok=True)


def _known(path: Path) -> Path:
    return path.with_name(f"{path.name}{_KNOWN}")
