"""The lines around a hit, and hits without such lines."""

from pathlib import Path

import pytest

from asterism.engine.search import ContextLines, SearchRequest, lines_around
from asterism.store.chunk_table import ChunkKey
from tests.search.selection_hits import hit

LINES = ["one", "two", "three", "four", "five"]


@pytest.mark.parametrize(
    ("span", "count", "before", "after"),
    [
        ((3, 3), 1, ("two",), ("four",)),
        ((3, 4), 9, ("one", "two"), ("five",)),
        ((1, 5), 3, (), ()),
        ((1, 1), 2, (), ("two", "three")),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines(
    tmp_path: Path,
    span: tuple[int, int],
    count: int,
    before: tuple[str, ...],
    after: tuple[str, ...],
    end: str,
) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(end.join(LINES).encode() + end.encode())
    source = "\n".join(LINES[span[0] - 1 : span[1]])
    chunk = hit("a", text=source, lines=span).chunk._replace(file_path=str(file))
    found = lines_around(SearchRequest(context_lines=count), [chunk])
    assert found == {ChunkKey("shop", "a"): ContextLines(before, after)}


def test_a_file_that_is_not_what_was_indexed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("other\nlines\n")
    for name in ("a.py", "gone.py"):
        chunk = hit("a", text="one").chunk._replace(file_path=str(tmp_path / name))
        assert lines_around(SearchRequest(context_lines=2), [chunk]) == {}
