"""Record types for a program that Asterism starts: arguments, environment, limits, files."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Consent(StrEnum):
    """The condition under which a program may start."""

    always = "always"
    """It executes nothing from a repository."""
    trusted = "trusted repositories"
    """A repository can make it execute code, so it starts for trusted repositories only."""
    command = "the user's command"
    """The user names the program, in an agent's file or on the command line."""


class Files(StrEnum):
    """The files that a program may open, enforced by Landlock where available."""

    all = "all"
    """Every file that the user may open."""
    named = "named"
    """The repository and the directories named in `reads`; it writes to `writes` only."""


LANGUAGE = ("LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""Variables that every program needs to print text and load libraries."""
SEARCHED = frozenset({"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"})
"""Lists of folders. Relative folders and folders of the repository are removed from them."""
WINDOWS = ("SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERPROFILE", "PATHEXT")
"""Programs do not start on Windows without these."""
PLACES = ("HOME", "PATH", "TMPDIR", *LANGUAGE, *WINDOWS)
USER = ("APPDATA", "LOCALAPPDATA", "LOGNAME", "SHELL", "TERM", "USER", *PLACES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits that the kernel enforces; 0 sets no limit."""

    memory_times: float = 0.0
    """Data that a process may map, as a multiple of the memory setting. The memory guard samples
    resident memory; this limit covers growth between two samples. Runtimes map more memory than
    they use, hence the multiple."""
    cpu_seconds: int = 0
    """CPU time of one process. A server that reaches it is started again."""
    processes: int = 0
    """Processes and threads in addition to those that the user has at the start. The kernel counts
    all processes of the user, so the number leaves a margin for builds at the same time."""
    network: bool = True
    """False: no sockets (seccomp)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One row of the table in `docs/security.md`."""

    name: str
    purpose: str
    consent: Consent
    arguments: tuple[str, ...] = ()
    """`{name}` is replaced by a value of the launch."""
    probe: tuple[str, ...] = ()
    """Arguments with which an installed program exits with status 0."""
    inherits: tuple[str, ...] = LANGUAGE
    """Allow-list of variables from the user's environment."""
    variables: Mapping[str, str] | None = None
    """Variables that are set; they override inherited ones. One without a value is left out."""
    directory: str = ""
    """The working directory, as a placeholder; empty means `/`."""
    limits: Limits = Limits()
    files: Files = Files.all
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    tied: bool = True
    """Whether the kernel kills it when the thread that started it ends."""
