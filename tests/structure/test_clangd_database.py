"""How a repository is compiled: by its own account, or by what its includes need."""

import json
from pathlib import Path

import pytest

from asterism.structure.clangd_database import include_folders, made_up, own_commands
from tests.structure.scripts import written

FILES = {
    "include/harbor/gate.h": "#include <harbor/lid.h>\n",
    "include/harbor/lid.h": "",
    "src/main.cc": '#include "harbor/gate.h"\n#  include "local.h"\n#include <vector>\n',
    "src/local.h": "",
    "src/deep/part.c": '#include "../local.h"\n#include "local.h"\n#include "missing.h"\n',
    "vendor/zip/zip.h": "",
    "src/use.cc": '#include "zip.h"\n',
}


def test_folders_that_includes_need(tmp_path: Path) -> None:
    root = written(tmp_path, FILES)
    assert include_folders(str(root), [*FILES]) == ["include", "src", "vendor/zip"]


def test_made_up(tmp_path: Path) -> None:
    root = written(tmp_path, FILES)
    entries = {Path(entry["file"]).name: entry for entry in made_up(str(root), [*FILES])}
    assert sorted(entries) == ["main.cc", "part.c", "use.cc"]
    assert entries["part.c"]["arguments"][:2] == ["clang", "-std=gnu17"]
    assert f"-I{root}/vendor/zip" in entries["use.cc"]["arguments"]


@pytest.mark.parametrize("folder", ["", "build"])
def test_the_repositorys_own(tmp_path: Path, folder: str) -> None:
    place = tmp_path / folder
    place.mkdir(exist_ok=True)
    entry = {"directory": "made", "file": "a.c", "command": "cc a.c"}
    (place / "compile_commands.json").write_text(json.dumps([entry]))
    assert own_commands(str(tmp_path)) == [{**entry, "directory": str(place / "made")}]


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", "3", '[{"file": 3}]', '["a"]'])
def test_one_that_is_of_no_use(tmp_path: Path, text: str) -> None:
    (tmp_path / "compile_commands.json").write_text(text)
    assert own_commands(str(tmp_path)) is None
