"""Which files a version of the chunk table is in."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from asterism.store.lance.schema import Dataset
from asterism.store.table_files import manifest_name


class DataFile(NamedTuple):
    """One file of a fragment."""

    name: str
    size: int
    """Bytes that it has to have; 0 where the table does not say."""


def data_files(dataset: Dataset) -> dict[int, tuple[DataFile, ...]]:
    """The files of every fragment, by its number.

    Lance makes a class whenever a file's `path` is asked for: eight objects that only the collector
    of cycles can free, some hundred with every edit. The field behind it has no such cost.
    """
    return {
        fragment.fragment_id: tuple(
            DataFile(file._path, file.file_size_bytes or 0) for file in fragment.metadata.files
        )
        for fragment in dataset.get_fragments()
    }


def index_folders(dataset: Dataset) -> set[DataFile]:
    """The directory of every part of an index, with the bytes that are to be in it."""
    return {
        DataFile(f"_indices/{segment.uuid}", segment.size_bytes or 0)
        for index in dataset.describe_indices()
        for segment in index.segments
    }


def version_files(dataset: Dataset, path: Path) -> Sequence[str]:
    """Every file that the dataset's version needs: rows, deletions, indexes, its manifest."""
    return sorted({*_named(dataset, path)})


def _named(dataset: Dataset, path: Path) -> Iterator[str]:
    version = int(dataset.version)
    yield f"_versions/{manifest_name(version)}"
    yield from (
        f"_transactions/{file.name}" for file in (path / "_transactions").glob(f"{version - 1}-*")
    )
    for files in data_files(dataset).values():
        yield from (f"data/{file.name}" for file in files)
    for fragment in dataset.get_fragments():
        deletion = fragment.metadata.deletion_file
        if deletion is not None:
            yield str(deletion.path(fragment.fragment_id))
    for index in dataset.describe_indices():
        for segment in index.segments:
            folder = path / "_indices" / str(segment.uuid)
            yield from (f"_indices/{folder.name}/{file.name}" for file in folder.iterdir())
