"""`asterism files`: what would be indexed, and what not, and why."""

import argparse
from pathlib import Path

from asterism.analysis.source.discovery import discover
from asterism.cli.preferences import settings_for
from asterism.cli.wire import discovery_json, write_json
from asterism.config.loading import discovery_options
from asterism.domain.files import Discovery, display_path


def run(options: argparse.Namespace) -> int:
    """Print the files below a path."""
    root = str(Path(options.path).absolute())
    given = {} if options.max_bytes is None else {"discovery.max_file_bytes": options.max_bytes}
    found = discover(root, discovery_options(settings_for(root, given)))
    if options.json:
        write_json(discovery_json(found))
    else:
        _print(found, options.skipped)
    return 0


def _print(found: Discovery, skipped: bool) -> None:
    from asterism.cli.console import console, show

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
