"""Measures the replies of `codebase_search` on labelled questions: size, code, right symbols.

    python -m benchmarks.replies --checkouts DIRECTORY [--repos NAME,…] [--each] [QUESTIONS.jsonl]

DIRECTORY holds a checkout for each repository of the questions, by the last part of its name; its
index is built if it is missing. A wanted symbol is in a reply if nine tenths of its lines that are
not blank are among the lines of its file's snapshot, in their order, within the first 4,000 tokens.
Code of the wanted symbols is counted line by line in the same way, over the whole reply. A token is
four characters.
"""

import argparse
import json
import statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import asterism
from asterism import Codebase

CHARS_PER_TOKEN = 4
WITHIN = 4_000
"""Tokens within which the right symbol has to be."""
SHOWN = 0.9
"""Share of a symbol's lines from which it counts as shown; marked gaps may leave out a few."""
QUESTIONS = Path("tests/evaluation/readers/first.jsonl")
EXACT = ("name",)
"""Kinds of questions that name a symbol; the others are in words."""


class Wanted(NamedTuple):
    """A symbol that answers: its path and its lines that are not blank."""

    path: str
    lines: tuple[str, ...]


class Question(NamedTuple):
    """A labelled question."""

    id: str
    repo: str
    kind: str
    query: str
    wanted: tuple[Wanted, ...]
    all_needed: bool


class Measured(NamedTuple):
    """What a reply to one question was."""

    question: Question
    results: int
    tokens: int
    wanted_share: float
    """Of the reply's characters, code of the wanted symbols."""
    is_right: bool


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", nargs="?", type=Path, default=QUESTIONS)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--repos", help="names with commas between (default: every checkout)")
    parser.add_argument("--each", action="store_true", help="print a line for each question")
    options = parser.parse_args(arguments)
    names = options.repos.split(",") if options.repos else None
    found: list[Measured] = []
    for name, questions in _by_repository(options.questions, options.checkouts, names):
        with asterism.open(options.checkouts / name) as code:
            found.extend(_measured(code, question) for question in questions)
    if options.each:
        for one in found:
            print(
                f"{one.question.id:16} {'right' if one.is_right else '-':5} {one.results:3} "
                f"{one.tokens:6,} {one.wanted_share:4.0%}  {one.question.query[:70]}"
            )
    print("| repository | questions | results, median | tokens, median / p90 | wanted | right |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for repo in sorted({one.question.repo for one in found}):
        print(_row(repo, [one for one in found if one.question.repo == repo]))
    print(_row("all", found))


def _by_repository(
    path: Path, checkouts: Path, names: Sequence[str] | None
) -> Iterator[tuple[str, list[Question]]]:
    rows = [json.loads(line) for line in path.read_text().splitlines() if line]
    for name in sorted({row["repo"].rpartition("/")[2] for row in rows}):
        root = checkouts / name
        if root.is_dir() and (names is None or name in names):
            chosen = (row for row in rows if row["repo"].rpartition("/")[2] == name)
            yield name, [_question(row, root) for row in chosen]


def _question(row: dict, root: Path) -> Question:  # type: ignore[type-arg]
    wanted = []
    for symbol in row["wanted"]:
        lines = (root / symbol["path"]).read_text("utf-8", "replace").split("\n")
        declared = lines[symbol["start"] - 1 : symbol["end"]]
        kept = tuple(line.strip() for line in declared if line.strip())
        wanted.append(Wanted(symbol["path"], kept))
    name = row["repo"].rpartition("/")[2]
    return Question(row["id"], name, row["kind"], row["query"], tuple(wanted), row["all_needed"])


def _measured(code: Codebase, question: Question) -> Measured:
    reply = code.context(question.query)
    text = reply.text
    within = text[: WITHIN * CHARS_PER_TOKEN]
    shown = [_shown(wanted, within) >= SHOWN * len(wanted.lines) for wanted in question.wanted]
    is_right = bool(shown) and (all(shown) if question.all_needed else any(shown))
    spans = {wanted: _characters(wanted, text) for wanted in question.wanted}
    share = min(1.0, max(spans.values(), default=0) / max(1, len(text)))
    return Measured(question, len(reply), -(-len(text) // CHARS_PER_TOKEN), share, is_right)


def _snapshot(path: str, text: str) -> list[str]:
    """The lines behind the comment that names the file, up to the next file's."""
    lines = text.split("\n")
    heads = [at for at, line in enumerate(lines) if _is_head(line, path)]
    return [line.strip() for line in lines[heads[0] + 1 :]] if heads else []


def _is_head(line: str, path: str) -> bool:
    words = line.split()
    return path in words and len(words) <= 4 and not line[:1].isspace() and words[0] != path


def _matched(wanted: Wanted, text: str) -> Iterable[str]:
    """The wanted lines found one behind the other in the file's snapshot."""
    lines, at = _snapshot(wanted.path, text), 0
    for line in wanted.lines:
        if line in lines[at:]:
            at = lines.index(line, at) + 1
            yield line


def _shown(wanted: Wanted, text: str) -> int:
    return sum(1 for _line in _matched(wanted, text))


def _characters(wanted: Wanted, text: str) -> int:
    found = list(_matched(wanted, text))
    # A closing bracket that is found by itself is no code of the symbol.
    return sum(len(line) + 1 for line in found) if len(found) > len(wanted.lines) / 2 else 0


def _row(name: str, found: Sequence[Measured]) -> str:
    in_words = [one for one in found if one.question.kind not in EXACT and one.question.wanted]
    answerable = [one for one in found if one.question.wanted]
    right = [one for one in answerable if one.is_right]
    tokens = sorted(one.tokens for one in in_words)
    ninth = tokens[min(len(tokens) - 1, len(tokens) * 9 // 10)]
    share = statistics.mean(one.wanted_share for one in right) if right else 0.0
    return (
        f"| {name} | {len(found)} | {statistics.median(one.results for one in in_words):g} "
        f"| {statistics.median(tokens):,.0f} / {ninth:,} | {share:.0%} "
        f"| {len(right)} of {len(answerable)} |"
    )


if __name__ == "__main__":
    main()
