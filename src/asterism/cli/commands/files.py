"""`asterism files`: what would be indexed, and what not, and why."""

import argparse
from collections import Counter

from asterism.analysis.source.discovery import discover
from asterism.cli.json import discovery_json, write_json
from asterism.cli.setup import folder_of, settings_for
from asterism.config.load import discovery_options
from asterism.types.files import Discovery, display_path, wire_path


def run(options: argparse.Namespace) -> int:
    """Print the files below a path."""
    root = str(folder_of(options.path))
    given = {} if options.max_bytes is None else {"discovery.max_file_bytes": options.max_bytes}
    found = discover(root, discovery_options(settings_for(root, given)))
    if options.tokens:
        _tokens(found, options.json)
    elif options.json:
        write_json(discovery_json(found))
    else:
        _print(found, options.skipped)
    return 0


def _tokens(found: Discovery, as_json: bool) -> None:
    """Where tokens are and of which kind, never what they are."""
    from asterism.analysis.contents import token_places
    from asterism.cli.terminal import console, show

    places = list(token_places(found))
    kinds = Counter(place.kind for place in places)
    if as_json:
        rows = [{**place._asdict(), "path": wire_path(place.path)} for place in places]
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


def _print(found: Discovery, skipped: bool) -> None:
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
