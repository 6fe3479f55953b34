"""Ignore files and how they combine: deeper files win, and in a file the last pattern wins."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from asterism.analysis.source.checkouts import (
    Checkout,
    checkout_at,
    checkout_settings,
    enclosing_checkout,
)
from asterism.analysis.source.names import Exclusion, dependency_mark
from asterism.analysis.source.patterns import Pattern, compile_line
from asterism.types.files import SkipReason, display_path


class IgnoreRule(NamedTuple):
    """One pattern and where it is written."""

    pattern: Pattern
    place: str

    @property
    def forces_in(self) -> bool:
        """Whether the line begins with `!`."""
        return self.pattern.negated


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The patterns of one ignore file, with quick tests that rule out most names at once."""

    rules: tuple[IgnoreRule, ...]
    names: frozenset[str]
    suffixes: tuple[str, ...]
    paths: frozenset[str]
    any_name: re.Pattern[str] | None
    any_path: re.Pattern[str] | None
    flags: int
    forcing: tuple[Pattern, ...]
    """The `!` patterns with a slash inside, which can reach into an ignored directory."""

    def find(self, name: str, path: str, is_dir: bool, only_reaching: bool) -> IgnoreRule | None:
        """Return the last rule that matches; `path` is relative to the ignore file's directory."""
        slashed = name + "/" if is_dir else name
        if not (
            name in self.names
            or name.endswith(self.suffixes)
            or path in self.paths
            or (self.any_name and self.any_name.fullmatch(slashed))
            or (self.any_path and self.any_path.fullmatch(path + "/" if is_dir else path))
        ):
            return None
        for rule in reversed(self.rules):
            pattern = rule.pattern
            if only_reaching and pattern.negated and pattern.by_name:
                continue
            subject = slashed if pattern.by_name else path + "/" if is_dir else path
            if _compiled(pattern.regex, self.flags).fullmatch(subject):
                return rule
        return None


class IgnoreScope(NamedTuple):
    """A rule set at its place: how a path below the root becomes one relative to that place."""

    rules: RuleSet
    lead: str = ""
    """What to put in front, for an ignore file above the root."""
    strip: int = 0
    """How many characters to take off, for an ignore file below the root."""


Scopes = tuple[IgnoreScope, ...]
"""Ignore files in order of precedence."""


def find_rule(
    scopes: Scopes, folder: str, name: str, is_dir: bool, only_reaching: bool = False
) -> IgnoreRule | None:
    """Return the rule that decides about `folder + name` (both as `matchable` text), if any.

    With `only_reaching`, `!` patterns without a slash do not count, as for paths inside an ignored
    directory.
    """
    for rules, lead, strip in scopes:
        path = lead + folder[strip:] + name
        if rule := rules.find(name, path, is_dir, only_reaching):
            return rule
    return None


def reaches_into(scopes: Scopes, folder: str) -> bool:
    """Tell whether a `!` pattern names something inside the directory (`folder` ends in `/`)."""
    return any(
        _leads_below(pattern, (lead + folder[strip:])[:-1].split("/"), rules.flags)
        for rules, lead, strip in scopes
        for pattern in rules.forcing
    )


def _leads_below(pattern: Pattern, names: list[str], flags: int) -> bool:
    for depth, name in enumerate(names):
        if depth == len(pattern.steps):
            return False
        step = pattern.steps[depth]
        if step is None:
            # A pattern that begins with `**` names no directory: it would open node_modules too.
            return depth > 0
        if not _compiled(step, flags).fullmatch(name):
            return False
    return len(pattern.steps) > len(names)


def matchable(path: str) -> str:
    """Return a path or name as the bytes git would compare, one character each."""
    return path if path.isascii() else os.fsencode(path).decode("latin-1")


@lru_cache(maxsize=512)
def parse_rules(data: bytes, place: str, ignore_case: bool = False) -> RuleSet:
    """Compile an ignore file's content; kept, since a sync meets the same files again."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    rules: list[IgnoreRule] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.removesuffix("\r").partition("\0")[0]
        if pattern := compile_line(line, ignore_case):
            written = line.rstrip(" ").encode("latin-1").decode("utf-8", "backslashreplace")
            rules.append(IgnoreRule(pattern, f"{place}:{number}: {written}"))
    return _rule_set(tuple(rules), re.DOTALL | re.ASCII | (re.IGNORECASE if ignore_case else 0))


def _rule_set(rules: tuple[IgnoreRule, ...], flags: int) -> RuleSet:
    fold = bool(flags & re.IGNORECASE)
    patterns = [rule.pattern for rule in rules]
    exact = [p for p in patterns if p.exact is not None and not fold]
    ends = [p for p in patterns if p.suffix is not None and not fold]
    rest = [p for p in patterns if fold or (p.exact is None and p.suffix is None)]
    return RuleSet(
        rules=rules,
        names=frozenset(p.exact for p in exact if p.by_name and p.exact is not None),
        suffixes=tuple({p.suffix for p in ends if p.suffix is not None}),
        paths=frozenset(p.exact for p in exact if not p.by_name and p.exact is not None),
        any_name=_any((p.regex for p in rest if p.by_name), flags),
        any_path=_any((p.regex for p in rest if not p.by_name), flags),
        flags=flags,
        forcing=tuple(p for p in patterns if p.negated and not p.by_name),
    )


def _any(regexes: Iterable[str], flags: int) -> re.Pattern[str] | None:
    joined = "|".join(f"(?:{regex})" for regex in regexes)
    return re.compile(joined, flags) if joined else None


@lru_cache(maxsize=8192)
def _compiled(regex: str, flags: int) -> re.Pattern[str]:
    return re.compile(regex, flags)


# Paths are plain strings: the walk meets thousands, and pathlib would double its time.
# ruff: noqa: PTH113, PTH114, PTH118, PTH119, PTH120, PTH123, PTH206


GIT_IGNORE = ".gitignore"
OWN_IGNORE = ".asterismignore"
LONGEST_IGNORE_FILE = 524_288
"""Bytes of an ignore file that are read: some hundred times what projects have. 100,000 patterns
take 15 s to compile."""


@dataclass(frozen=True, slots=True)
class WalkContext:
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
    closed: Exclusion | None = None
    """Set where the directory is ignored but entered for what `!` names below it: the reason."""

    def below(self, name: str, forced: bool = False, closed: Exclusion | None = None) -> "Folder":
        """Return a directory inside this one, under the same rules."""
        return self._replace(
            path=f"{self.path}{name}/",
            key=f"{self.key}{matchable(name)}/",
            forced=forced,
            closed=closed,
        )


def top_folder(ground: WalkContext) -> Folder:
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


def enter(ground: WalkContext, folder: Folder, names: frozenset[str]) -> Folder | Exclusion:
    """Return the directory with its own rules added, or why it is not indexed after all."""
    location = os.path.join(ground.root, folder.path)
    if folder.path:
        if not folder.forced and (mark := dependency_mark(names)):
            return Exclusion(SkipReason.dependencies, f"it holds {mark}")
        if ".git" in names and (checkout := checkout_at(location)):
            if _is_elsewhere(ground, checkout):
                return Exclusion(SkipReason.nested_checkout, f"worktree of {checkout.common_dir}")
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


def _is_elsewhere(ground: WalkContext, checkout: Checkout) -> bool:
    """Tell whether the same repository is indexed already, or will be at its main checkout."""
    if checkout.common_dir in ground.repositories:
        return True
    main = os.path.dirname(checkout.common_dir)
    inside = main.startswith(ground.root.rstrip("/") + "/")
    return checkout.linked and inside and os.path.basename(checkout.common_dir) == ".git"


def _in_checkout(
    ground: WalkContext, folder: Folder, checkout: Checkout | None, lead: str
) -> Folder:
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
    scopes = tuple(IgnoreScope(each, lead, len(folder.key)) for each in rules)
    return folder._replace(git=scopes, ignore_case=ignore_case)


def _ignore_file(location: str, name: str, place: str, ignore_case: bool) -> Scopes:
    path = os.path.join(location, name)
    # Like git: an ignore file inside the tree that is a link is not read.
    if os.path.islink(path) or not (data := _content(path)):
        return ()
    return (IgnoreScope(parse_rules(data, display_path(place + name), ignore_case)),)


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
