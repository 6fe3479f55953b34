"""Which repository a file the user typed belongs to."""

import os
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.source.checkouts import enclosing_checkout
from asterism.analysis.source.outside_links import check_inside
from asterism.analysis.source.secrets import is_secret_path
from asterism.analysis.source.shown_paths import on_disk
from asterism.types.errors import PathUnreadable
from asterism.types.files import display_path


class FilePlace(NamedTuple):
    """A file, and its path and name inside its repository."""

    path: str
    root: str
    relative_path: str
    repo: str


def place_of(typed: str) -> FilePlace:
    """The repository is the enclosing checkout, else the current directory, else the file's own."""
    path = Path(on_disk(typed)).absolute()
    checkout = enclosing_checkout(str(path.parent))
    here = Path.cwd() if path.is_relative_to(Path.cwd()) else None
    around = here if checkout is None else Path(checkout.root)
    root = path.parent if around is None else around
    relative = os.path.relpath(path, root).replace(os.sep, "/")
    behind = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
    if is_secret_path(relative) or is_secret_path(behind.replace(os.sep, "/")):
        raise PathUnreadable(
            f"{display_path(typed)} looks like a secret by its name; such files are never read."
        )
    if around is not None:
        check_inside(str(path), str(around))
    return FilePlace(str(path), str(root), relative, root.name)


def folder_of(typed: str) -> Path:
    """A directory that the user names; a link in a checkout does not lead out of it."""
    path = Path(on_disk(typed)).absolute()
    checkout = enclosing_checkout(str(path.parent))
    if checkout is not None:
        check_inside(str(path), checkout.root)
    return path
