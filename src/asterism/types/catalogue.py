"""What goes into a catalogue and comes out of it: batches, jobs, statistics, symbol queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from asterism.types.index import FileState, FileUpdate
from asterism.types.symbol import Role, SymbolRow

JobKind: TypeAlias = Literal["build", "sync"]
JobState: TypeAlias = Literal["running", "done", "cancelled", "failed"]


class Stamp(NamedTuple):
    """Size, times and number of a file in the file system; any write changes them."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class TableFile(NamedTuple):
    """One file of the committed version of the chunk table."""

    name: str
    """Relative to the table's directory, with `/`."""
    stamp: Stamp
    sums: bytes
    """A checksum for each block of its content."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Changes of one repository that become visible together, or not at all."""

    repo: str
    chunks_version: int
    """The version of the chunk table that holds these files' rows."""
    updates: Sequence[FileUpdate] = ()
    """Files that were read anew; everything known of them before is replaced."""
    removed: Sequence[str] = ()
    """Paths that are gone."""
    touched: Sequence[FileState] = ()
    """Files whose content is the same: only size, times and `scanned_ns` are taken."""
    scanned_ns: int = 0
    """When the repository was looked at; 0 leaves the time of the last look as it is."""
    table_files: Sequence[TableFile] | None = None
    """The files of that version of the chunk table; None leaves those of the last one."""


class Job(NamedTuple):
    """The newest work on a repository, as processes other than the worker see it."""

    kind: JobKind
    state: JobState
    pid: int
    started: float
    updated: float
    files_done: int = 0
    files_total: int = 0
    chunks_done: int = 0
    sentence: str = ""
    """What happened, for status."""


class Statistics(NamedTuple):
    """How much a catalogue knows, of one repository or of all."""

    files: int
    chunks: int
    symbols: Mapping[Role, int]
    languages: Mapping[str, int]
    """Files of each language, the most frequent first."""
    files_with_problems: int
    source_bytes: int
    last_sync: float | None
    """Seconds since the epoch; of several repositories the one synced longest ago."""
    database_bytes: int
    """Of the whole catalogue, also when asked about one repository."""


class SymbolName(NamedTuple):
    """One way to understand a symbol's name as a user wrote it."""

    name: str
    container: str = ""
    """What the name stands in, joined by dots: the end of a qualified name before its last part."""
    path: str = ""
    """The file, or the end of its path."""


@dataclass(frozen=True, slots=True)
class SymbolQuery:
    """Which symbols are wanted; every condition that is given must hold."""

    name: str
    """Exact and case-sensitive."""
    readings: tuple[SymbolName, ...] = ()
    """Where the name is qualified, the ways to understand it; any of them may match."""
    kinds: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    repos: tuple[str, ...] = ()
    path_prefix: tuple[str, ...] = ()
    """The path begins with one of these."""
    is_exported: bool | None = None
    by_end: bool = False
    """Where nothing has a bare name, what ends with it is found: `Cart` means `Shop.Cart`, which is
    the whole name of a module in Elixir. Looks through all names."""
    limit: int = 50
    offset: int = 0


class FoundSymbol(NamedTuple):
    """A row and the repository it belongs to."""

    repo: str
    row: SymbolRow


class SymbolPage(NamedTuple):
    """Some of the rows that match, and how many there are."""

    rows: tuple[FoundSymbol, ...]
    total: int
    """Exact, whatever the limit."""
