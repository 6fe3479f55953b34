"""One file from disk to rows: what a worker process does, and what it sends back."""

import gc
import io
import os
import pickle
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

from asterism.analysis.chunks.chunker import FileOrigin, chunk_file
from asterism.analysis.chunks.embedding_text import RULE
from asterism.analysis.chunks.units import ChunkOptions
from asterism.analysis.resolve.offers import Want, exported_signatures, wanted_names
from asterism.analysis.source.text import is_binary, read
from asterism.analysis.symbols import symbol_rows
from asterism.analysis.syntax.outlines import outline, text_of
from asterism.analysis.terms import joined_terms, name_terms, path_terms
from asterism.indexing.plan import Look, content_hash, differs, is_racy
from asterism.types.errors import InputError, PathMissing, SecretFile
from asterism.types.files import FoundFile, SkipReason, display_path
from asterism.types.index import Chunk, Role, Signatures, Skipped, SymbolRow

MANY = 10_000
"""Objects that the collector need not look through after a batch; fewer take it a millisecond."""


@contextmanager
def no_collection() -> Iterator[None]:
    """Spare the collector's passes over records that all stay: a seventh of the time of a build."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            if gc.get_count()[0] >= MANY and gc.get_freeze_count() == 0:
                # Otherwise the first thing the collector does is to look through all of them. All
                # that is young becomes old by this, and old garbage waits long: in a server that
                # did so after each edit, what its requests left behind was never collected.
                gc.freeze()
                gc.unfreeze()
            gc.enable()


class Where(NamedTuple):
    """Which repository the files belong to, and how they are cut."""

    root: str
    repo: str
    chunks: ChunkOptions


class Same(NamedTuple):
    """The content is unchanged; only size or times of the file differed."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    scanned_ns: int


class Gone(NamedTuple):
    """The file went away between the listing and the reading."""

    path: str


class Read(NamedTuple):
    """A file that was parsed: what the rest of the sync must know at once."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    scanned_ns: int
    content_hash: bytes
    language: str
    problems: int
    signatures: Signatures
    wants: tuple[Want, ...]

    @property
    def bare(self) -> "Read":
        """The same without what other files want to know of it."""
        return self._replace(signatures=NOTHING_OFFERED, wants=())


NOTHING_OFFERED = Signatures({}, {})


class ChunkTerms(NamedTuple):
    """A chunk with the words it is found by."""

    chunk: Chunk
    terms: str
    name_terms: str


class FileRows(NamedTuple):
    """What is written of a parsed file; it waits in the spool."""

    path: str
    path_terms: str
    chunks: list[ChunkTerms]
    symbols: list[SymbolRow]


class ParsedFile(NamedTuple):
    """A parsed file with its rows, ready to be written."""

    read: Read
    rows: FileRows


Outcome: TypeAlias = Same | Gone | Read | Skipped


class Packet(NamedTuple):
    """A worker's answer: an outcome for each file, and the rows of those parsed."""

    outcomes: list[Outcome]
    rows: list[FileRows] | bytes
    """As they are, or packed for another process or for a file."""
    source_bytes: int


def read_batch(where: Where, looks: Sequence[Look]) -> Packet:
    """Read files; every one has an outcome, whatever is wrong with it."""
    rows: list[FileRows] = []
    with no_collection():
        outcomes = [_read(where, look, rows) for look in looks]
        size = sum(outcome.size for outcome in outcomes if isinstance(outcome, Read))
        return Packet(outcomes, rows, size)


def read_packed(where: Where, looks: Sequence[Look]) -> Packet:
    """The same with packed rows, to be sent to another process or kept in a file."""
    packet = read_batch(where, looks)
    assert isinstance(packet.rows, list)
    return packet._replace(rows=_pack(packet.rows) if packet.rows else b"")


def unpack(block: list[FileRows] | bytes) -> list[FileRows]:
    """The rows of a packet."""
    if isinstance(block, list):
        return block
    return [
        FileRows(
            path,
            terms,
            list(map(ChunkTerms, map(Chunk, *chunks), *words)) if chunks else [],
            list(map(SymbolRow, *symbols)) if symbols else [],
        )
        for path, terms, chunks, words, symbols in unpickled(block)
    ]


class _Unpickler(pickle.Unpickler):
    """Makes our records and nothing else: packets wait in a file."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _PACKED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a packet") from None


_PACKED = {
    (made.__module__, made.__qualname__): made
    for made in (Same, Gone, Read, Skipped, Signatures, Want, Role)
}


PACKED_CLASSES = tuple(sorted(_PACKED))
"""What a packet may hold; packets of a program with other classes cannot be read."""


def unpickled(data: bytes) -> Any:
    """What was pickled of outcomes or rows."""
    return _Unpickler(io.BytesIO(data)).load()


def _pack(rows: Sequence[FileRows]) -> bytes:
    """Rows by column: pickling records one by one takes three times as long."""
    columns = [
        (
            file.path,
            file.path_terms,
            [*zip(*(terms.chunk for terms in file.chunks), strict=True)],
            [*zip(*(terms[1:] for terms in file.chunks), strict=True)],
            [*zip(*file.symbols, strict=True)],
        )
        for file in rows
    ]
    return pickle.dumps(columns, pickle.HIGHEST_PROTOCOL)


def still_holds(root: str, read: Read, file: FoundFile) -> bool:
    """Whether a file that was read by another sync holds what it held then."""
    stamp = (file.size, file.mtime_ns, file.ctime_ns)
    if stamp != (read.size, read.mtime_ns, read.ctime_ns):
        return False
    is_doubtful = is_racy(read.mtime_ns, read.scanned_ns)
    return not is_doubtful or not differs(root, Look(read.path, read.content_hash))


def _read(where: Where, look: Look, rows: list[FileRows]) -> Outcome:
    path = f"{where.root}/{look.path}"
    # Before the content: a change after this moment makes the time of the next look differ.
    scanned = time.time_ns()
    try:
        facts = os.stat(path, follow_symlinks=False)  # noqa: PTH116 - thousands of paths
        data = read(path)
    except (FileNotFoundError, NotADirectoryError, PathMissing):
        return Gone(look.path)
    except SecretFile:
        # Discovery did not see it: the file changed since, or is known from an older index.
        return Skipped(look.path, SkipReason.secret.value, "content")
    except InputError as error:
        return Skipped(look.path, SkipReason.unreadable.value, str(error))
    except OSError as error:
        return Skipped(look.path, SkipReason.unreadable.value, error.strerror)
    digest = content_hash(data)
    if digest == look.known_hash:
        return Same(look.path, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, scanned)
    if is_binary(data):
        return Skipped(look.path, SkipReason.binary.value)
    source = text_of(look.path, data)
    found = outline(look.path, source)
    place = FileOrigin(where.repo, path, look.path, digest.hex(), facts.st_mtime_ns / 1e9)
    chunks = chunk_file(found, source, place, where.chunks)
    rows.append(
        FileRows(
            look.path,
            path_terms(display_path(look.path)),
            [_with_terms(chunk) for chunk in chunks],
            list(symbol_rows(found, chunks)),
        )
    )
    return Read(
        look.path,
        facts.st_size,
        facts.st_mtime_ns,
        facts.st_ctime_ns,
        scanned,
        digest,
        found.language,
        len(found.problems),
        exported_signatures(found, where.chunks),
        tuple(wanted_names(found)),
    )


def _with_terms(chunk: Chunk) -> ChunkTerms:
    """The words come from the code alone: the preamble repeats names that are in it."""
    code = chunk.embedding_text.partition(f"\n{RULE}\n")[2]
    return ChunkTerms(chunk, joined_terms(code), name_terms(chunk.qualified_name.split(".")))
