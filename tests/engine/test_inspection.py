"""Inspection of one file opens that file and no other."""

import os
from pathlib import Path

import pytest

from asterism.engine.engine import Engine
from asterism.engine.inspection import FileFreshness, FileVerdict
from asterism.types.index import Role
from tests.engine.conftest import make


def test_no_other_file_is_opened(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Discovery reads the head of every file it does not know; here it knows all but one."""
    root = make(tmp_path / "shop", **{f"m{number}": "x = 1\n" for number in range(9)})
    engine.register(root)
    opened: list[str] = []
    real = os.open

    def noting(path: str, *rest: int) -> int:
        opened.append(str(path))
        return real(path, *rest)

    monkeypatch.setattr(os, "open", noting)
    assert engine.inspect(root / "m5.py").verdict == FileVerdict(True)
    ours = {path for path in opened if path.startswith(str(root))}
    assert ours == {str(root / "m5.py")}


def test_symbols_are_counted_by_role(engine: Engine, tmp_path: Path) -> None:
    root = make(tmp_path / "shop", a="import os\n\ndef first():\n    return os.getcwd()\n")
    engine.index(engine.register(root))
    found = engine.inspect(root / "a.py")
    assert found.freshness is FileFreshness.equal
    assert found.held.symbols[Role.DEFINITION] == 1
    assert found.held.symbols[Role.IMPORT] == 1
    assert found.held.symbols[Role.USAGE] == 2


@pytest.mark.parametrize("name", ["m.py", "deep/er/m.py"])
def test_a_file_whose_content_makes_it_binary(engine: Engine, tmp_path: Path, name: str) -> None:
    root = make(tmp_path / "shop")
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    engine.index(engine.register(root))
    found = engine.inspect(root / name)
    assert found.freshness is FileFreshness.skipped
    assert found.verdict is not None
    assert found.verdict.reason == "binary"
