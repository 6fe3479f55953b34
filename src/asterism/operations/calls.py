"""One call of a tool: what it is asked, by whom, and what it works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from asterism.engine.engine import Engine
from asterism.indexing.report import Progress
from asterism.operations.repositories import Standpoint, repository_for
from asterism.operations.schema import Json
from asterism.store.registry import Registered

if TYPE_CHECKING:
    # Only answers in words have to do with models.
    from asterism.models.llm.provider import Lent


def _nobody(_progress: Progress) -> None:
    """Nobody listens."""


class Caller(NamedTuple):
    """Who calls: how it hears of progress, whether it still wants the answer, what it is."""

    hear: Callable[[Progress], None] = _nobody
    gone: Callable[[], bool] = lambda: False
    client: str | None = None
    lent: Lent | None = None
    """The model that the client lends, if it offers that."""
    request_id: str = ""
    """What the client named the request, so that repeating it does not run it twice."""
    arrived: float | None = None
    """When the request arrived, by `time.monotonic`; None if it arrives with the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call with checked arguments."""

    engine: Engine
    here: Standpoint
    arguments: Json
    limit: int
    """Characters that the reply may have."""
    caller: Caller = field(default_factory=Caller)

    def repository(self) -> Registered:
        """The repository that is meant."""
        return repository_for(self.engine, self.here, self.arguments)
