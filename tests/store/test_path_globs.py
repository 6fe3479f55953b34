"""Globs against a matcher that is as plain as can be, and hostile ones in a process with an end."""

import re
import subprocess
import sys
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.store.filters import matcher, translate

GENEROUS_SECONDS = 120
"""Backtracking would need years."""

names = st.text("ab", min_size=1, max_size=4)
paths = st.lists(names, min_size=1, max_size=6).map("/".join)
wild_names = st.one_of(st.text("ab*?", min_size=1, max_size=5), st.just("**"), st.just("[!b]*"))
patterns = st.lists(wild_names, min_size=1, max_size=6).map("/".join)


def reference(pattern: str, path: str) -> bool:
    """What a glob means, name by name, with every way of dividing tried."""
    parts = re.split(r"/(?![^\[]*\])", pattern)
    steps = path.split("/")

    @cache
    def names_match(part: int, step: int) -> bool:
        if part == len(parts):
            return step == len(steps)
        if parts[part] == "**":
            # As the last name it matches the rest of the path, an empty name included.
            if part == len(parts) - 1:
                return step < len(steps)
            return names_match(part + 1, step) or (
                step < len(steps) and names_match(part, step + 1)
            )
        if step == len(steps):
            return False
        return name_matches(parts[part], steps[step]) and names_match(part + 1, step + 1)

    return names_match(0, 0)


def name_matches(pattern: str, name: str) -> bool:
    tokens = re.findall(r"\[!b\]|.", pattern)

    @cache
    def from_here(token: int, at: int) -> bool:
        if token == len(tokens):
            return at == len(name)
        if tokens[token] == "*":
            return from_here(token + 1, at) or (at < len(name) and from_here(token, at + 1))
        if at == len(name):
            return False
        fits = {"?": True, "[!b]": name[at] != "b"}.get(tokens[token], tokens[token] == name[at])
        return fits and from_here(token + 1, at + 1)

    return from_here(0, 0)


@settings(max_examples=1_500)
@given(patterns, paths)
def test_both_expressions_mean_what_the_glob_means(pattern: str, path: str) -> None:
    expected = reference(pattern, path)
    glob = translate(pattern)
    assert (re.fullmatch(glob.regex, path) is not None) == expected
    assert matcher(pattern)(path) == expected
    assert not expected or path.startswith(glob.prefix)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("**/" * 200 + "z", "a/" * 500 + "b", False),
        ("**/" * 200 + "z", "a/" * 500 + "z", True),
        ("*a" * 40 + "z", "a" * 250, False),
        ("*a" * 40 + "z", "a" * 250 + "z", True),
        ("*a*a*a*a*a*a*az", "a" * 60, False),
        ("**/a/" * 60 + "z", "a/" * 1_500 + "b", False),
        ("**/a*a*a/" * 60 + "z", "aaaa/" * 700 + "b", False),
        ("**/*/*/*/" * 60 + "z", "a/" * 1_500 + "b", False),
        ("*/" * 300 + "*a*a*a*", "a/" * 1_500 + "b", False),
        ("?*" * 120 + "z", "a" * 250, False),
        ("[ab]*" * 120 + "z", "a" * 250, False),
    ],
)
def test_hostile_globs_end(pattern: str, path: str, expected: bool) -> None:
    """In a process of its own, so that a pattern that never ends is ended."""
    code = (
        "import sys; from asterism.store.filters import matcher;"
        "print(matcher(sys.argv[1])(sys.argv[2]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, pattern, path],
        capture_output=True,
        text=True,
        timeout=GENEROUS_SECONDS,
        check=True,
    )
    assert done.stdout.strip() == str(expected)


def test_runs_of_folders_are_one() -> None:
    assert translate("**/" * 200 + "a") == translate("**/a")._replace(prefix="")
