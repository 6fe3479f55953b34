"""What every compiler that is asked about a repository has in common: its process, turns, files."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, NamedTuple, TypeVar

from asterism.lsp.connection import Answer, ServerConnection
from asterism.lsp.keeper import Keeper, KeeperOptions, ServerCondition
from asterism.lsp.process import ServerCommand
from asterism.structure.positions import SymbolTarget
from asterism.types.errors import ServerTimeout
from asterism.types.files import FoundFile
from asterism.types.structure import Connections


class ThreadTurns:
    """Gives turns to several threads."""

    def __init__(self, name: str, seconds: float) -> None:
        """`name` is who is asked, as a person knows it; `seconds` how long one waits for a turn."""
        self._name = name
        self._seconds = seconds
        self._lock = threading.Lock()

    @contextmanager
    def take(self) -> Iterator[None]:
        """Have the turn, or raise ServerTimeout where others keep it too long."""
        if not self._lock.acquire(timeout=self._seconds):
            raise ServerTimeout(
                f"The {self._name} is busy with other questions; ask again in a moment."
            )
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def take_if_free(self) -> Iterator[bool]:
        """Take the turn if it is free; returns whether it was."""
        is_mine = self._lock.acquire(blocking=False)
        try:
            yield is_mine
        finally:
            if is_mine:
                self._lock.release()


Session = TypeVar("Session")


class Changes(NamedTuple):
    """How a listing differs from an earlier one; paths in the repository."""

    created: tuple[str, ...]
    changed: tuple[str, ...]
    deleted: tuple[str, ...]

    def __bool__(self) -> bool:
        return any(self[:])


class CheckerProject(ABC, Generic[Session]):
    """One repository with one program that knows it. Any thread may ask; questions are in turn."""

    def __init__(
        self,
        server: ServerCommand,
        root: str,
        keeper: KeeperOptions,
        answers: dict[str, Answer] | None = None,
    ) -> None:
        self._root = root.rstrip("/")
        self._listing: dict[str, FoundFile] = {}
        """The relevant files of this moment."""
        self._loaded: dict[str, FoundFile] = {}
        """The same as the program was last told of them."""
        self._turns = ThreadTurns(server.name, keeper.wait_seconds)
        self._keeper: Keeper[Session] = Keeper(server, self._open, keeper, answers)

    @property
    def condition(self) -> ServerCondition:
        """Where the program stands."""
        return self._keeper.condition

    @property
    def trouble(self) -> str | None:
        """What went wrong last, for a person."""
        return self._keeper.trouble

    @property
    def pid(self) -> int | None:
        """Its process, while there is one."""
        return self._keeper.pid

    def memory(self) -> int:
        """Resident bytes of the process."""
        return self._keeper.memory()

    def warm_up(self, files: Iterable[FoundFile]) -> None:
        """Begin to load the repository in the background."""
        with self._turns.take_if_free() as is_free:
            # While a question is answered there is nothing left to warm up.
            if is_free:
                self._list(files)
                self._keeper.warm_up()

    def connections(
        self, targets: Sequence[SymbolTarget], files: Iterable[FoundFile]
    ) -> tuple[Connections, ...]:
        """What is known of each target, by the files as they are now.

        `files` is the repository's listing of this moment: what differs from the last one is read
        again first. Raises a LanguageServerError where the program gives no answer at all.
        """
        with self._turns.take():
            self._list(files)
            return self._keeper.call(lambda session: self._answer(session, targets))

    def close(self) -> None:
        """End the process."""
        self._keeper.close()

    def _list(self, files: Iterable[FoundFile]) -> None:
        self._listing = {file.path: file for file in files if self._is_relevant(file.path)}

    def _changes(self) -> Changes:
        """What is different from what the program was last told."""
        before, now = self._loaded, self._listing
        return Changes(
            created=tuple(path for path in now if path not in before),
            changed=tuple(path for path in now if path in before and now[path] != before[path]),
            deleted=tuple(path for path in before if path not in now),
        )

    def _absolute(self, paths: Iterable[str]) -> list[str]:
        return [f"{self._root}/{path}" for path in paths]

    @abstractmethod
    def _is_relevant(self, path: str) -> bool:
        """Whether the program reads a file, or is told by it how to read others."""

    @abstractmethod
    def _open(self, connection: ServerConnection) -> Session:
        """Let a program that was just started load the repository as it is listed now."""

    @abstractmethod
    def _answer(self, session: Session, targets: Sequence[SymbolTarget]) -> tuple[Connections, ...]:
        """What is known of each target, after the program was told what changed."""
