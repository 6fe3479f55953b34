"""Are the files of a version named as they lie on the disk, at no cost that stays?"""

import gc
from pathlib import Path

from asterism.store.lance.table import LanceTable
from asterism.store.resident import data_files
from tests.store.chunk_samples import DIMENSIONS, chunk, entry, units


def test_the_files_are_those_on_the_disk(tmp_path: Path) -> None:
    import lance

    table = LanceTable.create(tmp_path, DIMENSIONS)
    for number in range(3):
        table.append([entry(chunk(f"{number}.py", "one"), number)], units(1, number))
    dataset = lance.dataset(str(table.path))
    gc.collect()
    gc.disable()
    try:
        assert data_files(dataset)
        # Lance would leave a class for every file.
        assert gc.collect() == 0
    finally:
        gc.enable()
    files = data_files(dataset)
    assert len(files) == table.fragments() == 3
    there = {file.name: file.stat().st_size for file in (table.path / "data").iterdir()}
    assert {file.name: file.size for (file,) in files.values()} == there
