"""Finds the file of a path that is typed as a reply shows it, with hidden characters spelt out."""

import os

from asterism.types.errors import PathOutside
from asterism.types.files import display_path, wire_path


def check_inside(path: str, root: str) -> None:
    """Refuse a path whose real place is not below the real place of the root."""
    real, top = os.path.realpath(path), os.path.realpath(root)
    if real != top and not real.startswith(top.rstrip(os.sep) + os.sep):
        raise PathOutside(
            f"{display_path(path)} leads out of {display_path(root)} through a link, to "
            f"{display_path(real)}; give that path itself if you mean it."
        )


def on_disk(typed: str) -> str:
    r"""The path as the disk has it: `a\u202eb.py` is that file, or else the one that is shown so.

    What exists as it is typed is itself. A path that means no file, or several, comes back as is.
    """
    # A NUL is in no path; what is wrong with it is said where the path is opened.
    if "\\" not in typed or "\0" in typed or os.path.lexists(typed):
        return typed
    place = ""
    for step in typed.split("/"):
        found = place + step
        if "\\" in step and not os.path.lexists(found):
            name = _name_shown_as(step, place or os.curdir)
            if name is None:
                return typed
            found = place + name
        place = f"{found}/"
    return place[:-1]


def _name_shown_as(shown: str, directory: str) -> str | None:
    try:
        names = os.listdir(directory)  # noqa: PTH208 - names may be no text
    except (OSError, ValueError):
        return None
    found = [name for name in names if shown in (display_path(name), wire_path(name))]
    return found[0] if len(found) == 1 else None
