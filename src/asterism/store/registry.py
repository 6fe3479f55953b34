"""The user's projects and repositories: what is indexed, and where its index is."""

import os
import sqlite3
import stat
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from asterism.store.project_copy import checked_name, default_name, is_name, readable_id
from asterism.store.registry_file import reading, writing
from asterism.types.errors import (
    PathMissing,
    PathOutside,
    PathUnreadable,
    UsageError,
    WrongPathKind,
)
from asterism.types.files import display_path
from asterism.types.index import Repository

_SELECT = """
SELECT p.id, p.name, r.id, r.name, r.root
FROM repositories r JOIN projects p ON p.number = r.project
"""


class Project(NamedTuple):
    """Repositories that share one index."""

    id: str
    name: str
    directory: Path


class Registered(NamedTuple):
    """A repository in its project."""

    project: Project
    repository: Repository


def check_root(registered: Registered) -> None:
    """Refuse a repository whose directory leads elsewhere now than when it was made known."""
    root = registered.repository.root
    if os.path.realpath(root) != root:
        raise PathOutside(
            f"{display_path(root)} leads through a link now, and did not when it was made known; "
            f"remove {registered.repository.name}, and make known the directory that you mean."
        )


class RepositoryState(StrEnum):
    """Whether a repository is where it was."""

    present = "present"
    missing = "missing"
    moved = "moved"
    """It was renamed in its folder; registering it there takes its index along."""


class _Traces(NamedTuple):
    """What a directory keeps when it is moved, as text: some systems' numbers are beyond SQL's."""

    device: str
    inode: str
    stamp: str
    """A time that never changes; inode numbers are reused when a directory is removed."""


class Registry:
    """The list in the data directory. Every method reads or writes it whole, and keeps nothing."""

    def __init__(self, data_directory: Path) -> None:
        self._directory = data_directory

    def projects(self) -> list[Project]:
        """Every project, by name."""
        with reading(self._directory) as connection:
            if connection is None:
                return []
            rows = connection.execute("SELECT id, name FROM projects ORDER BY name, id").fetchall()
        return [self._project(*row) for row in rows]

    def repositories(self, project: str | None = None) -> list[Registered]:
        """Every repository, or those of a project given by id or name, in the order they came."""
        found = self._select("ORDER BY r.number")
        if project is None:
            return found
        by_id = [entry for entry in found if entry.project.id == project]
        return by_id or [entry for entry in found if entry.project.name == project]

    def register(
        self, root: Path, name: str | None = None, project: str | None = None
    ) -> Registered:
        """Make a directory known, in a project of its own unless one is named.

        A directory that is known already, in that project or, if none is named, in any, stays as it
        is. One that was moved here from where it was known keeps its name and its index.
        """
        place = self._usable(root)
        if name is not None:
            checked_name(name, "repository")
        with writing(self._directory) as connection:
            _follow(connection, place)
            target = self._target(connection, project)
            is_new_project = project is not None and target is None
            known = None if is_new_project else _known(connection, place, target)
            if known is None:
                known = self._add(connection, place, name, target or project)
            else:
                # It may have become a checkout since, or another directory of the same name.
                _set_root(connection, known, place)
            found = self._one(connection, known)
            if name is not None and found.repository.name != name:
                raise UsageError(
                    f"{display_path(place)} is already known as {found.repository.name}; "
                    "remove it first to give it another name."
                )
            for directory in (found.project.directory.parent, found.project.directory):
                directory.mkdir(mode=0o700, exist_ok=True)
        return found

    def find(self, path: Path) -> Registered | None:
        """The repository that a path is in, the innermost one; of equals the first that came."""
        real = Path(os.path.realpath(path))
        roots = [os.fsencode(place) for place in (real, *real.parents)]
        marks = ",".join("?" * len(roots))
        found = self._select(
            f"WHERE r.root IN ({marks}) ORDER BY length(r.root) DESC, r.number LIMIT 1", roots
        )
        return found[0] if found else None

    def find_by_name(self, name: str) -> Registered | None:
        """The repository of this id, or the only one of this name."""
        if not is_name(name):
            return None
        found = self._select("WHERE r.id = ?", [name]) or self._select("WHERE r.name = ?", [name])
        if len(found) > 1:
            listed = "; ".join(_shown(entry) for entry in found)
            raise UsageError(
                f"There are several repositories called {name}; give the id of one: {listed}."
            )
        return found[0] if found else None

    def remove(self, registered: Registered) -> None:
        """Forget a repository, and its project if that is empty then; no file is touched."""
        with writing(self._directory) as connection:
            connection.execute("DELETE FROM repositories WHERE id = ?", [registered.repository.id])
            connection.execute(
                "DELETE FROM projects WHERE number NOT IN (SELECT project FROM repositories)"
            )

    def move(self, registered: Registered, root: Path) -> Registered:
        """Note that a repository is at another place now; name, id and index stay."""
        place = self._usable(root)
        with writing(self._directory) as connection:
            row = connection.execute(
                "SELECT number, project FROM repositories WHERE id = ?", [registered.repository.id]
            ).fetchone()
            if row is None:
                raise UsageError(
                    f"{registered.repository.name} is not known any more; index it again."
                )
            holder = _known(connection, place, row[1])
            if holder not in (None, row[0]):
                raise UsageError(
                    f"{display_path(place)} is already in the project {registered.project.name}; "
                    "remove it there first."
                )
            _set_root(connection, row[0], place)
            return self._one(connection, row[0])

    def state(self, registered: Registered) -> RepositoryState:
        """Whether the repository is where it was."""
        if not _is_gone(Path(registered.repository.root)):
            return RepositoryState.present
        return (
            RepositoryState.missing if self.new_root(registered) is None else RepositoryState.moved
        )

    def new_root(self, registered: Registered) -> Path | None:
        """Where a repository that is gone is now, if it was only renamed in its folder."""
        with reading(self._directory) as connection:
            if connection is None:
                return None
            row = connection.execute(
                "SELECT device, inode, stamp FROM repositories WHERE id = ?",
                [registered.repository.id],
            ).fetchone()
        old = Path(registered.repository.root)
        if row is None or not _is_gone(old):
            return None
        traces = _Traces(*row)
        try:
            with os.scandir(old.parent) as entries:
                # The entry tells the inode without another look at the disk.
                alike = [entry.path for entry in entries if str(entry.inode()) == traces.inode]
            return next((Path(path) for path in alike if _traces(path) == traces), None)
        except OSError:
            return None

    def _usable(self, root: Path) -> str:
        """The real path of a directory that may be indexed."""
        shown = display_path(str(root))
        try:
            place = os.path.realpath(root, strict=True)
            is_directory = os.path.isdir(place)  # noqa: PTH112 - says no where it may not look
            if is_directory:
                os.scandir(place).close()
        except (FileNotFoundError, NotADirectoryError, ValueError):
            raise PathMissing(f"{shown} does not exist; check the path.") from None
        except OSError as error:
            raise PathUnreadable(
                f"{shown} cannot be read ({error.strerror}); check the path."
            ) from error
        if not is_directory:
            raise WrongPathKind(f"{shown} is not a directory; give the directory it is in.")
        data = Path(os.path.realpath(self._directory))
        if data.is_relative_to(place) or Path(place).is_relative_to(data):
            raise UsageError(
                f"{shown} holds Asterism's own data ({display_path(str(data))}); give a directory "
                "without it, or set ASTERISM_DATA_DIR to another place."
            )
        return place

    def _target(self, connection: sqlite3.Connection, project: str | None) -> int | None:
        """The number of the project that an id or a name means, if there is one."""
        if project is None:
            return None
        checked_name(project, "project")
        for column in ("id", "name"):
            rows = connection.execute(
                f"SELECT number, id FROM projects WHERE {column} = ? ORDER BY number", [project]
            ).fetchall()
            if len(rows) > 1:
                listed = ", ".join(row[1] for row in rows)
                raise UsageError(
                    f"There are several projects called {project}; give the id of one: {listed}."
                )
            if rows:
                number: int = rows[0][0]
                return number
        return None

    def _add(
        self, connection: sqlite3.Connection, place: str, name: str | None, into: int | str | None
    ) -> int:
        """Write a new repository into a project: a known one, a new one of a name, or its own."""
        path = os.fsencode(place)
        number = into if isinstance(into, int) else None
        if name is None:
            name = default_name(
                Path(place).name,
                lambda wanted: _has(
                    connection,
                    "repositories WHERE name = ? AND (root <> ? OR project IS ?)",
                    [wanted, path, number],
                ),
            )
        elif _has(connection, "repositories WHERE name = ? AND project IS ?", [name, number]):
            raise UsageError(f"The project has a repository called {name}; give another name.")
        if number is None:
            title = into if isinstance(into, str) else name
            made = readable_id(
                title, path, lambda wanted: _has(connection, "projects WHERE id = ?", [wanted])
            )
            number = _insert(connection, "projects (id, name)", [made, title])
        made = readable_id(
            name,
            b"%d:%b" % (number, path),
            lambda wanted: _has(connection, "repositories WHERE id = ?", [wanted]),
        )
        return _insert(
            connection,
            "repositories (project, id, name, root, device, inode, stamp)",
            [number, made, name, path, *_traces(place)],
        )

    def _one(self, connection: sqlite3.Connection, number: int) -> Registered:
        row = connection.execute(f"{_SELECT} WHERE r.number = ?", [number]).fetchone()
        return self._registered(row)

    def _select(self, condition: str, values: Iterable[object] = ()) -> list[Registered]:
        with reading(self._directory) as connection:
            if connection is None:
                return []
            rows = connection.execute(f"{_SELECT} {condition}", list(values)).fetchall()
        return [self._registered(row) for row in rows]

    def _registered(self, row: tuple[str, str, str, str, bytes]) -> Registered:
        project, title, id_, name, root = row
        return Registered(self._project(project, title), Repository(id_, name, os.fsdecode(root)))

    def _project(self, id_: str, name: str) -> Project:
        return Project(id_, name, self._directory / "projects" / id_)


def _known(connection: sqlite3.Connection, place: str, project: int | None) -> int | None:
    """The registration of a root in a project, or the first one in any."""
    row = connection.execute(
        "SELECT number FROM repositories WHERE root = ? AND (? IS NULL OR project = ?)"
        " ORDER BY number",
        [os.fsencode(place), project, project],
    ).fetchone()
    return None if row is None else row[0]


def _follow(connection: sqlite3.Connection, place: str) -> None:
    """Take along every registration whose root is gone and was this very directory."""
    traces = _traces(place)
    rows = connection.execute(
        "SELECT number, project, root FROM repositories"
        " WHERE device = ? AND inode = ? AND stamp = ? AND root <> ?",
        [*traces, os.fsencode(place)],
    ).fetchall()
    for number, project, root in rows:
        is_free = _known(connection, place, project) is None
        if is_free and _is_gone(Path(os.fsdecode(root))):
            _set_root(connection, number, place)


def _set_root(connection: sqlite3.Connection, number: int, place: str) -> None:
    connection.execute(
        "UPDATE repositories SET root = ?, device = ?, inode = ?, stamp = ? WHERE number = ?",
        [os.fsencode(place), *_traces(place), number],
    )


def _is_gone(directory: Path) -> bool:
    """A directory that may merely not be looked at is not gone."""
    try:
        return not stat.S_ISDIR(directory.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _traces(place: str) -> _Traces:
    status = Path(place).stat()
    return _Traces(str(status.st_dev), str(status.st_ino), str(_stamp(place, status)))


def _stamp(place: str, status: os.stat_result) -> int:
    """When git made the checkout, by a file it never writes again; else the directory's own time.

    The latter changes with each file at the top; registering again brings it up to date.
    """
    for name in (".git", ".git/description"):
        try:
            found = (Path(place) / name).stat()
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode):
            return found.st_mtime_ns
    return status.st_mtime_ns


def _has(connection: sqlite3.Connection, source: str, values: Iterable[object]) -> bool:
    return connection.execute(f"SELECT 1 FROM {source}", list(values)).fetchone() is not None


def _insert(connection: sqlite3.Connection, target: str, values: list[object]) -> int:
    marks = ",".join("?" * len(values))
    return connection.execute(f"INSERT INTO {target} VALUES ({marks})", values).lastrowid or 0


def _shown(entry: Registered) -> str:
    return f"{entry.repository.id} ({display_path(entry.repository.root)})"
