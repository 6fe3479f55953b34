"""Mines change requests from commit histories.

    python -m training.sources.history CLONE... --rows ROWS --out FILE

The subject of a commit is a short change request; the symbol that still has lines of the commit is
an answer that does not depend on documentation.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple

from training.examples.mine import TEST, source_name
from training.examples.rows import Row, read
from training.inputs import present
from training.sources.archives import SUFFIXES, git_directory

COMMITS = 20_000
# So many at a time: a log ends where a clone lacks an object, and only the window is lost.
WINDOW = 500
# A commit that touches more than this is about no single place.
FILES_AT_MOST = 3
LINES_AT_MOST = 120
WORDS = range(4, 16)
# Shorter lines are everywhere.
SHORTEST_LINE = 14
PER_SYMBOL = 3

_SCOPE = re.compile(r"^\s*(?:\[[^\]]*\]\s*|[\w./-]+(?:\([^)]*\))?!?:\s+|[\w-]+\([^)]*\)\s+)+")
_NUMBER = re.compile(r"\s*\(?(?:\b(?:gh-|fixes |closes |refs? ))?#\d+\)?\.?", re.IGNORECASE)
_ABOUT_NOTHING = re.compile(
    r"\b(?:bump|release|version|merge|revert|typos?|lint|format(?:ting)?|changelog|whitespace"
    r"|clean ?up|spelling"
    r"|copyright|licen[cs]e|upgrade|dependenc(?:y|ies)|tests?|specs?|docs?|readme|ci|comments?|rubocop|clippy|wip|nits?)\b",
    re.IGNORECASE,
)


class ChangeRequest(NamedTuple):
    """A subject and the symbol that was written for it."""

    query: str
    source: str
    path: str
    name: str


def is_about_nothing(subject: str) -> bool:
    """Whether a subject is about releases, style or pages instead of code."""
    return _ABOUT_NOTHING.search(subject) is not None


def subject(line: str) -> str:
    """What a commit is about, or nothing where it says too little or is about no code."""
    bare = _NUMBER.sub("", _SCOPE.sub("", line.strip())).strip(" .")
    if len(bare.split()) not in WORDS or is_about_nothing(bare):
        return ""
    return bare


def changes(log: Iterable[str]) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """The subject of each commit of a log, and the lines it added to each file."""
    said, path = "", ""
    files: dict[str, list[str]] = {}
    for line in log:
        if line.startswith("\x1e"):
            if said and files:
                yield said, files
            said, files, path = subject(line[1:]), {}, ""
        elif line.startswith("+++ "):
            path = line[6:].rstrip("\n") if line.startswith("+++ b/") else ""
        elif path and line.startswith("+"):
            files.setdefault(path, []).append(line[1:].strip())
    if said and files:
        yield said, files


def change_requests(log: Iterable[str], rows: Sequence[Row]) -> Iterator[ChangeRequest]:
    """Each subject with the symbol of each file that has most of its lines."""
    lines_of: dict[str, list[tuple[Row, frozenset[str]]]] = defaultdict(list)
    for row in rows:
        told = frozenset(line.strip() for line in row.code.split("\n"))
        lines_of[row.path].append((row, told))
    taken: Counter[str] = Counter()
    for said, files in changes(log):
        source_files = {path: lines for path, lines in files.items() if not TEST.search(path)}
        if not 0 < len(source_files) <= FILES_AT_MOST:
            continue
        for path, lines in source_files.items():
            added = {line for line in lines if len(line) >= SHORTEST_LINE}
            if not added or len(lines) > LINES_AT_MOST or path not in lines_of:
                continue
            row, told = max(lines_of[path], key=lambda entry: len(entry[1] & added))
            key = f"{path}#{row.name}"
            if told & added and taken[key] < PER_SYMBOL:
                taken[key] += 1
                yield ChangeRequest(said, row.source, path, row.name)


def log_of(folder: Path) -> Iterator[str]:
    """The newest commits of a clone, with what they added."""
    git = ["git", "--git-dir", str(git_directory(folder))]
    listed = [*git, "rev-list", "--no-merges", "-n", str(COMMITS), "HEAD"]
    commits = subprocess.run(listed, stdout=subprocess.PIPE, check=False).stdout.split()
    show = [*git, "log", "--no-walk=unsorted", "--stdin", "-p", "-U0", "--no-renames"]
    show += ["--diff-filter=M", "--format=%x1e%s", "--"]
    show += [f"*.{suffix}" for suffix in sorted(SUFFIXES)]
    for first in range(0, len(commits), WINDOW):
        asked = b"\n".join(commits[first : first + WINDOW]) + b"\n"
        told = subprocess.run(show, input=asked, capture_output=True, check=False).stdout
        yield from told.decode("utf-8", "replace").split("\n")


def _of_clone(task: tuple[str, str]) -> list[ChangeRequest]:
    folder, rows = Path(task[0]), Path(task[1]) / f"{source_name(Path(task[0]))}.jsonl"
    if not rows.exists():
        return []
    with rows.open(encoding="utf-8") as file:
        return list(change_requests(log_of(folder), list(read(file))))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the change requests of all clones whose rows were mined."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", nargs="+", type=present)
    parser.add_argument("--rows", type=present, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    tasks = [(str(clone), str(options.rows)) for clone in options.clones]
    total = 0
    with options.out.open("w", encoding="utf-8") as file, Pool(options.processes) as pool:
        for number, found in enumerate(pool.imap_unordered(_of_clone, tasks), 1):
            for change in found:
                file.write(json.dumps(change, ensure_ascii=False) + "\n")
            total += len(found)
            file.flush()
            sys.stderr.write(f"{number}/{len(tasks)}: {len(found)} (all {total})\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
