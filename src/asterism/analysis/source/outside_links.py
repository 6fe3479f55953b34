"""Refuses a path in a repository that leads out of it through a link."""

import os

from asterism.types.errors import PathOutside
from asterism.types.files import display_path


def check_inside(path: str, root: str) -> None:
    """Refuse a path whose real place is not below the real place of the root."""
    real, top = os.path.realpath(path), os.path.realpath(root)
    if real != top and not real.startswith(top.rstrip(os.sep) + os.sep):
        raise PathOutside(
            f"{display_path(path)} leads out of {display_path(root)} through a link, to "
            f"{display_path(real)}; give that path itself if you mean it."
        )
