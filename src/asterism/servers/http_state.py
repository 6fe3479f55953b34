"""What the routes of one HTTP server share."""

from dataclasses import dataclass, field
from pathlib import Path

from asterism.servers.access import Access
from asterism.servers.http_gate import GateLimits
from asterism.servers.http_work import INDEXINGS_AT_ONCE, INDEXINGS_WAITING, Threads
from asterism.servers.shares import Shares
from asterism.servers.tools_running import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One server: its tools, its rules, its threads."""

    toolbox: Toolbox
    access: Access = field(default_factory=Access)
    limits: GateLimits = field(default_factory=GateLimits)
    read_only: bool = False
    """Whether repositories cannot be added, removed or indexed."""
    shares: Shares = field(default_factory=Shares)
    """How much of the processor each client may use."""
    own: tuple[Path, ...] = ()
    """Directories of the server itself, which nobody adds."""
    too_wide: frozenset[Path] = frozenset()
    """Directories that nobody means to index as a whole: a home, the root of the disk."""
    threads: Threads = field(default_factory=Threads)
    indexings: Threads = field(
        default_factory=lambda: Threads(INDEXINGS_AT_ONCE, INDEXINGS_WAITING)
    )

    def is_refused(self, place: Path) -> bool:
        """Whether a directory cannot be made known: it is the server's own, or around a home."""
        around = {place, *place.parents}
        is_own = any(one in around or place in one.parents for one in self.own)
        return is_own or any(place == one or place in one.parents for one in self.too_wide)

    def end(self) -> None:
        """Tell everybody who works that nobody waits any more."""
        self.threads.ending.set()
        self.indexings.ending.set()
        self.toolbox.halt()
