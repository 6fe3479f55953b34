"""What the catalogue knows of imports: who imports whom, and what a file offers to others."""

from collections.abc import Callable, Collection, Iterator

from asterism.store.catalogue.batches import ROLES
from asterism.store.database import Database, Row, loaded_path, stored_path
from asterism.types.index import Link, Resolution, Role, Signatures
from asterism.types.outline import Declared, offered

_LINK = "l.module, l.target, l.names, l.reexports"
# How many values one query may name; SQLite's own limit is far above.
_AT_ONCE = 500
_DEFINITION, _EXPORT, _IMPORT = map(ROLES.index, (Role.DEFINITION, Role.EXPORT, Role.IMPORT))


def signatures(
    database: Database, repo: int, paths: Collection[str], cut: Callable[[str], str]
) -> dict[str, Signatures]:
    """What each of the known files offers to others."""
    found: dict[str, Signatures] = {}
    for path in paths:
        file = database.one(
            "SELECT number, language FROM files WHERE repo = ? AND path = ?",
            (repo, stored_path(path)),
        )
        if file is not None:
            number, language = file
            found[path] = offered(path, language, _declared(database, number, cut))
    return found


def links(database: Database, repo: int, path: str) -> list[Link]:
    """The modules that a file imports, in order."""
    rows = database.rows(
        f"SELECT {_LINK} FROM files f JOIN links l ON l.file = f.number"
        " WHERE f.repo = ? AND f.path = ? ORDER BY l.n",
        (repo, stored_path(path)),
    )
    return [_link(database, row) for row in rows]


def importers(
    database: Database, repo: int, targets: Collection[str]
) -> dict[str, list[tuple[str, Link]]]:
    """For each target that is imported, who imports it and how."""
    found: dict[str, list[tuple[str, Link]]] = {}
    wanted = [stored_path(target) for target in dict.fromkeys(targets)]
    for start in range(0, len(wanted), _AT_ONCE):
        part = wanted[start : start + _AT_ONCE]
        marks = ",".join("?" * len(part))
        rows = database.rows(
            f"SELECT f.path, {_LINK} FROM links l CROSS JOIN files f ON f.number = l.file"
            f" WHERE l.target IN ({marks}) AND f.repo = ? ORDER BY f.path, l.n",
            [*part, repo],
        )
        for path, *row in rows:
            link = _link(database, tuple(row))
            if link.target is not None:
                found.setdefault(link.target, []).append((loaded_path(path), link))
    return found


def importing_paths(database: Database, repo: int, targets: Collection[str]) -> dict[str, set[str]]:
    """For each target that is imported, the paths of the files that do, and nothing else of them.

    A tenth of what `importers` costs, which reads the imported names as well.
    """
    found: dict[str, set[str]] = {}
    wanted = [stored_path(target) for target in dict.fromkeys(targets)]
    for start in range(0, len(wanted), _AT_ONCE):
        part = wanted[start : start + _AT_ONCE]
        marks = ",".join("?" * len(part))
        rows = database.rows(
            "SELECT l.target, f.path FROM links l CROSS JOIN files f ON f.number = l.file"
            f" WHERE l.target IN ({marks}) AND f.repo = ?",
            [*part, repo],
        )
        for target, path in rows:
            found.setdefault(loaded_path(target), set()).add(loaded_path(path))
    return found


def resolutions(database: Database, repo: int) -> Iterator[Resolution]:
    """What every import of a repository was found to mean."""
    rows = database.rows(
        "SELECT f.path, l.module, l.target, l.reexports FROM files f"
        " JOIN links l ON l.file = f.number WHERE f.repo = ?",
        (repo,),
    )
    for path, module, target, reexports in rows:
        loaded = None if target is None else loaded_path(target)
        yield Resolution(loaded_path(path), module, loaded, bool(reexports))


def _link(database: Database, row: Row) -> Link:
    module, target, names, reexports = row
    loaded = None if target is None else loaded_path(target)
    return Link(module, loaded, tuple(database.unpacked(names)), bool(reexports))


def _declared(database: Database, file: int, cut: Callable[[str], str]) -> Declared:
    rows = database.rows(
        "SELECT role, name, coalesce(qualified_name, name), signature, module"
        " FROM declarations WHERE file = ? ORDER BY n",
        (file,),
    )
    return Declared(
        [
            (name, cut(signature or ""))
            for role, name, qualified, signature, _ in rows
            if role == _DEFINITION and qualified == name
        ],
        [(name, there, module) for role, name, there, _, module in rows if role == _EXPORT],
        [
            (name, module, qualified[len(module) + 1 :])
            for role, name, qualified, _, module in rows
            if role == _IMPORT and module is not None and qualified != module
        ],
    )
