"""How a repository's C and C++ is compiled: its own compilation database, or one made up."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

FILE = "compile_commands.json"

# Where builds leave it.
_FOLDERS = ("", "build", "out", "builddir", "cmake-build-debug", "cmake-build-release")
_SOURCES = {
    **dict.fromkeys((".c",), ("clang", "-std=gnu17")),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".c++"), ("clang++", "-std=gnu++20")),
}
# Code whose generated headers are missing has errors in every file; the rest of it still counts.
_TOLERANT = ("-ferror-limit=0", "-w")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.M)

# Folders that are searched for headers; a command with more is refused by some systems.
MOST_FOLDERS = 200
# Of a file; includes stand at its beginning.
_READ_BYTES = 200_000


def is_source(path: str) -> bool:
    """Whether a compiler is started for a file."""
    return PurePosixPath(path).suffix.lower() in _SOURCES


def own_commands(root: str) -> list[dict[str, Any]] | None:
    """The entries of the repository's own database, where a build has left one."""
    return next((found for folder in _FOLDERS if (found := _own(Path(root, folder)))), None)


def _own(folder: Path) -> list[dict[str, Any]] | None:
    """The entries of a database; their directories are absolute afterwards."""
    try:
        entries = json.loads((folder / FILE).read_bytes())
        usable = [entry for entry in entries if isinstance(entry["file"], str)]
        return [
            {**entry, "directory": str(folder / str(entry.get("directory", "")))}
            for entry in usable
        ] or None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def made_up(root: str, paths: list[str]) -> list[dict[str, Any]]:
    """An entry for each source, with the folders that its includes need."""
    return [*_entries(root, paths)]


def _entries(root: str, paths: list[str]) -> Iterator[dict[str, Any]]:
    folders = [f"-I{root}/{folder}".rstrip("/") for folder in include_folders(root, paths)]
    for path in paths:
        found = _SOURCES.get(PurePosixPath(path).suffix.lower())
        if found is not None:
            file = f"{root}/{path}"
            arguments = [*found, *_TOLERANT, *folders, file]
            yield {"directory": root, "file": file, "arguments": arguments}


def include_folders(root: str, paths: list[str]) -> list[str]:
    """The folders that make the includes of these files lead to files, the busiest first."""
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    there = frozenset(paths)
    counts: Counter[str] = Counter()
    for path in paths:
        beside = path.rpartition("/")[0]
        for written in _includes(f"{root}/{path}"):
            if f"{beside}/{written}".lstrip("/") in there:
                continue
            for header in by_name.get(written.rpartition("/")[2], ()):
                if header == written or header.endswith(f"/{written}"):
                    counts[header[: len(header) - len(written)].rstrip("/")] += 1
    return [folder for folder, _ in counts.most_common(MOST_FOLDERS)]


def _includes(place: str) -> set[str]:
    try:
        with Path(place).open("rb") as file:
            text = file.read(_READ_BYTES)
    except OSError:
        return set()
    return {found.decode("utf-8", "replace").lstrip("./") for found in _INCLUDE.findall(text)}
