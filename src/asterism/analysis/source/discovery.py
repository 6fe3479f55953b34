"""Walks a repository: which files are indexed, which are skipped and why, and what changed."""

import errno
import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from asterism.analysis.source.checkouts import is_bare_repository
from asterism.analysis.source.ignores import (
    Folder,
    IgnoreRule,
    WalkContext,
    enter,
    find_rule,
    matchable,
    reaches_into,
    top_folder,
)
from asterism.analysis.source.names import (
    HEAD_BYTES,
    Exclusion,
    classify_content,
    classify_file_name,
    classify_folder_name,
    read_head,
)
from asterism.analysis.source.secrets import is_secret_file, is_secret_folder, may_be_secret
from asterism.types.errors import PathMissing, PathUnreadable, WrongPathKind
from asterism.types.files import Discovery, FoundFile, SkippedFile, SkipReason, display_path

# Paths are plain strings: the walk meets thousands, and pathlib would double its time.
# ruff: noqa: PTH115, PTH116, PTH118


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryOptions:
    """What shapes a discovery; nothing of it is read from the environment."""

    max_bytes: int = 1_000_000
    """Larger files are data or bundles, not source; the contract's 1 MB."""
    sniff: bool = True
    """Whether to read the first block of each file; without it only names and sizes decide."""
    global_excludes: str | None = None
    """The user's global excludes file, as `checkouts.global_excludes` finds it."""
    home: str | None = None
    """What `~` means where a repository's configuration names an excludes file."""


SECRET_AT_MOST = 4_000_000
"""Bytes of a file that may be a secret that are looked at: all, but of what was forced in."""

_FORCED_IN = frozenset({SkipReason.minified, SkipReason.generated})
"""What our own ignore file can overrule; a secret stays one."""

DEFAULTS = DiscoveryOptions()


def discover(
    root: str, options: DiscoveryOptions = DEFAULTS, known: Collection[FoundFile] = frozenset()
) -> Discovery:
    """Return the files below an absolute root that are worth indexing, and all that are not.

    `known` are files that an earlier discovery found; those with the same size and time are not
    opened again. Give a set: it is asked once per file.
    """
    files: list[FoundFile] = []
    skipped: list[SkippedFile] = []
    for entry in walk(root, options, known):
        if isinstance(entry, FoundFile):
            files.append(entry)
        else:
            skipped.append(entry)
    return Discovery(os.path.realpath(root), tuple(sorted(files)), tuple(sorted(skipped)))


def walk(
    root: str, options: DiscoveryOptions = DEFAULTS, known: Collection[FoundFile] = frozenset()
) -> Iterator[FoundFile | SkippedFile]:
    """Yield what `discover` returns, one directory after the other, in a stable order."""
    _check_root(root)
    ground = WalkContext(os.path.realpath(root), options.global_excludes, options.home)
    pending = [top_folder(ground)]
    while pending:
        folder = pending.pop()
        location = os.path.join(ground.root, folder.path)
        try:
            with os.scandir(location) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield SkippedFile(folder.path, SkipReason.unreadable, error.strerror)
            continue
        entered = enter(ground, folder, frozenset(entry.name for entry in entries))
        if isinstance(entered, Exclusion):
            yield SkippedFile(folder.path, *entered)
            continue
        below: list[Folder] = []
        yield from _classify_entries(entered, entries, below, _Rules(ground.root, options, known))
        pending.extend(reversed(below))


def _check_root(root: str) -> None:
    """Raise an error that says what to do if the root cannot be walked."""
    shown = display_path(root)
    try:
        if not stat.S_ISDIR(os.stat(root).st_mode):
            raise WrongPathKind(f"{shown} is not a directory; give the directory to search in.")
        os.scandir(root).close()
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise PathMissing(f"{shown} does not exist; check the path.") from error
    except OSError as error:
        why = error.strerror or str(error)
        raise PathUnreadable(
            f"{shown} could not be listed: {why}; check its permissions."
        ) from error


@dataclass(frozen=True, slots=True)
class _Rules:
    """What the classification of one entry needs beside its folder."""

    root: str
    options: DiscoveryOptions
    known: Collection[FoundFile]


def _classify_entries(
    folder: Folder, entries: list[os.DirEntry[str]], below: list[Folder], rules: _Rules
) -> Iterator[FoundFile | SkippedFile]:
    """Include or skip each entry of one directory; directories to visit next go to `below`."""
    for entry in entries:
        path = folder.path + entry.name
        outcome: Folder | FoundFile | Exclusion
        try:
            if entry.is_dir(follow_symlinks=False):
                path += "/"
                outcome = _classify_folder(folder, entry)
            else:
                outcome = _classify_file(folder, entry, rules)
        except FileNotFoundError:
            # It went away since the directory was listed.
            continue
        except OSError as error:
            outcome = Exclusion(SkipReason.unreadable, error.strerror)
        if isinstance(outcome, Folder):
            below.append(outcome)
        elif isinstance(outcome, Exclusion):
            yield SkippedFile(path, *outcome)
        else:
            yield outcome


def _classify_folder(folder: Folder, entry: os.DirEntry[str]) -> Folder | Exclusion:
    """Return the directory to visit, or why it is not visited."""
    name = entry.name
    if is_secret_folder(name):
        return Exclusion(SkipReason.secret, None)
    named = classify_folder_name(name)
    if named is SkipReason.vcs or (name.endswith(".git") and is_bare_repository(entry.path)):
        return Exclusion(SkipReason.vcs, None)
    own, refused = _classify_rules(folder, name, is_dir=True)
    if own is not None and own.forces_in:
        return folder.below(name, forced=True)
    if refused is None and named is not None:
        refused = Exclusion(named, None)
    if refused is None:
        return folder.below(name)
    inner = folder.below(name, closed=refused)
    return inner if reaches_into(folder.own, inner.key) else refused


def _classify_file(folder: Folder, entry: os.DirEntry[str], rules: _Rules) -> FoundFile | Exclusion:
    """Return the file to index, or why it is skipped; the cheapest questions come first."""
    name = entry.name
    if is_secret_file(folder.path[:-1].rpartition("/")[2], name):
        return Exclusion(SkipReason.secret, None)
    own, refused = _classify_rules(folder, name, is_dir=False)
    if refused is not None:
        return refused
    if entry.is_symlink():
        return _classify_link(entry.path, rules.root)
    if not entry.is_file(follow_symlinks=False):
        return Exclusion(SkipReason.special, None)
    forced = own is not None and own.forces_in
    if not forced and (named := classify_file_name(name)):
        return Exclusion(named, None)
    facts = entry.stat(follow_symlinks=False)
    if facts.st_size > rules.options.max_bytes and not forced:
        return Exclusion(SkipReason.too_large, f"{facts.st_size:,} bytes")
    found = FoundFile(folder.path + name, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
    if rules.options.sniff and found.size and found not in rules.known:
        most = HEAD_BYTES
        if facts.st_size > most and may_be_secret(name):
            most = min(facts.st_size, SECRET_AT_MOST)
        seen = classify_content(name, read_head(entry.path, most))
        if seen is not None and not (forced and seen.reason in _FORCED_IN):
            return seen
    return found


def _classify_rules(
    folder: Folder, name: str, is_dir: bool
) -> tuple[IgnoreRule | None, Exclusion | None]:
    """Return our own rule for a name, if any, and why the ignore rules leave it out, if they do."""
    key = matchable(name)
    own = None
    if folder.own:
        own = find_rule(folder.own, folder.key, key, is_dir, folder.closed is not None)
    if own is not None:
        if own.forces_in:
            return own, None
        return own, Exclusion(SkipReason.asterismignored, own.place)
    if folder.closed is not None:
        return None, folder.closed
    git = find_rule(folder.git, folder.key, key, is_dir)
    if git is not None and not git.forces_in:
        return None, Exclusion(SkipReason.gitignored, git.place)
    return None, None


def _classify_link(path: str, root: str) -> Exclusion:
    """Say where a link leads; it is never followed: a target inside the root has its own path."""
    target = display_path(os.readlink(path))
    try:
        real = os.path.realpath(path, strict=True)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return Exclusion(SkipReason.broken_link, target)
        return Exclusion(SkipReason.outside_link, target)
    inside = real == root or real.startswith(root.rstrip("/") + "/")
    return Exclusion(SkipReason.linked_duplicate if inside else SkipReason.outside_link, target)


# Paths are plain strings: there are thousands, and pathlib would double the time.
# ruff: noqa: PTH118


MOST_ENTRIES = 100_000
"""A view of more is not taken: it would be 40 MB. Such a root is listed for every question."""

Mark: TypeAlias = tuple[int, int, int]
"""When an entry's content and its inode last changed, and its size."""


class DirectoryView(NamedTuple):
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
) -> DirectoryView | None:
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
    return DirectoryView(root, options, _top(root, options), marks)


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
                    # The rules at the top read the parts of it that matter.
                    continue
                yield entry.path, entry.stat(follow_symlinks=False)
                inner = f"{folder}{entry.name}/"
                if entry.is_dir(follow_symlinks=False) and inner not in closed:
                    pending.append(inner)


def _top(root: str, options: DiscoveryOptions) -> Folder:
    return top_folder(WalkContext(os.path.realpath(root), options.global_excludes, options.home))
