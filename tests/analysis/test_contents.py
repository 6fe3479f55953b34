"""A file from disk to chunks, in this process or in several."""

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from asterism.analysis.contents import read_chunks, read_outline
from asterism.analysis.parallel import BATCH, in_parallel
from asterism.types.errors import NotText, PathMissing, PathUnreadable, WrongPathKind


def test_outline_and_chunks_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbfdef f():\r\n    return 1\r\n")
    os.utime(path, (1, 1234.5))
    reading = read_chunks(str(path), "lib/a.py", "repo")
    assert reading.source == b"def f():\n    return 1\n"
    assert reading.outline == read_outline(str(path), "lib/a.py")
    (chunk,) = reading.chunks
    assert (chunk.relative_path, chunk.file_path, chunk.repo) == ("lib/a.py", str(path), "repo")
    assert (chunk.filename, chunk.extension, chunk.language) == ("a.py", ".py", "python")
    assert chunk.content_hash == sha256(path.read_bytes()).hexdigest()
    assert chunk.last_modified == 1234.5


def test_a_binary_is_an_error_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"\x7fELF\x00\x00\x01")
    with pytest.raises(NotText, match=r"a\.py is a binary file"):
        read_outline(str(path), "a.py")


@pytest.mark.parametrize(
    ("name", "error"),
    [("missing.py", PathMissing), ("folder", WrongPathKind), ("pipe", WrongPathKind)],
)
def test_what_cannot_be_read(tmp_path: Path, name: str, error: type[Exception]) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(error):
        read_chunks(str(tmp_path / name), name, "repo")


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PathUnreadable, match="check its permissions"):
        read_outline(str(path), "a.py")


def total(numbers: Sequence[int]) -> tuple[int, int]:
    return len(numbers), sum(numbers)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("count", [0, 1, BATCH, 10 * BATCH + 1])
def test_batches_come_back_in_order(workers: int, count: int) -> None:
    found = list(in_parallel(total, range(count), workers))
    expected = [total(range(start, min(start + BATCH, count))) for start in range(0, count, BATCH)]
    assert found == expected
