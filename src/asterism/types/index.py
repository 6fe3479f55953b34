"""What an index is made of: chunks, symbols and files, and the state they are in."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, NamedTuple, TypeAlias


class Chunk(NamedTuple):
    """One row of the index, before and after it has a vector."""

    id: str
    file_path: str
    relative_path: str
    repo: str
    language: str
    extension: str
    filename: str
    node_kind: str
    name: str
    qualified_name: str
    parent_name: str | None
    parent_chunk_id: str | None
    child_chunk_ids: tuple[str, ...]
    depth: int
    part: int
    """0, or the number of this part where a body over the model's limit was split."""
    signature: str
    full_source: str
    start_line: int
    end_line: int
    jsdoc: str | None
    docstring: str | None
    decorator_names: tuple[str, ...]
    modifiers: tuple[str, ...]
    tags: tuple[str, ...]
    is_exported: bool
    relevant_imports: tuple[str, ...]
    embedding_text: str
    content_hash: str
    last_modified: float
    vector: tuple[float, ...] | None = None
    mentions: tuple[str, ...] = ()
    """Imported names that it uses, whose signatures its embedding text could still quote."""


class Role(StrEnum):
    """What a place does with a name."""

    DEFINITION = "definition"
    EXPORT = "export"
    IMPORT = "import"
    USAGE = "usage"


class SymbolRow(NamedTuple):
    """A name at a place."""

    name: str
    qualified_name: str
    """The definition's path; of an import, the module and the name there; of a re-export, that
    name alone; of a use, its receiver before it."""
    kind: str
    role: Role
    filepath: str
    line: int
    is_exported: bool
    chunk_id: str | None
    ordinal: int
    """Which of the rows with this role, qualified name and module it is in its file, from 0."""
    signature: str | None = None
    """Of a definition."""
    module: str | None = None
    """As written, of an import or a re-export."""

    @property
    def id(self) -> str:
        """A stable name for the row, without line numbers: `src/box.ts#usage#this.size#0`.

        The parts are the path, the role, the qualified name, the module where there is one, and
        the ordinal. A `#` inside a part is written `%23`, so no two rows share an id.
        """
        words = [self.filepath, self.role.value, self.qualified_name]
        if self.module is not None:
            words.append(self.module)
        words.append(str(self.ordinal))
        return "#".join(word.replace("%", "%25").replace("#", "%23") for word in words)


class ModelIdentity(NamedTuple):
    """Which model made the vectors; vectors of different models are never compared."""

    provider: str
    model: str
    dimensions: int

    def __str__(self) -> str:
        """As messages call it: `local/asterism-static-2, 256 dimensions`."""
        return f"{self.provider}/{self.model}, {self.dimensions} dimensions"


class Manifest(NamedTuple):
    """What was true when an index was made; another answer today means that it is stale."""

    schema_version: int
    model: ModelIdentity
    recipe: int
    """Version of the embedding text's recipe."""
    program: str
    """The version of Asterism that made it."""
    created: float


class Staleness(StrEnum):
    """Why an index is not what a fresh one would be, the gravest reason first."""

    missing = "missing"
    corrupt = "corrupt"
    unreadable = "unreadable"
    """The system refuses to read it; nothing is known of what it holds."""
    schema = "schema"
    options = "options"
    model = "model"
    content = "content"
    equal = "equal"


class Repository(NamedTuple):
    """A directory tree that is indexed."""

    id: str
    name: str
    """Unique in its project; chunks carry it in their `repo` column."""
    root: str


class Entry(NamedTuple):
    """A chunk as the store keeps it, its vector aside."""

    chunk: Chunk
    file_version: int
    """Which reading of the file it comes from; a newer reading replaces all rows of an older."""
    text_hash: bytes
    """Of the embedding text: equal hashes have equal vectors."""
    terms: str
    """The words of the text a model reads, split for code and joined by blanks."""
    name_terms: str
    path_terms: str


class FileState(NamedTuple):
    """What the index knows of a file without opening it."""

    path: str
    size: int
    mtime_ns: int
    content_hash: bytes
    version: int
    """Which reading of the file its rows come from."""
    scanned_ns: int
    """When the file was last compared with the disk; a younger change may hide behind its time."""
    language: str = ""
    chunks: int = 0
    problems: int = 0
    ctime_ns: int = 0
    """When its content, name or permissions last changed; programs cannot set it back."""


class Pending(NamedTuple):
    """A file that an unfinished sync has read, and may or may not have written."""

    path: str
    content_hash: bytes
    """What it held then."""
    version: int
    """Which reading of it the index had before; 0 if it had none."""


class Link(NamedTuple):
    """One module that a file imports, and the file of the repository that it means, if any."""

    module: str
    target: str | None
    names: tuple[str, ...]
    """The imported names, as the module calls them; `*` for all of it."""
    reexports: bool = False


class Resolution(NamedTuple):
    """The target of an import, as resolved when the importing file was last written."""

    path: str
    """The importing file."""
    module: str
    target: str | None
    reexports: bool


class FileUpdate(NamedTuple):
    """Everything the catalogue stores of a file that was read anew."""

    state: FileState
    chunks: Sequence[tuple[str, bytes]]
    """Id and text hash of each chunk."""
    symbols: Sequence[SymbolRow]
    links: Sequence[Link]


class Skipped(NamedTuple):
    """A path that is not in the index, and why."""

    path: str
    reason: str
    detail: str | None = None


class Signatures(NamedTuple):
    """What a file offers to others: signatures by name, and names it only passes on."""

    own: Mapping[str, str]
    passed_on: Mapping[str, tuple[str, str]]
    """Exported name to module and the name there; `*` for the module itself."""
    all_of: tuple[str, ...] = ()
    """Modules of which everything is passed on, as by `export *`."""


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
    """The enclosing names, joined by dots: the end of a qualified name before its last part."""
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


_STEP = " > "


def symbol_query(text: str, narrowed: SymbolQuery | None = None) -> SymbolQuery:
    """The query for a name as a user wrote it; `narrowed` brings the other conditions."""
    name = text.strip()
    readings = tuple(dict.fromkeys(_readings(name)))
    return replace(narrowed or SymbolQuery(name), name=name, readings=readings)


def _readings(text: str) -> Iterator[SymbolName]:
    """Every way to understand the text, since names and paths may contain the separators.

    `v1.2` may be a heading or the member `2` of `v1`, and `a.b > c` may begin with a file.
    """
    yield SymbolName(text)
    steps = [step for step in map(str.strip, text.split(_STEP)) if step]
    if not steps:
        return
    yield from _below(steps, "")
    if len(steps) > 1:
        yield from _below(steps[1:], steps[0].removeprefix("./"))


def _below(steps: list[str], path: str) -> Iterator[SymbolName]:
    if "/" in steps[0] and len(steps) > 1:
        return
    *around, last = steps
    container = ".".join(_dotted(step) for step in around)
    yield SymbolName(last, container, path)
    inner, dot, name = _dotted(last).rpartition(".")
    if dot and inner and name:
        yield SymbolName(name, f"{container}.{inner}" if container else inner, path)


def _dotted(step: str) -> str:
    # `Box#open` is how Ruby and Java write about a method; `#open` alone is a name of its own.
    return re.sub(r"(?<=\w)#(?=\w)", ".", step.replace("::", "."))
