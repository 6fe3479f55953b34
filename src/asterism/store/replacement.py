"""An index that is built beside another one and takes its place by one rename.

The catalogue names the directory of the chunk table. So a new one brings its own table along: until
the rename the old index answers, and after it the new one; nothing of the old one is read.
"""

import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from asterism.store.catalogue import sums as catalogue_sums
from asterism.store.catalogue.schema import CATALOGUE
from asterism.store.database import connect_writing
from asterism.store.plain_files import alone, is_plain, remove
from asterism.store.table_files import stamp_of, sums_of
from asterism.types.errors import AsterismError, StorageFailed

BUILDING = "building"
"""Where the new catalogue is until it is complete, in the project's directory."""
_TABLES = "chunks*.lance"


def begin(directory: Path) -> Path:
    """Clear the directory for a new catalogue, and return it."""
    place = directory / BUILDING
    try:
        if place.exists() or place.is_symlink():
            remove(place)
        place.mkdir(mode=0o700, parents=True)
    except OSError as error:
        raise StorageFailed(f"{place} cannot be made: {error.strerror}.") from error
    return place


def new_table_name() -> str:
    """A directory for the chunk table that was never used before."""
    return f"chunks-{secrets.token_hex(4)}.lance"


def take_place(directory: Path) -> None:
    """Put the new catalogue in the old one's place; it is closed, and the lock is held."""
    new, old = directory / BUILDING / CATALOGUE, directory / CATALOGUE
    try:
        sums = sums_of(new)
        with alone(directory / catalogue_sums.LOCK):
            # While this process is recorded as the writer, readers do not report damage.
            catalogue_sums.announce(directory, stamp_of(new))
            _let_go(old)
            if not is_plain(old):
                remove(old)
            new.replace(old)
            catalogue_sums.save(directory, catalogue_sums.Sums(stamp_of(old), sums))
    except OSError as error:
        raise StorageFailed(
            f"The new index in {directory} could not take the old one's place "
            f"({error.strerror}); check the directory's permissions and run the command again."
        ) from error


def remove_leftovers(directory: Path, table: str | None) -> None:
    """Remove what a killed process was building, and tables that the catalogue does not name."""
    for path in leftovers(directory, table):
        with suppress(OSError):
            remove(path)


def leftovers(directory: Path, table: str | None) -> Iterator[Path]:
    """What belongs to no index; without a catalogue no table does."""
    with suppress(OSError):
        yield from (path for path in directory.glob(_TABLES) if path.name != table)
        if (directory / BUILDING).exists():
            yield directory / BUILDING


def _let_go(old: Path) -> None:
    """Leave nothing in the old catalogue's log, which would be taken for the new one's."""
    if old.is_file():
        # The log of a damaged catalogue is dropped.
        with suppress(AsterismError):
            database = connect_writing(old)
            try:
                database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                database.close()
    for ending in ("-wal", "-shm"):
        remove(old.with_name(f"{old.name}{ending}"))
