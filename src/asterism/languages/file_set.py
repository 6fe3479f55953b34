"""The paths of a repository, arranged so that modules find their files."""

from collections.abc import Callable, Iterable, Mapping
from posixpath import basename, dirname
from typing import TypeAlias

Roots: TypeAlias = Callable[[], Mapping[str, str]]
"""Gives the first file of each package of a repository, by the name that code has for it."""

# These stand for their folder, and there are thousands of each: the folder tells them apart.
_FOLDER_FILES = frozenset({"__init__.py", "__init__.pyi"})


class FileSet:
    """Every path of a repository; 50,000 of them take about 0.05 CPU-seconds."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._by_tail: dict[str, list[str]] = {}
        for path in self._paths:
            tail = path.rpartition("/")[2]
            if tail in _FOLDER_FILES:
                tail = _tail(path)
            self._by_tail.setdefault(tail, []).append(path)

    def __contains__(self, path: object) -> bool:
        return path in self._paths

    def first(self, paths: Iterable[str]) -> str | None:
        """The first of these that exists."""
        return next((path for path in paths if path in self._paths), None)

    def only(self, paths: Iterable[str]) -> str | None:
        """The one of these that exists; None if there are several."""
        found = [path for path in paths if path in self._paths]
        return found[0] if len(found) == 1 else None

    def ending(self, path: str) -> list[str]:
        """Every file whose path is this or ends with it, whole names only."""
        below = f"/{path}"
        return [
            found
            for found in self._by_tail.get(_tail(path), ())
            if found == path or found.endswith(below)
        ]


def _tail(path: str) -> str:
    """The file's name; with its folder where the name says nothing."""
    name = basename(path)
    if name in _FOLDER_FILES:
        return f"{basename(dirname(path))}/{name}"
    return name
