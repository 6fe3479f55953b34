"""Is a file with many oversize bodies parsed once more for them, and not once for each?"""

import pytest

from asterism.analysis.chunks.chunker import FileOrigin, chunk_file
from asterism.analysis.chunks.units import ChunkOptions
from asterism.analysis.syntax import statements
from asterism.analysis.syntax.outlines import outline


def test_one_parse_for_all_oversize_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "".join(f"    total_{number} = compute({number})\n" for number in range(60))
    data = "".join(f"def f_{number}():\n{body}\n" for number in range(5)).encode()
    made = []
    make = statements._trees

    def counted(path: str, source: bytes) -> object:
        made.append(path)
        return make(path, source)

    monkeypatch.setattr(statements, "_trees", counted)
    chunks = chunk_file(
        outline("a.py", data),
        data,
        FileOrigin("repo", "a.py", "a.py"),
        ChunkOptions(max_tokens=200),
    )
    assert sum(chunk.part > 0 for chunk in chunks) >= 5
    assert made == ["a.py"]
