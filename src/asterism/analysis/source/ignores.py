"""Ignore files and how they combine: deeper files win, and in a file the last pattern wins."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from asterism.analysis.source.patterns import Pattern, compile_line


class Rule(NamedTuple):
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

    rules: tuple[Rule, ...]
    names: frozenset[str]
    suffixes: tuple[str, ...]
    paths: frozenset[str]
    any_name: re.Pattern[str] | None
    any_path: re.Pattern[str] | None
    flags: int
    forcing: tuple[Pattern, ...]
    """The `!` patterns with a slash inside, which can reach into an ignored directory."""

    def find(self, name: str, path: str, is_dir: bool, only_reaching: bool) -> Rule | None:
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


class Scope(NamedTuple):
    """A rule set at its place: how a path below the root becomes one relative to that place."""

    rules: RuleSet
    lead: str = ""
    """What to put in front, for an ignore file above the root."""
    strip: int = 0
    """How many characters to take off, for an ignore file below the root."""


Scopes = tuple[Scope, ...]
"""Ignore files in order of precedence."""


def find_rule(
    scopes: Scopes, folder: str, name: str, is_dir: bool, only_reaching: bool = False
) -> Rule | None:
    """Return the rule that decides about `folder + name` (both as `matchable` text), if any.

    With `only_reaching`, `!` patterns without a slash do not count: that is how things inside an
    ignored directory are judged.
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
    rules: list[Rule] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.removesuffix("\r").partition("\0")[0]
        if pattern := compile_line(line, ignore_case):
            written = line.rstrip(" ").encode("latin-1").decode("utf-8", "backslashreplace")
            rules.append(Rule(pattern, f"{place}:{number}: {written}"))
    return _rule_set(tuple(rules), re.DOTALL | re.ASCII | (re.IGNORECASE if ignore_case else 0))


def _rule_set(rules: tuple[Rule, ...], flags: int) -> RuleSet:
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
