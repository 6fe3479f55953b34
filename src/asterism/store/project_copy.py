"""What the registry knows of a project, once more in the project's directory.

From these copies a registry that is lost or damaged is made again.
"""

import hashlib
import json
import os
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple, TypeAlias

from asterism.store.plain_files import remove
from asterism.types.errors import UsageError
from asterism.types.files import display_path

LONGEST = 64
_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9._-]{{0,{LONGEST - 1}}}")
_FOREIGN = re.compile(r"[^A-Za-z0-9._-]+")
_DIGITS = 8
"""Hexadecimal digits of a path's hash in an id; should two be equal, another hash is tried."""


def is_name(text: str) -> bool:
    """Whether anything can be called so."""
    return _NAME.fullmatch(text) is not None


def checked_name(name: str, what: str) -> str:
    """The name itself, if it may be one."""
    if not is_name(name):
        raise UsageError(
            f"{display_path(name)!r} cannot be the name of a {what}: give 1 to {LONGEST} letters "
            "(a to z), digits, dots, dashes or underscores, no dot or dash first."
        )
    return name


def default_name(directory: str, is_taken: Callable[[str], bool]) -> str:
    """The directory's name as far as it may be one, with a number where that is taken."""
    plain = _FOREIGN.sub("-", directory).lstrip(".-")[:LONGEST].rstrip("-") or "repository"
    if not is_taken(plain):
        return plain
    numbered = (f"{plain[: LONGEST - len(f'-{n}')]}-{n}" for n in count(2))
    return next(name for name in numbered if not is_taken(name))


def readable_id(name: str, path: bytes, is_taken: Callable[[str], bool]) -> str:
    """The name and a few digits of the path, so that a directory called so can be recognised."""
    salted = (b"%d:%b" % (attempt, path) if attempt else path for attempt in count())
    digits = (hashlib.sha256(content).hexdigest()[:_DIGITS] for content in salted)
    made = (f"{name[: LONGEST - 1 - _DIGITS]}-{some}" for some in digits)
    return next(candidate for candidate in made if not is_taken(candidate))


NAME = "project.json"
PROJECTS = "projects"

Traced: TypeAlias = tuple[str, str, bytes, str, str, str]
"""A repository's id, name and root, and by which traces its directory is known again."""


class Copy(NamedTuple):
    """A project with its repositories, in the order they came."""

    id: str
    name: str
    repositories: tuple[Traced, ...]


def all_of(connection: sqlite3.Connection) -> dict[str, Copy]:
    """Everything the registry holds, by the projects' ids."""
    projects = connection.execute("SELECT number, id, name FROM projects ORDER BY number")
    found = {}
    for number, id_, name in projects.fetchall():
        rows = connection.execute(
            "SELECT id, name, root, device, inode, stamp FROM repositories WHERE project = ?"
            " ORDER BY number",
            [number],
        )
        found[id_] = Copy(id_, name, tuple(rows.fetchall()))
    return found


def digest_of(everything: Mapping[str, Copy]) -> bytes:
    """What tells the content of a registry from any other."""
    content = repr([tuple(copy) for copy in everything.values()])
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()


def keep(data: Path, before: Mapping[str, Copy], now: Mapping[str, Copy]) -> None:
    """Bring the copies up to date; where one cannot be written, the registry is still right."""
    for id_ in before.keys() - now.keys():
        with suppress(OSError):
            remove(_place(data, id_))
    for id_, copy in now.items():
        place = _place(data, id_)
        with suppress(OSError):
            if place.parent.is_dir() and (before.get(id_) != copy or not place.is_file()):
                _write(place, copy)


def are_there(data: Path) -> bool:
    """Whether any project has left a copy."""
    return any((data / PROJECTS).glob(f"*/{NAME}"))


def restore(data: Path, connection: sqlite3.Connection) -> int:
    """Fill an empty registry from the copies; how many projects that were."""
    count = 0
    for copy in _copies(data):
        number = connection.execute(
            "INSERT OR IGNORE INTO projects (id, name) VALUES (?, ?)", [copy.id, copy.name]
        ).lastrowid
        connection.executemany(
            "INSERT OR IGNORE INTO repositories (project, id, name, root, device, inode, stamp)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(number, *repository) for repository in copy.repositories],
        )
        count += 1
    return count


def _copies(data: Path) -> Iterator[Copy]:
    """The oldest projects first, as they came."""
    folders = [path for path in (data / PROJECTS).glob("*") if path.is_dir()]
    for folder in sorted(folders, key=lambda path: (path.stat().st_ctime_ns, path.name)):
        copy = _read(folder / NAME) or _from_catalogue(folder)
        if copy is not None and copy.id == folder.name and copy.repositories:
            yield copy


def _write(place: Path, copy: Copy) -> None:
    rows = [(*row[:2], row[2].decode("latin-1"), *row[3:]) for row in copy.repositories]
    text = json.dumps([copy.id, copy.name, rows])
    draft = place.with_name(f"{NAME}.new")
    if place.is_dir() and not place.is_symlink():
        remove(place)
    draft.write_text(f"{zlib.crc32(text.encode())} {text}\n", encoding="utf-8")
    draft.replace(place)


def _read(place: Path) -> Copy | None:
    try:
        if not place.is_file():
            return None
        number, _, text = place.read_text(encoding="utf-8").rstrip("\n").partition(" ")
        if int(number) != zlib.crc32(text.encode()):
            return None
        id_, name, rows = json.loads(text)
        repositories = [(*row[:2], row[2].encode("latin-1"), *row[3:]) for row in rows]
        return Copy(id_, name, tuple(repositories))
    except (OSError, ValueError, TypeError):
        return None


def _from_catalogue(folder: Path) -> Copy | None:
    """What the index itself says, where a program of before wrote no copy or it is damaged."""
    from asterism.store.catalogue.catalogue import Catalogue
    from asterism.types.errors import AsterismError

    try:
        with Catalogue.open(folder) as catalogue:
            known = catalogue.repositories()
    except AsterismError:
        return None
    name = folder.name.rpartition("-")[0]
    if not known or not is_name(name):
        return None
    # Where the only repository has a name of its own, the project was called like it.
    name = known[0].name if len(known) == 1 else name
    rows = [(one.id, one.name, os.fsencode(one.root), "", "", "") for one in known]
    return Copy(folder.name, name, tuple(rows))


def _place(data: Path, id_: str) -> Path:
    return data / PROJECTS / id_ / NAME
