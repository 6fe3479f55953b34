"""Mines queries from commit histories: a message, and the functions that the commit changed.

    python -m training.sources.functions CLONE... --out FILE [--most 110] [--queries 60]

For each clone one state is chosen, so many suitable commits before the newest, and the messages of
later commits become queries about it. A function counts if it has the same path and name there.
"""

import argparse
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.syntax.outlines import outline_bytes
from asterism.search.ranking.priors import FUNCTIONS
from training.examples.mine import TEST, source_name
from training.inputs import present
from training.sources.archives import LARGEST_BYTES, SUFFIXES, git_directory
from training.sources.history import is_about_nothing

COMMITS = 6_000
MOST = 110
QUERIES = 60
# A commit that touches more than this is about no single place.
FILES_AT_MOST = 4
LINES_AT_MOST = 250
FUNCTIONS_AT_MOST = 5
WORDS = range(3, 31)
BODY_CHARACTERS = 2_500

_TRAILER = re.compile(
    r"^(?:signed-off-by|co-authored-by|reviewed-by|acked-by|change-id|cc|fixes|closes|refs?|bug"
    r"|see also|pr-url|reported-by|tested-by|\(?cherry picked|resolves|related)\b.*$",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"\s*\(?#\d+\)?")
_LABEL = re.compile(r"^\s*(?:\[[^\]]*\]\s*)+")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")


class Change(NamedTuple):
    """A commit as a query about the state before it."""

    commit: str
    parent: str
    query: str
    wanted: tuple[tuple[str, str], ...]
    """Path and qualified name of each function that was changed."""


def query_of(message: str) -> str:
    """Subject and body without labels, numbers and trailers; nothing if it is about no code."""
    subject, _, body = message.strip().partition("\n")
    subject = _LABEL.sub("", _NUMBER.sub("", subject)).strip(" .")
    if len(subject.split()) not in WORDS or is_about_nothing(subject):
        return ""
    body = _TRAILER.sub("", body).strip()[:BODY_CHARACTERS]
    return f"{subject}\n\n{body}" if body else subject


def hunks_of(diff: str) -> dict[str, list[tuple[int, int]]]:
    """First line and number of lines that each hunk replaces, by path; empty if too much is."""
    found: dict[str, list[tuple[int, int]]] = {}
    path, changed = "", 0
    for line in diff.split("\n"):
        if line.startswith("--- "):
            path = line[6:] if line.startswith("--- a/") else ""
        elif line.startswith("+++ ") and not line.startswith("+++ b/"):
            path = ""
        elif path and (hunk := _HUNK.match(line)):
            first, removed = int(hunk[1]), int(hunk[2] or 1)
            changed += removed + int(hunk[3] or 1)
            if not TEST.search(path):
                found.setdefault(path, []).append((first, removed))
    return found if changed <= LINES_AT_MOST and len(found) <= FILES_AT_MOST else {}


def changed_functions(
    path: str, source: bytes, hunks: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, str]]:
    """The innermost function around each changed line."""
    outline = outline_bytes(path, source)
    items = [item for _, item in outline.symbols() if item.kind in FUNCTIONS]
    lines = source.decode("utf-8", "replace").split("\n")
    for first, removed in hunks:
        for line in range(first, first + max(removed, 1)):
            if removed and not "".join(lines[line - 1 : line]).strip():
                continue
            around = [item for item in items if item.start_line <= line <= item.end_line]
            if around:
                best = min(around, key=lambda item: item.end_line - item.start_line)
                yield path, ".".join(best.path)


class Commit(NamedTuple):
    """A commit that may become a query: its message, and what it replaces."""

    commit: str
    parent: str
    query: str
    hunks: Mapping[str, Sequence[tuple[int, int]]]


def commits(clone: Path) -> Iterator[Commit]:
    """Suitable commits of a clone, the newest first."""
    git = ["git", "--git-dir", str(git_directory(clone))]
    listed = output([*git, "rev-list", "--no-merges", "-n", str(COMMITS), "HEAD"])
    show = [*git, "log", "--no-walk=unsorted", "--stdin", "-p", "-U0", "--no-renames"]
    show += ["--no-ext-diff", "--no-textconv", "--format=%x1e%H %P%x1f%B%x1f", "--"]
    show += [f"*.{suffix}" for suffix in sorted(SUFFIXES)]
    for entry in output(show, listed).decode("utf-8", "replace").split("\x1e")[1:]:
        head, _, rest = entry.partition("\x1f")
        message, _, diff = rest.partition("\x1f")
        ids, query = head.split(), query_of(message)
        hunks = hunks_of(diff) if query else {}
        if len(ids) == 2 and hunks:
            yield Commit(ids[0], ids[1], query, hunks)


def source_of(clone: Path, commit: str, path: str) -> bytes:
    """A file as it is in a commit; nothing for one that is missing or too large."""
    git = ["git", "--git-dir", str(git_directory(clone))]
    source = output([*git, "cat-file", "blob", f"{commit}:{path}"])
    return source if len(source) <= LARGEST_BYTES else b""


def changes(clone: Path, most: int = MOST) -> Iterator[Change]:
    """Suitable commits of a clone and the functions that they changed, the newest first."""
    found = (change for commit in commits(clone) if (change := _change(clone, commit)))
    yield from islice(found, most)


def _change(clone: Path, commit: Commit) -> Change | None:
    wanted: dict[tuple[str, str], None] = {}
    for path, own in commit.hunks.items():
        source = source_of(clone, commit.parent, path)
        if not source:
            return None
        wanted |= dict.fromkeys(changed_functions(path, source, own))
    if not 1 <= len(wanted) <= FUNCTIONS_AT_MOST:
        return None
    return Change(commit.commit, commit.parent, commit.query, tuple(wanted))


def output(command: Sequence[str], given: bytes = b"") -> bytes:
    """What a command prints."""
    return subprocess.run(command, input=given, capture_output=True, check=False).stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the queries of all clones, each with the state that it is asked of."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", nargs="+", type=present)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("--queries", type=int, default=QUERIES)
    options = parser.parse_args(arguments)
    with options.out.open("w", encoding="utf-8") as file:
        for clone in options.clones:
            found = [*changes(clone, options.most)]
            if not found:
                continue
            base = found[-1].parent
            chosen = random.Random(5).sample(found, min(options.queries, len(found)))
            for change in chosen:
                row = {"repo": source_name(clone), "base": base, **change._asdict()}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            sys.stderr.write(f"{source_name(clone)}: {len(chosen)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
