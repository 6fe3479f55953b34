"""Whether a repository and its index are as they were when a sync last left nothing to do."""

from pathlib import Path
from threading import Lock
from typing import NamedTuple

from asterism.analysis.source.discovery import DirectoryView, take_view
from asterism.indexing.plan import RACY_NS, SyncOptions
from asterism.store.catalogue.opening import Mark, mark_of
from asterism.store.registry import Registered
from asterism.types.files import Discovery
from asterism.types.index import ModelIdentity

REPOSITORIES_KEPT = 8
"""So many are remembered; each takes 400 bytes for every file."""
SYNCS_BEFORE = 2
"""The sync after which a view is taken: a command that asks once has no use for it."""


class Wanted(NamedTuple):
    """What an index is compared with, beside the files."""

    root: str
    options: SyncOptions
    model: ModelIdentity


class Compared(NamedTuple):
    """A comparison of an index with the files that left nothing to do."""

    began_ns: int
    """What changed later, or just before, may not have been seen by it."""
    catalogue: Mark
    """Of the catalogue that equals the files, taken before it was read or under the lock."""
    found: Discovery


class _Known(NamedTuple):
    syncs: int
    wanted: Wanted
    catalogue: Mark
    view: DirectoryView | None


class Unchanged:
    """Spares questions the sync before them where it would find nothing to do.

    Nothing is taken on trust: every directory and file is looked at for every question, and the
    index itself, which another process may have changed.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[tuple[Path, str], _Known] = {}

    def holds(self, registered: Registered, wanted: Wanted) -> bool:
        """Whether everything is as it was after the last sync."""
        known = self._known.get(_place(registered))
        return (
            known is not None
            and known.view is not None
            and known.wanted == wanted
            and known.catalogue == mark_of(registered.project.directory)
            and known.view.is_same()
        )

    def note(self, registered: Registered, wanted: Wanted, compared: Compared) -> None:
        """Hear of a comparison, or of a sync, that left nothing to do."""
        place = _place(registered)
        before = self._known.pop(place, None)
        syncs = before.syncs + 1 if before is not None else 1
        view = None
        if syncs >= SYNCS_BEFORE:
            closed = {entry.path for entry in compared.found.skipped if entry.is_directory}
            settled_ns = compared.began_ns - RACY_NS
            view = take_view(wanted.root, wanted.options.discovery, closed, settled_ns)
        with self._lock:
            self._known[place] = _Known(syncs, wanted, compared.catalogue, view)
            while len(self._known) > REPOSITORIES_KEPT:
                del self._known[next(iter(self._known))]


def _place(registered: Registered) -> tuple[Path, str]:
    return registered.project.directory, registered.repository.name
