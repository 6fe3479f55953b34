"""What would be written: computed from the files as they are, shown, and only then carried out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from asterism.install.pieces import (
    Piece,
    PieceState,
    ServerEntry,
    TextBlock,
    WholeFile,
    added,
    state_of,
    taken_back,
)
from asterism.install.targets import ClientSetup, PieceTarget
from asterism.types.errors import InputError
from asterism.types.files import display_path


class Backup(NamedTuple):
    """A copy of an earlier state, beside the file."""

    path: Path
    content: bytes


class ReadFile(NamedTuple):
    """A file as it is; `real` is where its links lead."""

    path: Path
    real: Path
    content: bytes | None
    backups: tuple[Backup, ...] = ()


Read = Callable[[Path], ReadFile]


class FileChange(NamedTuple):
    """One file before and after; None means no file."""

    path: Path
    real: Path
    before: bytes | None
    after: bytes | None
    what: str
    clients: tuple[str, ...]
    # Whether something would be lost without a copy.
    keeps_copy: bool
    # Copies that say the same as the file will.
    needless: tuple[Path, ...]
    directories: int
    # Whether a new file is for the user alone; one that exists keeps its mode.
    private: bool = False


class InstallPlan(NamedTuple):
    """What is to be done, what is done already, what is left alone, and what cannot be done."""

    changes: tuple[FileChange, ...]
    done: tuple[tuple[Path, str], ...]
    left: tuple[str, ...]
    problems: tuple[str, ...]


class _Draft:
    """A plan in the making: each file's content as the steps so far leave it."""

    def __init__(self, read: Read, removing: bool) -> None:
        self._read = read
        self._removing = removing
        self._changes: dict[Path, FileChange] = {}
        self.done: dict[Path, str] = {}
        self.left: list[str] = []
        self.problems: list[str] = []

    def found(self, target: PieceTarget) -> ReadFile:
        """The file that a target means, as it would be by now."""
        found = _chosen([self._read(path) for path in target.paths], target.piece)
        change = self._changes.get(found.real)
        return found if change is None else found._replace(content=change.after)

    def put(self, client: str, target: PieceTarget, found: ReadFile, after: bytes | None) -> None:
        """Note what becomes of a file."""
        earlier = self._changes.get(found.real)
        before = earlier.before if earlier else found.content
        clients = earlier.clients if earlier else ()
        exact: tuple[Path, ...] = ()
        if self._removing:
            exact = tuple(copy.path for copy in found.backups if copy.content == after)
        # Nothing is lost of a file that `install` wrote, or if an earlier state comes back exactly.
        own = isinstance(target.piece, WholeFile)
        lossless = own or before is None or after is None or bool(exact)
        self._changes[found.real] = FileChange(
            found.path,
            found.real,
            before,
            after,
            target.what,
            (*clients, client),
            not lossless,
            exact,
            target.directories,
        )

    def joined(self, client: str, found: ReadFile) -> None:
        """Note that a client shares what is planned or done already."""
        change = self._changes.get(found.real)
        if change is None:
            self.done.setdefault(found.real, client)
        elif client not in change.clients:
            self._changes[found.real] = change._replace(clients=(*change.clients, client))

    def plan(self) -> InstallPlan:
        """All of it, files in the order in which they were met."""
        done = tuple(self.done.items())
        left = tuple(dict.fromkeys(self.left))
        return InstallPlan(
            tuple(self._changes.values()), done, left, tuple(dict.fromkeys(self.problems))
        )


def plan_install(setups: Iterable[ClientSetup], read: Read) -> InstallPlan:
    """Set up clients; one whose configuration cannot be used is left out with a problem."""
    draft = _Draft(read, removing=False)
    for setup in setups:
        if _install(draft, setup.client, setup.entry):
            for target in setup.rest:
                _install(draft, setup.client, target)
    return draft.plan()


def _install(draft: _Draft, client: str, target: PieceTarget) -> bool:
    try:
        found = draft.found(target)
        state = _state(found, target.piece)
        if state is PieceState.foreign:
            raise InputError(_taken(found.path, target.piece))
        if state is PieceState.edited:
            draft.left.append(
                f"{display_path(str(found.path))} was edited by hand; remove it to have it written."
            )
        elif state is PieceState.current:
            draft.joined(client, found)
        else:
            with _named(found.path):
                after = added(found.content, target.piece)
            draft.put(client, target, found, after)
    except InputError as error:
        draft.problems.append(f"{client}: {error}")
        return False
    return True


def plan_uninstall(
    setups: Sequence[ClientSetup], others: Iterable[ClientSetup], read: Read
) -> InstallPlan:
    """Take back what clients were given, but for what others that are set up share with them."""
    draft = _Draft(read, removing=True)
    shared: dict[Path, str] = {}
    for other in others:
        if is_set_up(other, read):
            for target in other.rest:
                shared[read(target.paths[0]).real] = other.client
    for setup in setups:
        for target in (setup.entry, *setup.rest):
            try:
                found = draft.found(target)
                if found.real in shared:
                    if _state(found, target.piece) is not PieceState.absent:
                        needs = f"stays: {shared[found.real]} uses it too."
                        draft.left.append(f"{display_path(str(found.path))} {needs}")
                else:
                    _uninstall(draft, setup.client, target, found)
            except InputError as error:
                draft.problems.append(f"{setup.client}: {error}")
    return draft.plan()


def _uninstall(draft: _Draft, client: str, target: PieceTarget, found: ReadFile) -> None:
    state = _state(found, target.piece)
    path = display_path(str(found.path))
    if state is PieceState.absent or found.content is None:
        return
    if state is PieceState.foreign:
        if isinstance(target.piece, ServerEntry):
            draft.left.append(f"{path} has a server `asterism` that is not ours; it stays.")
    elif state is PieceState.edited:
        draft.left.append(f"{path} was edited by hand; remove it yourself if you do not want it.")
    else:
        earlier = [copy.content for copy in found.backups]
        with _named(found.path):
            after = taken_back(found.content, target.piece, earlier)
        draft.put(client, target, found, after)


def is_set_up(setup: ClientSetup, read: Read) -> bool:
    """Whether a client has our entry, of whatever version."""
    try:
        return state_in(setup, read) in (PieceState.current, PieceState.older, PieceState.edited)
    except InputError:
        return False


def state_in(setup: ClientSetup, read: Read) -> PieceState:
    """What a client has of our entry."""
    found = _chosen([read(path) for path in setup.entry.paths], setup.entry.piece)
    return _state(found, setup.entry.piece)


def _chosen(files: Sequence[ReadFile], piece: Piece) -> ReadFile:
    """Of alternatives the one with our piece, else one that exists, else one that could be made."""
    there = [file for file in files if file.content is not None]
    if len(there) > 1:
        for file in there:
            if _state(file, piece) is not PieceState.absent:
                return file
    return (there or list(files))[0]


def _state(found: ReadFile, piece: Piece) -> PieceState:
    with _named(found.path):
        return state_of(found.content, piece)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Let errors say which file they are about."""
    try:
        yield
    except InputError as error:
        raise InputError(
            f"{display_path(str(path))} was not touched, because it cannot be edited safely: "
            f"{error}."
        ) from None


def _taken(path: Path, piece: Piece) -> str:
    shown = display_path(str(path))
    if isinstance(piece, TextBlock | WholeFile):
        return f"{shown} is there already and not ours; move it away first."
    return f"{shown} has another server called `asterism`; rename or remove that one first."
