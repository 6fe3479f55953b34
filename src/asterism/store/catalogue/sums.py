"""Checksums of the catalogue's file, in a small file beside it, and what a difference means.

The file changes only when its log is copied into it, which only `settle` does: it says so first,
copies, and then writes down the sums of the blocks that were written. So a file that differs from
its sums was changed by something else, unless a writer was killed while it copied.
"""

import json
import os
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from asterism.store.database import Database, connect_reading, damaged, log_of
from asterism.store.plain_files import alone, remove
from asterism.store.table_files import renewed, stamp_of, sums_of
from asterism.types.errors import IndexBusy, IndexCorrupt, StorageFailed
from asterism.types.index import Stamp
from asterism.types.index_states import is_refusal
from asterism.types.processes import process_exists

NAME = "catalogue.sums"
LOCK = "catalogue.lock"
LOG_BYTES = 16 * 1024 * 1024
"""A longer log is copied into the file while a long build goes on."""
_ATTEMPTS = 5
_LOG_HEADER, _FRAME_HEADER = 32, 24

_well: dict[Path, Stamp] = {}
"""Catalogues that this process has found well, by the stamp they had then."""


class Sums(NamedTuple):
    """What is written down of a catalogue's file."""

    stamp: Stamp
    sums: bytes
    writer: int = 0
    """The process that is writing to the file just now; 0 where none is."""


def check(path: Path) -> None:
    """Refuse a catalogue that something other than this program has changed.

    That takes one look at its stamp; where the stamp is unknown, the file is read.
    """
    for _ in range(_ATTEMPTS):
        try:
            stamp = stamp_of(path)
        except OSError as error:
            if is_refusal(error):
                raise
            raise damaged(path.parent, "its catalogue is no file") from error
        if _well.get(path) == stamp:
            return
        known = load(path.parent)
        if known is not None and known.writer and process_exists(known.writer):
            return
        if known is None or known.writer:
            # Of an older program, or of a writer that was killed.
            _look_through(path)
            _well[path] = stamp
            return
        if known.stamp == stamp or _is_as_known(path, stamp, known):
            _well[path] = stamp
            return
        if load(path.parent) == known and stamp_of(path) == stamp:
            raise damaged(path.parent, "its catalogue was changed by something else")
        # A writer was quicker than this look.


def look_deep(path: Path) -> str:
    """What is wrong with the file, every byte of it read; nothing where all is well."""
    known = load(path.parent)
    if known is not None and not known.writer and not _is_as_known(path, stamp_of(path), known):
        return "its catalogue was changed by something else"
    database = connect_reading(path)
    try:
        (verdict,) = database.one("PRAGMA integrity_check(1)") or ("no answer",)
    finally:
        database.close()
    return "" if verdict == "ok" else f"its catalogue is malformed: {verdict}"


def settle(database: Database, close: bool = True) -> None:
    """Copy the log into the file, close it if wanted, and write down the sums."""
    path = database.path
    if path is None:
        database.close()
        return
    known = load(path.parent)
    try:
        settled = known is not None and not known.writer and known.stamp == stamp_of(path)
    except OSError:
        settled = False
    if settled and not _size(log_of(path)):
        if close:
            database.close()
        return
    # A job is cancelled by another process than the writer.
    with alone(path.parent / LOCK):
        try:
            _settle(database, path, close)
        except OSError:
            # What was committed stays; without sums the next look reads the file.
            forget(path.parent)
            if close:
                database.close()


def load(directory: Path) -> Sums | None:
    """The sums as they were written down; None where they are missing or damaged themselves."""
    try:
        # Not through a pipe or a link that something has put there.
        stamp_of(directory / NAME)
        check_sum, _, text = (directory / NAME).read_bytes().partition(b" ")
        if int(check_sum) != zlib.crc32(text):
            return None
        stamp, sums, writer = json.loads(text)
        return Sums(Stamp(*stamp), b64decode(sums, validate=True), writer)
    except (OSError, ValueError, TypeError):
        return None


def save(directory: Path, known: Sums) -> None:
    """Save the sums; if that fails, no sums are left, and the next check reads the whole file."""
    text = json.dumps([known.stamp, b64encode(known.sums).decode(), known.writer]).encode()
    place = directory / NAME
    draft = directory / f"{NAME}.new"
    try:
        draft.write_bytes(b"%d %b" % (zlib.crc32(text), text))
        draft.replace(place)
    except OSError:
        forget(directory)
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def announce(directory: Path, stamp: Stamp) -> None:
    """Say that this process is writing to the file."""
    save(directory, Sums(stamp, b"", os.getpid()))


def forget(directory: Path) -> None:
    """Remove the sums."""
    with suppress(OSError):
        remove(directory / NAME)


def _settle(database: Database, path: Path, close: bool) -> None:
    known = load(path.parent)
    before = known.sums if known is not None and not known.writer else None
    if known is not None and known.stamp != stamp_of(path):
        before = None
    pages, page_bytes = _logged(path)
    save(path.parent, Sums(stamp_of(path), before or b"", os.getpid()))
    try:
        # On a full disk the commits stay in the log.
        with suppress(StorageFailed, IndexBusy):
            database.rows("PRAGMA wal_checkpoint(PASSIVE)")
        # Others may have written meanwhile, and what they wrote may have been copied too.
        more, other = _logged(path)
    finally:
        if close:
            database.close()
    stamp = stamp_of(path)
    if before is None or (other and other != page_bytes):
        sums = sums_of(path)
    else:
        sums = renewed(path, before, pages | more, page_bytes or other or 1)
    save(path.parent, Sums(stamp, sums))
    _well[path] = stamp


def _logged(path: Path) -> tuple[set[int], int]:
    """The pages that the log holds, and how large they are."""
    pages: set[int] = set()
    try:
        with log_of(path).open("rb", buffering=0) as file:
            header = file.read(_LOG_HEADER)
            if len(header) < _LOG_HEADER:
                return pages, 0
            size = int.from_bytes(header[8:12], "big")
            for frame in _frames(file, size):
                # Frames of another salt are left over from before the log began anew.
                if frame[8:16] == header[16:24]:
                    pages.add(int.from_bytes(frame[:4], "big"))
    except OSError:
        return pages, 0
    return pages, size


def _frames(file: FileIO, page_bytes: int) -> Iterator[bytes]:
    while len(frame := file.read(_FRAME_HEADER)) == _FRAME_HEADER:
        yield frame
        file.seek(page_bytes, os.SEEK_CUR)


def _look_through(path: Path) -> None:
    database = connect_reading(path)
    try:
        is_whole = database.one("PRAGMA quick_check(1)") == ("ok",)
    except IndexCorrupt:
        is_whole = False
    finally:
        database.close()
    if not is_whole:
        raise damaged(path.parent, "its catalogue is malformed")


def _is_as_known(path: Path, stamp: Stamp, known: Sums) -> bool:
    return stamp.size == known.stamp.size and sums_of(path) == known.sums


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
