"""`asterism files` and `asterism validate`: the files of a repository, and their chunks' rules."""

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from asterism.analysis.chunks.validation import RULES
from asterism.analysis.source.discovery import discover
from asterism.cli.options import add_json
from asterism.cli.parser import CommandParser
from asterism.cli.setup import folder_of, place_of, settings_for
from asterism.cli.terminal import drawn, write_json
from asterism.config.load import chunk_options, discovery_options, worker_count
from asterism.evaluation.rules import CheckedFile, Extreme, Summary, validate
from asterism.operations.schema import Json
from asterism.types.errors import PathMissing
from asterism.types.files import Discovery, display_path, wire_path


def declare(parser: CommandParser) -> None:
    """Add the arguments of the command that is meant."""
    if parser.command == "validate":
        parser.add_argument("paths", metavar="PATH", nargs="+", help="files or repositories")
        parser.add_argument(
            "--jobs", type=int, metavar="N", help="processes (default: the settings')"
        )
    else:
        parser.add_argument("path", metavar="PATH", help="the repository or a directory in it")
        parser.add_argument(
            "--skipped", action="store_true", help="list skipped files with reasons"
        )
        parser.add_argument(
            "--tokens",
            action="store_true",
            help="list tokens and keys in these files, which are masked in what is sent to models",
        )
        parser.add_argument(
            "--max-bytes", type=int, metavar="N", help="skip larger files (default: the settings')"
        )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """List files, or check them."""
    return _validate(options) if options.command == "validate" else _files(options)


def _files(options: argparse.Namespace) -> int:
    """Print the files below a path."""
    root = str(folder_of(options.path))
    given = {} if options.max_bytes is None else {"discovery.max_file_bytes": options.max_bytes}
    found = discover(root, discovery_options(settings_for(root, given)))
    if options.tokens:
        _tokens(found, options.json)
    elif options.json:
        write_json(_discovery_json(found))
    else:
        _print_files(found, options.skipped)
    return 0


def _tokens(found: Discovery, as_json: bool) -> None:
    """Where tokens are and of which kind, never what they are."""
    from asterism.analysis.contents import token_places
    from asterism.cli.terminal import console, show

    places = list(token_places(found))
    kinds = Counter(place.kind for place in places)
    if as_json:
        rows = [_located(place._asdict()) for place in places]
        write_json({"root": wire_path(found.root), "tokens": rows, "counts": dict(kinds)})
        return
    out = console()
    for place in places:
        proof = "  checksum right" if place.proven else ""
        show(
            out,
            (f"{display_path(place.path)}:{place.line}", ""),
            (f"  {place.kind}", "yellow"),
            (proof, "dim"),
        )
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    show(out, (f"{len(places)} tokens", "bold"), (f" ({counted})" if counted else "", "dim"))


def _print_files(found: Discovery, skipped: bool) -> None:
    from asterism.cli.terminal import console, show

    out = console()
    if skipped:
        for entry in found.skipped:
            detail = f"  {display_path(entry.detail)}" if entry.detail else ""
            show(
                out,
                (display_path(entry.path), ""),
                (f"  {entry.reason.value}", "yellow"),
                (detail, "dim"),
            )
    else:
        for file in found.files:
            show(out, (display_path(file.path), ""), (f"  {file.size:,}", "dim"))
    reasons = ", ".join(f"{count} {reason.value}" for reason, count in found.counts.items())
    total = sum(file.size for file in found.files)
    show(
        out,
        (f"{len(found.files)} files", "bold"),
        (f", {total:,} bytes; {len(found.skipped)} skipped", ""),
        (f" ({reasons})" if reasons else "", "dim"),
    )
    if not found.files:
        show(out, ("Nothing to index here.", "yellow"), (" --skipped says why.", ""))


# Beyond this the list says nothing new.
SHOWN_VIOLATIONS = 50

# Fewer files are done before a bar could be read.
PROGRESS_FROM = 200


def _validate(options: argparse.Namespace) -> int:
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
        _print_summary(summary)
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


def _print_summary(summary: Summary) -> None:
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
        "violations": [_located(violation._asdict()) for violation in summary.violations],
    }


def _discovery_json(discovery: Discovery) -> Json:
    """What `asterism files --json` prints."""
    return {
        "root": wire_path(discovery.root),
        "files": [
            {"file_path": wire_path(file.path), "size": file.size} for file in discovery.files
        ],
        "skipped": [
            {
                "file_path": wire_path(entry.path),
                "reason": entry.reason.value,
                "detail": entry.detail,
            }
            for entry in discovery.skipped
        ],
        "counts": {
            "files": len(discovery.files),
            "skipped": {reason.value: count for reason, count in discovery.counts.items()},
        },
    }


def _located(row: Json) -> Json:
    """A row with its path first, by the name that paths have in every reply."""
    rest = {name: value for name, value in row.items() if name != "path"}
    return {"file_path": wire_path(row["path"]), **rest}
