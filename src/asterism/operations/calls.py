"""One call of an operation: arguments, caller, engine and server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

from asterism.indexing.report import Progress, SyncReport
from asterism.operations.addable import Addable
from asterism.operations.schema import Json

if TYPE_CHECKING:
    # A list of operations needs neither the engine nor models.
    from pathlib import Path

    from asterism.engine.chat.service import Asking
    from asterism.engine.engine import Engine
    from asterism.models.llm.provider import Lent
    from asterism.store.registry import Registered


def _ignore(_progress: Progress) -> None:
    """Drop the progress: the caller does not show it."""


class Caller(NamedTuple):
    """The client of a call: its name, its progress callback, and whether it has left."""

    hear: Callable[[Progress], None] = _ignore
    gone: Callable[[], bool] = lambda: False
    client: str | None = None
    lent: Lent | None = None
    """The model that the client lends, if it offers that."""
    request_id: str = ""
    """What the client named the request, so that repeating it does not run it twice."""
    arrived: float | None = None
    """When the request arrived, by `time.monotonic`; None if it arrives with the call."""


class Standpoint(NamedTuple):
    """Where a server was started, and what it must not take for a repository."""

    directory: Path | None = None
    is_root: bool = False
    """It was named as the repository itself, not as a place somewhere in one."""
    too_wide: frozenset[Path] = frozenset()
    """Directories too large to index as a whole: a home, the root of the disk."""
    addable: Addable | None = None
    """The rules for clients that the user did not start; None for a client that the user did."""


class Host(Protocol):
    """What an operation may use of the server that runs it."""

    def index(self, registered: Registered, force: bool, caller: Caller) -> SyncReport:
        """Index, and return when it is done."""
        ...

    def start_indexing(self, registered: Registered, force: bool) -> None:
        """Index in the background."""
        ...

    def stop_indexing(self, registered: Registered) -> bool:
        """Ask an indexing to end; False if none runs."""
        ...

    def forget(self, registered: Registered) -> None:
        """Stop what works on a repository that is to be removed."""
        ...

    def asking(self) -> Asking:
        """The service that answers in words."""
        ...


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call with checked arguments."""

    engine: Engine
    here: Standpoint
    host: Host
    arguments: Json
    limit: int
    """Characters that the reply may have."""
    caller: Caller = field(default_factory=Caller)

    def repository(self) -> Registered:
        """The repository that is meant; it is resolved once for each call."""
        return self._registered

    @cached_property
    def _registered(self) -> Registered:
        from asterism.operations.repositories import repository_for

        return repository_for(self.engine, self.here, self.arguments)

    def repository_if_any(self) -> Registered | None:
        """The same; None where none is indexed or it is not clear which, and none is named."""
        from asterism.types.errors import IndexMissing, RepositoryUnclear

        try:
            return self.repository()
        except (RepositoryUnclear, IndexMissing):
            if "repository_id" in self.arguments or "project_id" in self.arguments:
                raise
            return None
