"""Which files a version of the chunk table is in."""

from typing import NamedTuple

from asterism.backends.store.lance_schema import Dataset


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
