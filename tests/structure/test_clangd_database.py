"""How a repository is compiled: by its own account, or by what its includes need."""

import json
import shlex
from pathlib import Path

import pytest

from asterism.structure.servers.catalogue import include_folders, made_up, own_commands
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


TOLERANT = ["-ferror-limit=0", "-w"]


@pytest.mark.parametrize("folder", ["", "build"])
def test_the_repositorys_own(tmp_path: Path, folder: str) -> None:
    root = written(tmp_path, {f"{folder}/made/a.c": ""})
    place = root / folder
    entry = {"directory": "made", "file": "a.c", "command": "cc -c a.c -o a.o"}
    (place / "compile_commands.json").write_text(json.dumps([entry]))
    source = str(place / "made/a.c")
    assert own_commands(str(root)) == [
        {
            "directory": str(root),
            "file": source,
            "arguments": ["clang", "-std=gnu17", *TOLERANT, source],
        }
    ]


@pytest.mark.parametrize(
    ("words", "taken"),
    [
        (["-Iinclude"], ["-I", "{root}/include"]),
        (["-I", "{root}/include"], ["-I", "{root}/include"]),
        (
            ["-isystem", "include", "-iquote", "src"],
            ["-isystem", "{root}/include", "-iquote", "{root}/src"],
        ),
        (
            ["-DDEBUG", "-DSIZE=3", "-D", "MIN(a, b)=a", "-UNDEBUG"],
            ["-DDEBUG", "-DSIZE=3", "-DMIN(a, b)=a", "-UNDEBUG"],
        ),
        # Everything else stays out, with whatever belongs to it.
        (["-include", "{outside}/secret.h"], []),
        (["-include", "include/a.h"], []),
        (["-imacros", "{outside}/secret.h", "-include-pch", "x.pch"], []),
        (["@flags.txt", "@{outside}/flags"], []),
        (["-I{outside}", "-I..", "-isystem", "../outside", "-I", "/etc"], []),
        (["-Ilink", "-Ilink/deep"], []),
        (["-fplugin=evil.so", "-Xclang", "-load", "-Xclang", "evil.so"], []),
        (["-B{outside}", "--sysroot=/", "-isysroot", "/", "-resource-dir", "x"], []),
        (["-ivfsoverlay", "overlay.yaml", "-fmodule-map-file=x", "--config", "x.cfg"], []),
        (["-D-fplugin=x", "-D", "@x"], []),
        (["-fdebug-prefix-map=a=b", "-MF", "out.d", "-o", "{root}/../x", "--gcc-toolchain=/x"], []),
    ],
)
def test_what_is_taken_of_a_command(tmp_path: Path, words: list[str], taken: list[str]) -> None:
    root = written(tmp_path / "harbor", {"a.cc": "", "include/a.h": "", "src/b.h": ""})
    outside = written(tmp_path / "outside", {"secret.h": "", "deep/x.h": ""})
    (root / "link").symlink_to(outside)

    def filled(one: str) -> str:
        return one.replace("{root}", str(root)).replace("{outside}", str(outside))

    arguments = ["/evil/plugin", *map(filled, words), "-std=c++17", "a.cc"]
    for entry in ({"arguments": arguments}, {"command": shlex.join(arguments)}):
        place = root / "compile_commands.json"
        place.write_text(json.dumps([{"directory": str(root), "file": "a.cc", **entry}]))
        (made,) = own_commands(str(root)) or []
        source = f"{root}/a.cc"
        expected = ["clang++", "-std=c++17", *TOLERANT, *map(filled, taken), source]
        assert made == {"directory": str(root), "file": source, "arguments": expected}


@pytest.mark.parametrize(
    "file", ["../outside/a.c", "/etc/passwd", "link.c", "notes.txt", "{outside}"]
)
def test_sources_outside_are_left_out(tmp_path: Path, file: str) -> None:
    outside = written(tmp_path / "outside", {"a.c": "int secret;"})
    root = written(tmp_path / "harbor", {"notes.txt": ""})
    (root / "link.c").symlink_to(outside / "a.c")
    entry = {"directory": ".", "file": file.replace("{outside}", str(outside / "a.c"))}
    (root / "compile_commands.json").write_text(json.dumps([entry]))
    assert own_commands(str(root)) is None


def test_a_database_that_is_a_link_out_of_the_repository(tmp_path: Path) -> None:
    outside = tmp_path / "db.json"
    outside.write_text(json.dumps([{"directory": ".", "file": "a.c"}]))
    root = written(tmp_path / "harbor", {"a.c": ""})
    (root / "compile_commands.json").symlink_to(outside)
    assert own_commands(str(root)) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{}",
        "[]",
        "3",
        '[{"file": 3}]',
        '["a"]',
        "[" * 5000,
        '[{"file": "a.c", "directory": 3}]',
    ],
)
def test_one_that_is_of_no_use(tmp_path: Path, text: str) -> None:
    (tmp_path / "compile_commands.json").write_text(text)
    assert own_commands(str(tmp_path)) is None
