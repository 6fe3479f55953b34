"""The rules that hold in a directory: its checkout's, those of the directories above, its own."""

# Paths are plain strings: the walk meets thousands, and pathlib would double its time.
# ruff: noqa: PTH113, PTH114, PTH118, PTH119, PTH120, PTH123, PTH206

import os
from dataclasses import dataclass, field
from typing import NamedTuple

from asterism.analysis.source.checkouts import (
    Checkout,
    checkout_at,
    checkout_settings,
    enclosing_checkout,
)
from asterism.analysis.source.ignores import Scope, Scopes, matchable, parse_rules
from asterism.analysis.source.names import dependency_mark
from asterism.analysis.source.sniff import Verdict
from asterism.types.files import SkipReason, display_path

GIT_IGNORE = ".gitignore"
OWN_IGNORE = ".asterismignore"
LONGEST_IGNORE_FILE = 524_288
"""Bytes of an ignore file that are read: some hundred times what projects have. 100,000 patterns
take 15 s to compile."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What a walk stands on: its root, the user's excludes, and the repositories met so far."""

    root: str
    global_excludes: str | None
    home: str | None
    repositories: set[str] = field(default_factory=set)


class Folder(NamedTuple):
    """A directory to visit: its place, and the rules that hold in it."""

    path: str = ""
    """Relative to the root, ending in `/`; empty for the root."""
    key: str = ""
    """The path as the ignore rules compare it."""
    git: Scopes = ()
    own: Scopes = ()
    ignore_case: bool = False
    forced: bool = False
    """Whether `!` named this very directory."""
    closed: Verdict | None = None
    """Set where the directory is ignored but entered for what `!` names below it: the reason."""

    def below(self, name: str, forced: bool = False, closed: Verdict | None = None) -> "Folder":
        """Return a directory inside this one, under the same rules."""
        return self._replace(
            path=f"{self.path}{name}/",
            key=f"{self.key}{matchable(name)}/",
            forced=forced,
            closed=closed,
        )


def top_folder(ground: Ground) -> Folder:
    """Return the root with the rules from above it: its checkout's and its parents' files."""
    checkout = enclosing_checkout(ground.root)
    if checkout is None:
        return _in_checkout(ground, Folder(), None, lead="")
    ground.repositories.add(checkout.common_dir)
    inner = os.path.relpath(ground.root, checkout.root)
    parents = [] if inner == os.curdir else inner.split(os.sep)
    leads = [matchable("/".join(parents[depth:]) + "/") for depth in range(len(parents))]
    folder = _in_checkout(ground, Folder(), checkout, lead=leads[0] if leads else "")
    for depth, lead in enumerate(leads):
        above = os.path.join(checkout.root, *parents[:depth])
        place = "../" * (len(parents) - depth)
        git = _ignore_file(above, GIT_IGNORE, place, folder.ignore_case)
        own = _ignore_file(above, OWN_IGNORE, place, folder.ignore_case)
        folder = folder._replace(
            git=(*(scope._replace(lead=lead) for scope in git), *folder.git),
            own=(*(scope._replace(lead=lead) for scope in own), *folder.own),
        )
    return folder


def enter(ground: Ground, folder: Folder, names: frozenset[str]) -> Folder | Verdict:
    """Return the directory with its own rules added, or why it is not indexed after all."""
    location = os.path.join(ground.root, folder.path)
    if folder.path:
        if not folder.forced and (mark := dependency_mark(names)):
            return Verdict(SkipReason.dependencies, f"it holds {mark}")
        if ".git" in names and (checkout := checkout_at(location)):
            if _is_elsewhere(ground, checkout):
                return Verdict(SkipReason.nested_checkout, f"worktree of {checkout.common_dir}")
            ground.repositories.add(checkout.common_dir)
            folder = _in_checkout(ground, folder, checkout, lead="")
    strip = len(folder.key)
    for name in (GIT_IGNORE, OWN_IGNORE):
        if name not in names:
            continue
        found = _ignore_file(location, name, folder.path, folder.ignore_case)
        scopes = tuple(scope._replace(strip=strip) for scope in found)
        if name == GIT_IGNORE:
            folder = folder._replace(git=(*scopes, *folder.git))
        else:
            folder = folder._replace(own=(*scopes, *folder.own))
    return folder


def _is_elsewhere(ground: Ground, checkout: Checkout) -> bool:
    """Tell whether the same repository is indexed already, or will be at its main checkout."""
    if checkout.common_dir in ground.repositories:
        return True
    main = os.path.dirname(checkout.common_dir)
    inside = main.startswith(ground.root.rstrip("/") + "/")
    return checkout.linked and inside and os.path.basename(checkout.common_dir) == ".git"


def _in_checkout(ground: Ground, folder: Folder, checkout: Checkout | None, lead: str) -> Folder:
    """Give a folder the rules of a whole checkout, and no outer ones: git does not look outside."""
    excludes, ignore_case, sources = ground.global_excludes, False, []
    if checkout is not None:
        settings = checkout_settings(checkout, ground.home)
        excludes = settings.excludes_file or excludes
        ignore_case = settings.ignore_case
        exclude = os.path.join(checkout.common_dir, "info", "exclude")
        sources.append((exclude, folder.path + ".git/info/exclude"))
    if excludes is not None:
        sources.append((excludes, excludes))
    rules = [
        parse_rules(data, display_path(place), ignore_case)
        for path, place in sources
        if (data := _content(path))
    ]
    scopes = tuple(Scope(each, lead, len(folder.key)) for each in rules)
    return folder._replace(git=scopes, ignore_case=ignore_case)


def _ignore_file(location: str, name: str, place: str, ignore_case: bool) -> Scopes:
    path = os.path.join(location, name)
    # Like git: an ignore file inside the tree that is a link is not read.
    if os.path.islink(path) or not (data := _content(path)):
        return ()
    return (Scope(parse_rules(data, display_path(place + name), ignore_case)),)


def _content(path: str) -> bytes | None:
    """Return a file's bytes; one that is missing or refused has no rules, as in git.

    Of a file that is too long only the first lines count: compiling all of them would take minutes.
    """
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            data = file.read(LONGEST_IGNORE_FILE + 1)
    except OSError:
        return None
    return data if len(data) <= LONGEST_IGNORE_FILE else data[: data.rfind(b"\n") + 1]
