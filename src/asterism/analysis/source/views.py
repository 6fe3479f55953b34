"""Whether anything below a root is other than it was, by one look at every entry."""

# Paths are plain strings: there are thousands, and pathlib would double the time.
# ruff: noqa: PTH118

import os
from collections.abc import Collection, Iterator
from typing import NamedTuple, TypeAlias

from asterism.analysis.source.discovery import DiscoveryOptions
from asterism.analysis.source.ignores import Folder, Ground, top_folder

MOST_ENTRIES = 100_000
"""A view of more is not taken: it would be 40 MB. Such a root is listed for every question."""

Mark: TypeAlias = tuple[int, int, int]
"""When an entry's content and its inode last changed, and its size."""


class View(NamedTuple):
    """How everything was that a discovery depends on, ignored files included."""

    root: str
    options: DiscoveryOptions
    top: Folder
    """The rules that come from outside the root, and from git's own folder."""
    marks: dict[str, Mark]
    """Of the directories that were entered and all they hold, by absolute path."""

    def is_same(self) -> bool:
        """Whether a discovery would find now what it found then.

        This is as sure as a discovery itself, which opens no file whose times and size are known,
        and takes a fifth of its time: 2 µs an entry.
        """
        lstat = os.lstat
        try:
            for path, mark in self.marks.items():
                facts = lstat(path)
                if (facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size) != mark:
                    return False
        except OSError:
            return False
        return _top(self.root, self.options) == self.top


def take_view(
    root: str, options: DiscoveryOptions, closed: Collection[str], settled_ns: int
) -> View | None:
    """Look at everything below a root but for the directories that are not entered.

    `closed` names these, relative to the root and ending in `/`. There is no view if something
    changed since `settled_ns`, because it may be changing still within one tick of the file
    system's clock, nor if a checkout lies inside, whose rules would have to be watched as well.
    """
    real = os.path.realpath(root)
    marks: dict[str, Mark] = {}
    try:
        for path, facts in _entries(real, frozenset(closed)):
            if max(facts.st_mtime_ns, facts.st_ctime_ns) >= settled_ns:
                return None
            marks[path] = (facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size)
            if len(marks) > MOST_ENTRIES:
                return None
    except (OSError, _CheckoutInside):
        return None
    return View(root, options, _top(root, options), marks)


class _CheckoutInside(Exception):
    """A directory below the root has a `.git` of its own."""


def _entries(root: str, closed: Collection[str]) -> Iterator[tuple[str, os.stat_result]]:
    yield root, os.lstat(root)
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(os.path.join(root, folder)) as listing:
            for entry in listing:
                if entry.name == ".git":
                    if folder:
                        raise _CheckoutInside
                    # What counts of it is read by whoever asks for the rules at the top.
                    continue
                yield entry.path, entry.stat(follow_symlinks=False)
                inner = f"{folder}{entry.name}/"
                if entry.is_dir(follow_symlinks=False) and inner not in closed:
                    pending.append(inner)


def _top(root: str, options: DiscoveryOptions) -> Folder:
    return top_folder(Ground(os.path.realpath(root), options.global_excludes, options.home))
