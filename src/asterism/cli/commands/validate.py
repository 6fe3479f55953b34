"""`asterism validate`: the ten rules over whole repositories, and their summary."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from asterism.analysis.chunks.validation import RULES
from asterism.analysis.source.discovery import discover
from asterism.cli.json import Json, write_json
from asterism.cli.setup import folder_of, place_of, settings_for
from asterism.cli.terminal import drawn
from asterism.config.load import chunk_options, discovery_options, worker_count
from asterism.evaluation.rules import CheckedFile, Extreme, Summary, validate
from asterism.types.errors import PathMissing
from asterism.types.files import display_path

# Beyond this the list says nothing new.
SHOWN_VIOLATIONS = 50

# Fewer files are done before a bar could be read.
PROGRESS_FROM = 200


def run(options: argparse.Namespace) -> int:
    """Validate every file; exit 1 on a violation or a crash."""
    given = {} if options.jobs is None else {"work.jobs": options.jobs}
    workers = worker_count(settings_for(str(Path.cwd()), given))
    targets = [target for path in options.paths for target in _targets(path)]
    advance, done = _progress(len(targets))
    try:
        summary = validate(targets, workers, advance)
    finally:
        done()
    if options.json:
        write_json(_summary_json(summary))
    else:
        _print(summary)
    return 1 if summary.violations or summary.crashes else 0


def _targets(typed: str) -> list[CheckedFile]:
    path = folder_of(typed)
    if not path.exists():
        raise PathMissing(f"{display_path(typed)} does not exist; check the path.")
    if path.is_dir():
        settings = settings_for(str(path))
        limits = chunk_options(settings)
        found = discover(str(path), discovery_options(settings))
        return [
            CheckedFile(f"{found.root}/{file.path}", file.path, path.name, limits)
            for file in found.files
        ]
    place = place_of(typed)
    limits = chunk_options(settings_for(place.root))
    return [CheckedFile(place.path, place.relative_path, place.repo, limits)]


def _progress(total: int) -> tuple[Callable[[int], None], Callable[[], None]]:
    """A bar on a terminal that is watched, nothing elsewhere."""
    if not sys.stderr.isatty() or total < PROGRESS_FROM:
        return lambda _count: None, lambda: None
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(file=drawn(sys.stderr)), transient=True)
    task = bar.add_task("validating", total=total)
    bar.start()
    return lambda count: bar.advance(task, count), bar.stop


def _print(summary: Summary) -> None:
    from asterism.cli.terminal import console, show

    out = console()
    for violation in summary.violations[:SHOWN_VIOLATIONS]:
        place = f"{display_path(violation.path)}:{violation.line}"
        rule = f"rule {violation.rule} ({RULES[violation.rule]})"
        show(out, (f"{place}: ", "bold"), (rule, "red"), (f": {violation.message}", ""))
    hidden = len(summary.violations) - SHOWN_VIOLATIONS
    if hidden > 0:
        show(out, (f"… and {hidden:,} more violations", "red"))
    for line in summary.crashes:
        show(out, ("crash: ", "bold red"), (display_path(line), ""))
    for line in summary.unread:
        show(out, ("not read: ", "yellow"), (display_path(line), ""))
    for label, text in _rows(summary):
        show(out, (f"{label:<17}", "dim"), (text, ""))


def _rows(summary: Summary) -> list[tuple[str, str]]:
    languages = ", ".join(f"{name} {count:,}" for name, count in summary.languages.most_common())
    stable = summary.nondeterministic == 0
    return [
        ("Files", f"{summary.passed:,} passed, {summary.failed:,} failed"),
        ("Languages", languages or "none"),
        ("Symbols", f"{summary.symbols:,} and {summary.root_items:,} root items"),
        ("References", f"{summary.references:,}"),
        ("Chunks", f"{summary.chunks:,}"),
        ("Coverage", _coverage(summary)),
        ("Largest chunk", _extreme(summary.largest, "tokens")),
        ("Deepest level", _extreme(summary.deepest, "")),
        ("Syntax problems", f"in {summary.with_problems:,} files"),
        ("Determinism", "all ids the same in two runs" if stable else "ids differ between runs"),
        ("Violations", f"{len(summary.violations):,}"),
    ]


def _coverage(summary: Summary) -> str:
    if not summary.uncovered:
        return f"100 % of {summary.lines:,} lines with text"
    # Never rounded up to 100: a single lost line must show.
    share = int(summary.coverage * 10_000) / 100
    return f"{share:.2f} %: {summary.uncovered:,} of {summary.lines:,} lines are in no chunk"


def _extreme(extreme: Extreme, unit: str) -> str:
    if not extreme.place:
        return "0"
    return f"{extreme.value:,} {unit} ({display_path(extreme.place)})".replace("  ", " ")


def _summary_json(summary: Summary) -> Json:
    return {
        "files": {"passed": summary.passed, "failed": summary.failed},
        "unread": [display_path(line) for line in summary.unread],
        "crashes": [display_path(line) for line in summary.crashes],
        "languages": dict(summary.languages.most_common()),
        "symbols": summary.symbols,
        "root_items": summary.root_items,
        "references": summary.references,
        "chunks": summary.chunks,
        "lines": summary.lines,
        "uncovered_lines": summary.uncovered,
        "coverage": summary.coverage,
        "largest_chunk": summary.largest._asdict(),
        "deepest_level": summary.deepest._asdict(),
        "files_with_problems": summary.with_problems,
        "deterministic": summary.nondeterministic == 0,
        "violations": [violation._asdict() for violation in summary.violations],
    }
