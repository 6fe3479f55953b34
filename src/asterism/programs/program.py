"""One program that Asterism starts: its arguments, environment, directory and limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Consent(StrEnum):
    """When a program may start at all."""

    always = "always"
    """It runs nothing that a repository brings."""
    trusted = "trusted repositories"
    """A repository can make it execute something, so the user has to trust the repository."""
    command = "the user's command"
    """The user names the program, in an agent's file or on the command line."""


class Files(StrEnum):
    """What a program may open, where the kernel can enforce it (Landlock)."""

    all = "all"
    """Whatever the user may open."""
    named = "named"
    """The repository and the directories named in `reads`; it writes to `writes` only."""


LANGUAGE = ("LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What any program needs that prints text and loads libraries."""
SEARCHED = frozenset({"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"})
"""Lists of folders; those that are relative or lie in the repository are left out of them."""
WINDOWS = ("SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERPROFILE", "PATHEXT")
"""Without these no program starts on Windows."""
PLACES = ("HOME", "PATH", "TMPDIR", *LANGUAGE, *WINDOWS)
USER = ("APPDATA", "LOCALAPPDATA", "LOGNAME", "SHELL", "TERM", "USER", *PLACES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the kernel holds a program to; 0 sets no limit."""

    memory_times: float = 0.0
    """Data that one process may map, as a multiple of the memory setting. A guard ends a server by
    its resident memory; this stops what grows between two looks of the guard. It is a multiple,
    because runtimes map more than they use."""
    cpu_seconds: int = 0
    """Of one process. A server that is asked for hours is started anew when it reaches this."""
    processes: int = 0
    """More processes and threads than the user has when it starts; what the user starts meanwhile
    counts too, so there is room for a build beside it."""
    network: bool = True
    """False: no sockets (seccomp)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One row of the table in `docs/security.md`."""

    name: str
    purpose: str
    consent: Consent
    arguments: tuple[str, ...] = ()
    """`{name}` stands for a value that the caller gives."""
    probe: tuple[str, ...] = ()
    """Arguments with which it ends well where it is really installed."""
    inherits: tuple[str, ...] = LANGUAGE
    """Variables it gets from the user's environment; every other one is left out."""
    variables: Mapping[str, str] | None = None
    """Variables that are set; they win over inherited ones."""
    directory: str = ""
    """Where it works: a value that the caller gives; nothing means `/`."""
    limits: Limits = Limits()
    files: Files = Files.all
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    tied: bool = True
    """Whether the kernel ends it when the thread that started it ends."""
