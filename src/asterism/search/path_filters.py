"""Paths as users write them in filters, brought into the form that rows have."""

import os
import re
from collections.abc import Sequence

from asterism.analysis.source.checkouts import on_disk
from asterism.store.filters import is_wild, matcher, place
from asterism.types.errors import UsageError
from asterism.types.files import display_path

# A backslash is another system's slash, unless it spells out what does not show: `\xe9`, `\u202e`.
_BACKSLASH = re.compile(r"\\(?!x[0-9a-f]{2}|u[0-9a-f]{4})")
_DRIVE = re.compile(r"[A-Za-z]:/")
_WILD = re.compile(r"[*?\[]")


def location(text: str, root: str | None) -> str:
    """A file, a directory or a glob: `./src/` is `src`, the root itself is `.`."""
    path = _inside(text, root).rstrip("/")
    return _anywhere(path) if is_wild(path) else path or "."


def prefix(text: str, root: str | None) -> str:
    """How a path begins, which may be the middle of a name; a slash at the end says otherwise."""
    return _inside(text, root)


def glob(text: str, root: str | None) -> str:
    """A pattern for the whole path; one without a slash may match in any folder."""
    path = _inside(text, root)
    return f"{path}**" if path.endswith("/") or not path else _anywhere(path)


def exactly(text: str, root: str | None) -> str:
    """A file's path in which nothing is a wildcard: `app/[id].ts` is that file and no other."""
    return literal(_inside(text, root).rstrip("/"))


def literal(path: str) -> str:
    """The same of a path from the index: its backslashes are part of a name."""
    return _WILD.sub(lambda wild: f"[{wild[0]}]", path)


def piece(text: str) -> str:
    """A part of a path."""
    return _BACKSLASH.sub("/", text)


def common_files(paths: Sequence[str] | None, files: Sequence[str]) -> tuple[str, ...]:
    """Those of the files that are at one of the paths."""
    if paths is None:
        return tuple(files)
    common = tuple(file for file in files if any(_is_at(_plain(file), path) for path in paths))
    if not common:
        raise UsageError(
            "No file of context_filepaths is in path, so nothing can be found; "
            "leave one of them out."
        )
    return common


def common_prefixes(some: Sequence[str] | None, others: Sequence[str]) -> tuple[str, ...]:
    """The beginnings that satisfy one of either side: of two that agree, the longer."""
    if some is None:
        return tuple(others)
    common = dict.fromkeys(
        max(one, other, key=len)
        for one in some
        for other in others
        if one.startswith(other) or other.startswith(one)
    )
    if not common:
        raise UsageError(
            "No path begins with both path_prefix and context_path_prefix, so nothing can be "
            "found; leave one of them out."
        )
    return tuple(common)


def _inside(text: str, root: str | None) -> str:
    """The path from the root, without what says nothing; a slash at its end stays."""
    path = _BACKSLASH.sub("/", _verbatim(text.strip(), root))
    if path.startswith("/") or _DRIVE.match(path):
        path = _below(path, root)
    steps: list[str] = []
    for step in path.split("/"):
        if step == "..":
            if not steps:
                raise _outside(text, root)
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    ends = path.endswith(("/", "/.", "/..")) and steps
    return "/".join(steps) + ("/" if ends else "")


def _verbatim(text: str, root: str | None) -> str:
    """The path as the disk has it, where it is a file that a reply shows in another way."""
    if root is None or "\\" not in text:
        return text
    given = os.path.join(root, text)  # noqa: PTH118 - a slash at the end stays
    found = on_disk(given)
    return text if found == given else found[len(given) - len(text) :]


def _below(path: str, root: str | None) -> str:
    top = None if root is None else _BACKSLASH.sub("/", root).rstrip("/")
    if top is None or not f"{path}/".startswith(f"{top}/"):
        raise _outside(path, root)
    return path[len(top) + 1 :]


def _outside(path: str, root: str | None) -> UsageError:
    where = f"{display_path(root)}, the repository's root" if root else "the repository"
    return UsageError(f"{display_path(path)} is not inside {where}; give a path from its root.")


def _anywhere(path: str) -> str:
    return path if "/" in path or path == "**" else f"**/{path}"


def _plain(file: str) -> str:
    return re.sub(r"\[([*?\[])\]", r"\1", file)


def _is_at(path: str, given: str) -> bool:
    here = place(given)
    if here in ("", path) or path.startswith(f"{here}/"):
        return True
    return is_wild(here) and matcher(here)(path)
