"""Discovery leaves out exactly what git leaves out: compared with git itself, case by case and at random."""

import os
import random
from pathlib import Path

import pytest

from asterism.analysis.source.discovery import DiscoveryOptions, discover
from asterism.analysis.source.ignores import IgnoreScope, find_rule, matchable, parse_rules
from asterism.types.files import SkipReason
from tests.analysis.source.conftest import Git, Tree

# Long lists of words read best as text.
# ruff: noqa: SIM905

NAMES_ONLY = DiscoveryOptions(sniff=False)


def files_kept_by_git(git: Git, root: Path) -> set[str]:
    listed = git(root, "ls-files", "-z", "-co", "--exclude-standard")
    return {os.fsdecode(name) for name in listed.split(b"\0") if name}


def files_found(root: Path, options: DiscoveryOptions = NAMES_ONLY) -> set[str]:
    found = discover(str(root), options)
    assert set(found.counts) <= {SkipReason.gitignored, SkipReason.vcs}, found.skipped
    return {file.path for file in found.files}


# Each pattern is tried alone on every path below; git says what it matches.
PATTERNS = [
    *r"""
a
/a
a/
/a/
a/b
/a/b
a/b/
a/*
a/**
a/**/
**/b
**/b/
/**/b
**
**/
***
*
*/
/*
/*/
/
//
//a
a//b
a//
a/**/b
a/***/b
a/**/**/b
**/a/**
a**b
x/a**
x/a**/
x**/b
!x/a**
a**/x/**/b
a**/b
**a/b
a/**b
a*
*a
?
??
?a
a?b
*.py
*.py[qod]
*.p[!y]
*.p[^y]
[ab]
[!ab]
[a-c]
[c-a]
[a-c-e]
[]]
[]a]
[!]a]
[a
[
a[
[a]b]
[\]]
[\a]
[a\-c]
[-a]
[a-]
[[:alpha:]]
[[:digit:]]
[[:upper:][:digit:]]
[![:alpha:]]
[[:nope:]]
[[:alpha:]
[[:]
[[a]
[a/b]
a[/]b
a[!x]b
x/a[!b]c
[a-\c]
[--a]
\a
\\
\\a
a\
a\/b
a/\
a\/
\!x
!x
!
!!x
\#x
#x
\ x
x y
é
?.é
??
[é]
[à-ü]
\*
a\*b
a\?b
\[a]
(a|b)
a+
a.b
{a,b}
^a$
a b/c
.*
.
..
./a
a/./b
a/../b
-
~a
$a
a/b/c
x/*/c
*/b
*/*/b
a/?/b
[[:space:]]*
*[[:space:]]
*[[:punct:]]*
[[:xdigit:]]
[[:cntrl:]]
[[:print:]]
a[[:alnum:]-]b
[!-a]
[a-c]*
b/a
d/**/z.py
**/a/**/c
x/**
x/**/
**/**/b
A
*.PY
[A-C]
[!A]
""".split("\n"),
    " x",
    "x ",
    "x\\ ",
    "x\\  ",
    "x \\ ",
    "x\\\\ ",
    "x\t",
]

NAMES = [
    *r"""
    a ab b c abc acb a.b axb a.py a.pyq a.pyx x.py A X.PY 1 ] [ - \ ! # ~a $a é a.é é.é ü a* a*b a?b aab
    aaab [a] (a|b) (a a+ {a,b} ^a$ .q .b x !x #x \a \\ a\ x\ _b [b a-c e d a+b
    """.split(),
    *(" x", "x ", "x\t", "x y", "x  ", "x\n", "\n", "a\n", "x\\ ", " ", "a b"),
    *("\udcff", "a\udcff", "\udcff.py"),
]
DEEP = [
    *("a/b", "a/c/b", "a/x/y/b", "b/a", "x/a/c", "x/abc", "x/axc", "a/b2/c", "x/a/b/c", "a b/c"),
    *("d/\n/b", "é/b", "a/é", "x/ab/b", "xa/b", "ab/b", "aab/b", "d/x.py/z.py", "d/e/f/z.py"),
]
LAYOUTS = {
    "files": [*NAMES, *(f"sub/{name}" for name in NAMES)],
    "folders": [*DEEP, *(f"{name}/in" for name in NAMES), *(f"sub/{name}/in" for name in NAMES)],
}


@pytest.fixture(params=LAYOUTS)
def many_paths(request: pytest.FixtureRequest, git: Git, tree: Tree, tmp_path: Path) -> Path:
    """Make a repository with files, or directories, of every awkward name."""
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    tree(root, dict.fromkeys(LAYOUTS[request.param], ""))
    return root


@pytest.mark.parametrize("case", ["false", "true"])
def test_each_pattern_matches_what_git_says(git: Git, many_paths: Path, case: str) -> None:
    git(many_paths, "config", "core.ignorecase", case)
    for pattern in PATTERNS:
        (many_paths / ".gitignore").write_bytes(pattern.encode() + b"\n")
        kept = files_kept_by_git(git, many_paths) - {".gitignore"}
        assert files_found(many_paths) - {".gitignore"} == kept, pattern


def test_a_pattern_file_is_split_as_git_splits_it(git: Git, many_paths: Path) -> None:
    for content in (
        b"\xef\xbb\xbfa\nb",
        b"a\r\nb\r\n",
        b"a\rb\n",
        b"a\0b\n",
        b"*.py\n!x.py\n",
        b"!x.py\n*.py\n",
        b"a/\n!a/b\n",
        b"a/*\n!a/b\n",
        b"/*\n!/a\n!/x\n/x/*\n!/x/abc\n",
        b"\xff\n\xff.py\n",
        b"\xc3\xa9\n",
        b"",
        b"\n\n  \n#a\n",
    ):
        (many_paths / ".gitignore").write_bytes(content)
        assert files_found(many_paths) == files_kept_by_git(git, many_paths), content


WORDS = ["a", "b", "ab", "x.py", "x.c", "é", "c d", "#h", "!n"]
PIECES = [
    *WORDS,
    "*",
    "**",
    "?",
    "*.py",
    "a*",
    "[ab]",
    "[!a]*",
    "*.[ch]",
    r"\#h",
    r"\!n",
    "[[:alpha:]]",
]


def random_pattern(chance: random.Random) -> str:
    parts = "/".join(chance.choice(PIECES) for _ in range(chance.choice([1, 1, 1, 2, 2, 3])))
    lead = "!" if chance.random() < 0.3 else ""
    return lead + chance.choice(["", "", "/"]) + parts + chance.choice(["", "", "/", " "])


def random_repository(git: Git, root: Path, chance: random.Random) -> None:
    root.mkdir()
    git(root, "init", "-q")
    for _ in range(30):
        target = root.joinpath(*(chance.choice(WORDS) for _ in range(chance.randint(1, 4))))
        if not target.exists() and not any(parent.is_file() for parent in target.parents):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(b"x")
    folders = [
        root,
        *(path for path in root.rglob("*") if path.is_dir() and ".git" not in path.parts),
    ]
    chosen = [root / ".git/info/exclude", root.parent / "excludes"]
    chosen += [folder / ".gitignore" for folder in chance.sample(folders, min(4, len(folders)))]
    for path in chosen:
        lines = [random_pattern(chance) for _ in range(chance.randint(1, 3))]
        path.write_text("\n".join(lines), encoding="utf-8")
    git(root, "config", "core.excludesFile", str(root.parent / "excludes"))


@pytest.mark.parametrize("seed", range(80))
def test_random_repositories(git: Git, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    root = tmp_path / "repo"
    random_repository(git, root, chance)
    kept = files_kept_by_git(git, root)
    assert files_found(root) == kept
    # From a directory inside, the same files are found: rules from above hold.
    for inner in [path for path in sorted(root.iterdir()) if path.is_dir() and path.name != ".git"]:
        expected = {
            path.removeprefix(inner.name + "/")
            for path in kept
            if path.startswith(inner.name + "/")
        }
        if git(root, "check-ignore", "-q", str(inner), codes=(0, 1)) or not expected:
            # The directory itself is ignored, and was asked for by name: that wins.
            continue
        assert files_found(inner) == expected


def test_stars_do_not_take_for_ever() -> None:
    rules = parse_rules(b"*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b\n" + b"x/" + b"*a" * 20 + b"*b\n", "p")
    name = "a" * 200
    assert find_rule((IgnoreScope(rules),), "x/", name, False) is None
    found = find_rule((IgnoreScope(rules),), "", name + "b", False)
    assert found is not None
    assert found.place.startswith("p:1: *a*a")


def test_bytes_are_compared_one_by_one() -> None:
    assert matchable("é\udcff") == "\xc3\xa9\xff"
