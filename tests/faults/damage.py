"""A catalogue of file damage: what can happen to a file, and which files of a data directory.

A test takes `combinations(place)`, or one `Damage` and one `Part`, and calls `apply`. Every damage works on
any file, needs no privileges beyond owning it, and leaves the rest of the directory alone.
"""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

PROJECT_FILES = "projects/*"


class Earlier(NamedTuple):
    """What a data directory and a cache directory held at an earlier time."""

    contents: Mapping[Path, bytes]

    def of(self, path: Path) -> bytes | None:
        """The earlier content of a file; where it did not exist, that of a file of its kind."""
        if path in self.contents:
            return self.contents[path]
        alike = [
            content
            for other, content in self.contents.items()
            if other.parent == path.parent and other.suffix == path.suffix
        ]
        return alike[0] if alike else None


def remember(*directories: Path) -> Earlier:
    """Keep the content of every file below some directories, for `older`."""
    found = {
        path: path.read_bytes()
        for directory in directories
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
    return Earlier(found)


NOTHING_EARLIER = Earlier({})

Damage = Callable[[Path, Earlier], bool]
"""Damages a file; False where that makes no difference to this file, so there is nothing to test."""
Part = Callable[[Path, Path], Path | None]
"""Finds a file in a data directory and a cache directory; None if there is no such file."""


def emptied(path: Path, _earlier: Earlier) -> bool:
    """Nothing is left of the content."""
    return _rewritten(path, lambda _content: b"")


def cut_in_half(path: Path, _earlier: Earlier) -> bool:
    """The second half is gone."""
    return _rewritten(path, lambda content: content[: len(content) // 2])


def cut_by_a_byte(path: Path, _earlier: Earlier) -> bool:
    """The last byte is gone."""
    return _rewritten(path, lambda content: content[:-1])


def extended(path: Path, _earlier: Earlier) -> bool:
    """Something was written behind the end."""
    return _rewritten(path, lambda content: content + bytes(range(256)))


def bit_flipped(share: float) -> Damage:
    """One bit is another one: at the head (0), in the middle (0.5) or at the tail (1)."""

    def hurt(path: Path, _earlier: Earlier) -> bool:
        def flipped(content: bytes) -> bytes:
            at = round((len(content) - 1) * share)
            return b"%b%c%b" % (content[:at], content[at] ^ 0x10, content[at + 1 :])

        return _rewritten(path, lambda content: flipped(content) if content else content)

    return hurt


def third_zeroed(which: int) -> Damage:
    """A third of the content is zeroes: the first (0), the middle (1) or the last (2)."""

    def hurt(path: Path, _earlier: Earlier) -> bool:
        def zeroed(content: bytes) -> bytes:
            start, end = len(content) * which // 3, len(content) * (which + 1) // 3
            return content[:start] + bytes(end - start) + content[end:]

        return _rewritten(path, zeroed)

    return hurt


def swapped(path: Path, _earlier: Earlier) -> bool:
    """The file and another one of its directory have each other's name."""
    others = [
        other
        for other in sorted(path.parent.iterdir())
        if other != path and other.is_file() and other.read_bytes() != path.read_bytes()
    ]
    alike = [other for other in others if other.suffix == path.suffix] or others
    if not alike:
        return False
    between = path.with_name(f"{path.name}.between")
    path.rename(between)
    alike[0].rename(path)
    between.rename(alike[0])
    return True


def older(path: Path, earlier: Earlier) -> bool:
    """An older version of the file was restored, as from a backup of single files."""
    content = earlier.of(path)
    return content is not None and _rewritten(path, lambda _content: content)


def deleted(path: Path, _earlier: Earlier) -> bool:
    """The file is gone."""
    path.unlink()
    return True


def made_a_directory(path: Path, _earlier: Earlier) -> bool:
    """A directory has the file's name."""
    path.unlink()
    path.mkdir()
    return True


def made_a_link_to_nothing(path: Path, _earlier: Earlier) -> bool:
    """A link that leads nowhere has the file's name."""
    path.unlink()
    path.symlink_to(path.with_name("nowhere"))
    return True


def made_a_pipe(path: Path, _earlier: Earlier) -> bool:
    """A pipe has the file's name: opening it waits for ever."""
    path.unlink()
    os.mkfifo(path)
    return True


def unreadable(path: Path, _earlier: Earlier) -> bool:
    """Permission to read is gone; it makes no difference to the superuser."""
    path.chmod(0)
    return not os.access(path, os.R_OK)


DAMAGES: Mapping[str, Damage] = {
    "emptied": emptied,
    "half": cut_in_half,
    "minus one byte": cut_by_a_byte,
    "extended": extended,
    "flipped head": bit_flipped(0.0),
    "flipped middle": bit_flipped(0.5),
    "flipped tail": bit_flipped(1.0),
    "zeroed head": third_zeroed(0),
    "zeroed middle": third_zeroed(1),
    "zeroed tail": third_zeroed(2),
    "swapped": swapped,
    "older": older,
    "deleted": deleted,
    "directory": made_a_directory,
    "link": made_a_link_to_nothing,
    "pipe": made_a_pipe,
    "unreadable": unreadable,
}


def table_of(data: Path) -> Path | None:
    """The chunk table that the catalogue names."""
    for catalogue in sorted(data.glob(f"{PROJECT_FILES}/catalogue.sqlite")):
        database = sqlite3.connect(f"file:{catalogue}?mode=ro", uri=True)
        try:
            row = database.execute("SELECT value FROM facts WHERE key = 'table'").fetchone()
        finally:
            database.close()
        return catalogue.parent / (row[0] if row else "chunks.lance")
    return None


def in_project(pattern: str) -> Part:
    """The first file of this pattern in a project's directory."""
    return lambda data, _cache: _first(sorted(data.glob(f"{PROJECT_FILES}/{pattern}")))


def in_data(pattern: str) -> Part:
    """The first file of this pattern in the data directory."""
    return lambda data, _cache: _first(sorted(data.glob(pattern)))


def in_cache(pattern: str) -> Part:
    """The first file of this pattern in the cache directory."""
    return lambda _data, cache: _first(sorted(cache.glob(pattern)))


def in_table(pattern: str) -> Part:
    """The largest file of this pattern in the chunk table."""

    def find(data: Path, _cache: Path) -> Path | None:
        table = table_of(data)
        found = [] if table is None else [path for path in table.glob(pattern) if path.is_file()]
        return _first(sorted(found, key=lambda path: (-path.stat().st_size, path.name)))

    return find


def named_manifest(data: Path, _cache: Path) -> Path | None:
    """The manifest of the newest version, whose name is the lowest."""
    table = table_of(data)
    return None if table is None else _first(sorted(table.glob("_versions/*.manifest")))


PARTS: Mapping[str, Part] = {
    "data": in_table("data/*.lance"),
    "index": in_table("_indices/*/*"),
    "manifest": named_manifest,
    "version hint": in_table("_versions/latest_version_hint.json"),
    "transaction": in_table("_transactions/*.txn"),
    "deletion": in_table("_deletions/*"),
    "catalogue": in_project("catalogue.sqlite"),
    "catalogue log": in_project("catalogue.sqlite-wal"),
    "catalogue sums": in_project("catalogue.sums"),
    "catalogue lock": in_project("catalogue.lock"),
    "project": in_project("project.json"),
    "encoder vectors": in_project("second.sqlite"),
    "writer lock": in_project("writer.lock"),
    "writer number": in_project("writer.pid"),
    "watch record": in_project("watch-*.json"),
    "registry": in_data("registry.sqlite"),
    "conversations": in_data("records.sqlite"),
    "cache": in_cache("embeddings.sqlite"),
}


def combinations(data: Path, cache: Path) -> list[tuple[str, str]]:
    """Every part that exists with every damage, by their names."""
    return [
        (part, damage)
        for part, find in PARTS.items()
        if find(data, cache) is not None
        for damage in DAMAGES
    ]


def apply(
    part: str, damage: str, data: Path, cache: Path, earlier: Earlier = NOTHING_EARLIER
) -> Path | None:
    """Damage a part; returns the file, or None if it is missing or nothing changed."""
    path = PARTS[part](data, cache)
    return path if path is not None and DAMAGES[damage](path, earlier) else None


def removed_index(directory: Path) -> None:
    """Take a project's directory away whole."""
    shutil.rmtree(directory)


def _first(paths: list[Path]) -> Path | None:
    return paths[0] if paths else None


def _rewritten(path: Path, change: Callable[[bytes], bytes]) -> bool:
    """Write in place, as a failing disk would; False where that changes nothing."""
    before = path.read_bytes()
    after = change(before)
    if after == before:
        return False
    with path.open("r+b") as file:
        file.write(after)
        file.truncate()
    return True


def every_file(*directories: Path) -> Iterator[Path]:
    """Every plain file below some directories, for damage at random."""
    for directory in directories:
        yield from (
            path
            for path in sorted(directory.rglob("*"))
            if path.is_file() and not path.is_symlink()
        )
