"""The shared state of one HTTP server: access rules, limits and threads."""

from dataclasses import dataclass, field

from asterism.operations.dispatch.toolbox import Toolbox
from asterism.servers.access import Access
from asterism.servers.http.gate import GateLimits
from asterism.servers.http.page_sessions import PageSessions
from asterism.servers.http.shares import Shares
from asterism.servers.http.workers import (
    ANSWERS_AT_ONCE,
    ANSWERS_WAITING,
    INDEXINGS_AT_ONCE,
    INDEXINGS_WAITING,
    Threads,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """One server: its tools, its rules, its threads."""

    toolbox: Toolbox
    access: Access = field(default_factory=Access)
    limits: GateLimits = field(default_factory=GateLimits)
    read_only: bool = False
    """Whether repositories cannot be added, removed or indexed."""
    pages: PageSessions = field(default_factory=PageSessions)
    shares: Shares = field(default_factory=Shares)
    """How much of the processor each client may use."""
    threads: Threads = field(default_factory=Threads)
    indexings: Threads = field(
        default_factory=lambda: Threads(INDEXINGS_AT_ONCE, INDEXINGS_WAITING)
    )
    answers: Threads = field(default_factory=lambda: Threads(ANSWERS_AT_ONCE, ANSWERS_WAITING))
    """For calls of MCP clients that a language model answers."""

    def end(self) -> None:
        """Signal shutdown to running requests."""
        self.threads.ending.set()
        self.indexings.ending.set()
        self.toolbox.halt()
