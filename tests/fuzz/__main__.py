"""Fuzzes one target, or all: `python -m tests.fuzz sources --runs 10000 --seed 1 --jobs 2`."""

import argparse
import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path

from tests.fuzz.driver import Account, Plan, progress_line, run
from tests.fuzz.guided import LED
from tests.fuzz.target import NAMES, target_of
from tests.fuzz.worker import complaints_of

TOLD_SECONDS = 10.0
SAID_BY_LIBFUZZER = ("stat::", "found:", "ERROR:", "SUMMARY:", "Done ")


def main() -> int:
    """Run what the arguments say; 1 if anything was found."""
    given = _arguments()
    if given.replay:
        return _replay(given.target, [Path(name) for name in given.replay])
    names = NAMES if given.target == "all" else (given.target,)
    found = 0
    for name in names:
        plan = Plan(name, given.runs, given.seed, given.jobs, Path(given.folder))
        found += _run(plan)
        if given.guided and name in LED:
            found += _guided(plan)
    return 1 if found else 0


def _run(plan: Plan) -> int:
    began = last = time.monotonic()
    first: list[int] = []

    def told(account: Account) -> None:
        nonlocal last
        now = time.monotonic()
        first[:] = first or [account.cases]
        if now - last >= TOLD_SECONDS:
            last = now
            _say(progress_line(plan, account, (account.cases - first[0]) / (now - began)))

    account = run(plan, told)
    _say(progress_line(plan, account, 0.0).rpartition(",")[0])
    for signature, count in account.signatures.most_common():
        _say(f"  {count:,} × {signature}")
    if account.found:
        _say(f"  inputs are in {plan.folder / plan.target / 'findings'}")
    return account.found


def _guided(plan: Plan) -> int:
    """As many cases again, led by coverage, where what leads is installed."""
    if importlib.util.find_spec("atheris") is None:
        _say(f"{plan.target}: not led by coverage, for atheris is not installed")
        return 0
    findings = plan.folder / plan.target / "findings"
    before = {*findings.glob("guided-*")}
    command = [sys.executable, "-m", "tests.fuzz.guided", plan.target, "--runs", str(plan.runs)]
    place = ["--seed", plan.seed, "--folder", str(plan.folder)]
    done = subprocess.run(
        [*command, *place], capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    said = [line for line in done.stderr.splitlines() if line.startswith(SAID_BY_LIBFUZZER)]
    _say(f"{plan.target}, led by coverage: {'; '.join(said[-4:]) or done.stderr[-500:]}")
    new = {*findings.glob("guided-*")} - before
    return len(new) + (done.returncode != 0)


def _replay(name: str, paths: list[Path]) -> int:
    """Check files once more, in this process."""
    import tempfile

    found = 0
    with tempfile.TemporaryDirectory() as place, target_of(name).opened(Path(place)) as check:
        for path in paths:
            complaints = complaints_of(check, path.read_bytes())
            found += bool(complaints)
            _say(json.dumps({"file": str(path), "complaints": complaints}, ensure_ascii=True))
    return 1 if found else 0


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=[*NAMES, "all"])
    parser.add_argument("--runs", type=int, default=10_000, help="cases of each target")
    parser.add_argument("--seed", default="1", help="another seed gives other cases")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    parser.add_argument(
        "--folder", default="build/fuzz", help="where progress and findings are kept"
    )
    parser.add_argument("--guided", action="store_true", help="as many again, led by coverage")
    parser.add_argument("--replay", nargs="+", metavar="FILE", help="check these inputs and end")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
