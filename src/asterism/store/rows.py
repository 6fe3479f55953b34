"""What a row of a chunk table is: an entry whose text any store can hold."""

from typing import Any

from asterism.store.chunk_table import Matrix
from asterism.types.chunk import Chunk
from asterism.types.errors import IndexMismatch
from asterism.types.files import display_path
from asterism.types.filters import Filter
from asterism.types.index import Entry

HASH_BYTES = 16
"""How long `Entry.text_hash` is."""


def with_shown_paths(entry: Entry) -> Entry:
    """The entry with its paths as they are shown; all other text must be valid already."""
    _check_hash(entry)
    chunk = entry.chunk
    if chunk.file_path.isascii() and chunk.file_path.isprintable():
        return entry
    return entry._replace(
        chunk=chunk._replace(
            file_path=display_path(chunk.file_path),
            relative_path=display_path(chunk.relative_path),
            filename=display_path(chunk.filename),
        )
    )


def storable(entry: Entry) -> Entry:
    """The entry with text that is valid Unicode: paths as they are shown, stray halves as `?`."""
    _check_hash(entry)
    chunk = entry.chunk
    shown = Chunk(*[_clean(value) for value in chunk])._replace(
        file_path=display_path(chunk.file_path),
        relative_path=display_path(chunk.relative_path),
        filename=display_path(chunk.filename),
        vector=None,
        mentions=(),
    )
    terms = [valid_text(text) for text in (entry.terms, entry.name_terms, entry.path_terms)]
    return Entry(shown, entry.file_version, entry.text_hash, *terms)


def _check_hash(entry: Entry) -> None:
    if len(entry.text_hash) != HASH_BYTES:
        message = f"a text hash has {HASH_BYTES} bytes, this one has {len(entry.text_hash)}"
        raise ValueError(message)


def check_vectors(entries: int, vectors: Matrix, dimensions: int) -> None:
    """Refuse vectors that are not one for each entry, or not of the table's size."""
    if vectors.shape[0] != entries:
        message = f"{entries} entries need as many vectors, not {vectors.shape[0]}"
        raise ValueError(message)
    if entries and vectors.shape[1] != dimensions:
        raise IndexMismatch(
            f"The index holds vectors of {dimensions} dimensions, and the model makes vectors of "
            f"{vectors.shape[1]}; run `asterism index --force` to build it again."
        )


def comparable(where: Filter) -> Filter:
    """The filter with its texts in the form that rows have."""
    return Filter(
        repos=_clean(where.repos),
        paths=_shown(where.paths),
        path_prefixes=_shown(where.path_prefixes),
        path_contains=_shown(where.path_contains),
        path_not_contains=_shown(where.path_not_contains),
        path_globs=_shown(where.path_globs),
        kinds=_clean(where.kinds),
        extensions=_clean(where.extensions),
        languages=_clean(where.languages),
        is_exported=where.is_exported,
        decorator_contains=_clean(where.decorator_contains),
        has_docstring=where.has_docstring,
    )


def valid_text(text: str) -> str:
    """The text with `?` for every half of a surrogate pair, which no UTF-8 can hold."""
    # Most text is ASCII, and Python knows that without looking at it.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _clean(value: Any) -> Any:
    """A field's value with its text made valid; what is no text comes back as it is."""
    if isinstance(value, str):
        return valid_text(value)
    return tuple([_clean(part) for part in value]) if isinstance(value, tuple) else value


def _shown(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple([display_path(path) for path in paths])
