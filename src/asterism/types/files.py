"""What discovery finds: the files to index, and every skipped path with its reason."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from asterism.disclosure.places import visible_line


class SkipReason(StrEnum):
    """Why a path is not indexed."""

    gitignored = "gitignored"
    """A `.gitignore`, `.git/info/exclude` or global excludes pattern."""
    asterismignored = "asterismignored"
    """An `.asterismignore` pattern."""
    vcs = "vcs"
    """Version control's own folder, or a bare repository."""
    dependencies = "dependencies"
    """A well-known folder of installed, built or cached files."""
    secret = "secret"
    """Keys or passwords: by its name, and then it is never opened, or by its content."""
    binary = "binary"
    lock_file = "lock_file"
    minified = "minified"
    generated = "generated"
    too_large = "too_large"
    outside_link = "outside_link"
    """A link that leads out of the root; never followed."""
    broken_link = "broken_link"
    """A link to nothing, or to itself."""
    linked_duplicate = "linked_duplicate"
    """A link to a path inside the root, which is listed under its real path."""
    nested_checkout = "nested_checkout"
    """Another worktree of a repository that is indexed already."""
    special = "special"
    """A pipe, socket or device."""
    unreadable = "unreadable"


class FoundFile(NamedTuple):
    """A file to index, as its directory entry describes it."""

    path: str
    """Relative to the root, with `/`; bytes that are no UTF-8 are kept as surrogate escapes."""
    size: int
    mtime_ns: int
    ctime_ns: int = 0


class SkippedFile(NamedTuple):
    """A path that is not indexed; a directory ends in `/` and includes everything below it."""

    path: str
    reason: SkipReason
    detail: str | None = None
    """What decided: the pattern and its place, the link's target, the system's message."""

    @property
    def is_directory(self) -> bool:
        """Whether this entry is a directory that was not descended into."""
        return self.path.endswith("/")


@dataclass(frozen=True)
class Discovery:
    """Everything below one root, each path once: files sorted by path, then what was skipped."""

    root: str
    files: tuple[FoundFile, ...]
    skipped: tuple[SkippedFile, ...]

    @cached_property
    def counts(self) -> Mapping[SkipReason, int]:
        """How many entries were skipped for each reason that occurred, in the reasons' order."""
        seen = Counter(entry.reason for entry in self.skipped)
        return {reason: seen[reason] for reason in SkipReason if seen[reason]}


def display_path(path: str) -> str:
    r"""Return the path as one visible line: `\xNN` for stray bytes, escapes for what is hidden."""
    # Newlines and terminal escapes in a file name must not forge lines of our output.
    return visible_line(wire_path(path))


def wire_path(path: str) -> str:
    r"""Return the path for JSON: as it is, but for `\xNN` in the place of stray bytes."""
    if path.isascii():
        return path
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


_TEST_CALLBACK = re.compile(
    r"""(?<![\w$])(?:(?:(?!callback\b)[\w$]+\.)?(?:describe|context|it|test|specify|suite|scenario|feature|Run)
    (?:\.[\w$]+)*)\((?P<title>"[^"]*(?:"|…))\)\ callback(?=\.|$)""",
    re.VERBOSE,
)


def display_name(name: str) -> str:
    """A qualified name on one line; a test in callbacks is named by its title: `it("is closed")`.

    Of the callbacks around it nothing is said; what it is in and what is inside of it stays.
    """
    tests = [*_TEST_CALLBACK.finditer(name)]
    if not tests:
        return display_path(name)
    last = tests[-1]
    call = name[last.start() : last.end()].removesuffix(" callback")
    around = name[: tests[0].start()]
    outer = "" if " callback" in around else around
    return display_path(f"{outer}{call}{name[last.end() :]}")
