"""The compilation database for clangd: filtered from the repository's own, or a guess."""

import json
import os
import re
import shlex
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

# Flags that take a folder or a macro. Of flags with a common prefix the longest comes first.
_FOLDER_FLAGS = ("-isystem", "-iquote", "-idirafter", "-I")
_MACROS = ("-D", "-U")
_TAKEN = (*_FOLDER_FLAGS, *_MACROS)
_STANDARD = re.compile(r"-std=[A-Za-z0-9+:]{1,20}")
_MACRO = re.compile(r"[A-Za-z_]\w*(\([\w, .]*\))?(=.*)?", re.S)

# A database has a kilobyte or two for each source.
LARGEST = 256_000_000
# Words of one command.
MOST_WORDS = 10_000
# Folders that are searched for headers; a command with more is refused by some systems.
MOST_FOLDERS = 200
# Of a file; includes stand at its beginning.
_READ_BYTES = 200_000


def is_source(path: str) -> bool:
    """Whether a compiler is started for a file."""
    return PurePosixPath(path).suffix.lower() in _SOURCES


def own_commands(root: str) -> list[dict[str, Any]] | None:
    """Entries from the compilation database of the repository, if a build has written one.

    Commands are not passed on as written, because a command can name another compiler, plugins,
    response files and headers from anywhere. Only the sources, the folders of headers below the
    root, macros and the language's standard are taken over.
    """
    return next((found for folder in _FOLDERS if (found := _own(root, Path(root, folder)))), None)


def _own(root: str, folder: Path) -> list[dict[str, Any]] | None:
    real = os.path.realpath(root)
    try:
        place = folder / FILE
        if not _is_below(str(place), real) or place.stat().st_size > LARGEST:
            return None
        entries = json.loads(place.read_bytes())
        made = [_entry(entry, folder, real) for entry in entries if isinstance(entry, dict)]
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return [entry for entry in made if entry is not None] or None


def _entry(entry: dict[str, Any], folder: Path, root: str) -> dict[str, Any] | None:
    """One command with its allowed flags; None if the file is not a source below root."""
    file, directory = entry.get("file"), entry.get("directory", "")
    if not isinstance(file, str) or not isinstance(directory, str):
        return None
    base = os.path.join(folder, directory)  # noqa: PTH118
    source = os.path.realpath(os.path.join(base, file))  # noqa: PTH118
    driver = _SOURCES.get(PurePosixPath(source).suffix.lower())
    if driver is None or not _is_below(source, root):
        return None
    flags = _harmless(_words(entry), base, root)
    standard = [flag for flag in flags if flag.startswith("-std=")][-1:]
    others = [flag for flag in flags if not flag.startswith("-std=")]
    arguments = [driver[0], *(standard or driver[1:]), *_TOLERANT, *others, source]
    return {"directory": root, "file": source, "arguments": arguments}


def _words(entry: dict[str, Any]) -> list[str]:
    arguments, command = entry.get("arguments"), entry.get("command")
    if isinstance(arguments, list):
        return [word for word in arguments if isinstance(word, str)][:MOST_WORDS]
    if isinstance(command, str):
        return shlex.split(command)[:MOST_WORDS]
    return []


def _harmless(words: list[str], base: str, root: str) -> list[str]:
    """The flags that are taken over: header folders below root, macros, and the standard."""
    found: list[str] = []
    pending = iter(words[1:])
    for word in pending:
        flag = next((flag for flag in _TAKEN if word.startswith(flag)), None)
        if flag is None:
            if _STANDARD.fullmatch(word):
                found.append(word)
            continue
        value = word.removeprefix(flag) or next(pending, "")
        if flag in _MACROS:
            if _MACRO.fullmatch(value):
                found.append(f"{flag}{value}")
            continue
        place = os.path.realpath(os.path.join(base, value))  # noqa: PTH118
        if value and _is_below(place, root):
            found += [flag, place]
    return found


def _is_below(path: str, root: str) -> bool:
    """Whether the real path is below the root."""
    real = os.path.realpath(path)
    return real == root or real.startswith(f"{root.rstrip('/')}/")


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
