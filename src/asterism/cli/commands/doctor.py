"""`asterism doctor`: look at the installation, and say what to do next."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from asterism.cli.options import add_json
from asterism.cli.parser import CommandParser
from asterism.cli.terminal import write_json
from asterism.engine.doctor.machine import Finding, Severity
from asterism.engine.doctor.report import examine, is_healthy
from asterism.operations.schema import Json

_STYLES = {Severity.ok: "green", Severity.warning: "yellow", Severity.problem: "red"}
_WIDTH = 17
"""Of the column that says what was looked at."""


def declare(parser: CommandParser) -> None:
    """Add the arguments."""
    parser.add_argument("--online", action="store_true", help="ask the providers that are set, too")
    parser.add_argument(
        "--deep", action="store_true", help="read every byte of what is kept and check it"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print what is found; exit 1 if something will fail."""
    found: Iterable[Finding] = examine(_here(), options.online, options.deep)
    if options.json:
        found = [*found]
        write_json(findings_json(found))
    else:
        found = _printed(found)
    return 0 if is_healthy(found) else 1


def _here() -> Path:
    """Where the user stands; where that was removed meanwhile, somewhere that holds nothing."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(sys.prefix)


def _printed(findings: Iterable[Finding]) -> list[Finding]:
    """Each line as soon as it is known, for some take a second."""
    from asterism.cli.terminal import console, show

    out = console()
    shown = []
    for finding in findings:
        shown.append(finding)
        verdict = (f"{finding.verdict.value:<8} ", _STYLES[finding.verdict])
        show(out, verdict, (f"{finding.check:<{_WIDTH}} ", "bold"), (finding.message, ""))
        if finding.advice:
            show(out, (f"{'':<{_WIDTH + 10}}", ""), (f"→ {finding.advice}", "dim"))
        # What was found is seen even if the next look ends the process.
        sys.stdout.flush()
    counts = Counter(finding.verdict for finding in shown)
    problems, warnings = counts[Severity.problem], counts[Severity.warning]
    said = ", ".join(
        f"{count} {word}{'' if count == 1 else 's'}"
        for count, word in ((problems, "problem"), (warnings, "warning"))
        if count
    )
    show(out, (f"{said}." if said else "No problems found.", "red" if problems else ""))
    return shown


def findings_json(findings: Iterable[Finding]) -> Json:
    """What `--json` prints."""
    listed = [*findings]
    counts = Counter(finding.verdict.value for finding in listed)
    return {
        "healthy": is_healthy(listed),
        "counts": {verdict.value: counts[verdict.value] for verdict in Severity},
        "findings": [{**finding._asdict(), "verdict": finding.verdict.value} for finding in listed],
    }
