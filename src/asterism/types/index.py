"""What an index is made of and what state it is in."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from asterism.types.chunk import Chunk
from asterism.types.symbol import SymbolRow


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
    """The file that an import was found to mean when the file it stands in was written."""

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
