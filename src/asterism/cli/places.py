"""Which repository a file the user typed belongs to."""

import os
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.source.checkouts import enclosing_checkout
from asterism.analysis.source.secrets import is_secret_path
from asterism.analysis.source.shown_paths import on_disk
from asterism.domain.errors import PathUnreadable
from asterism.domain.files import display_path


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
    if checkout is not None:
        root = Path(checkout.root)
    else:
        root = Path.cwd() if path.is_relative_to(Path.cwd()) else path.parent
    relative = os.path.relpath(path, root).replace(os.sep, "/")
    if is_secret_path(relative):
        raise PathUnreadable(
            f"{display_path(typed)} looks like a secret by its name; such files are never read."
        )
    return FilePlace(str(path), str(root), relative, root.name)
