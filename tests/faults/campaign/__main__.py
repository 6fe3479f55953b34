"""Runs the fault campaign and prints its table: `python -m tests.faults.campaign [KIND…] --seed 1`.

Without kinds all of them run. `--scale 1` is the full count (a thousand kills, every call, every
damage); less is a share of it. The same seed makes the same changes, kills and choices.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.faults.campaign import calls, damages, keeping, kills, stages, together
from tests.faults.campaign.forks import load_everything
from tests.faults.campaign.layer import Arming, is_loaded, is_possible
from tests.faults.campaign.results import Result, table

Run = Callable[[Path, float, int], Result]


def _kills(run: Callable[[Path, int, int], Result], full: int) -> Run:
    """A kind of which `full` runs are made at full scale."""
    return lambda home, scale, seed: run(home, max(1, round(full * scale)), seed)


KINDS: dict[str, Run] = {
    "stages": _kills(stages.run_stages, 350),
    "writers": _kills(partial(kills.run_commands, kind="writers"), 250),
    "readers": _kills(partial(kills.run_commands, kind="readers"), 150),
    "watchers": _kills(kills.run_watchers, 100),
    "stdio": _kills(kills.run_stdio_servers, 75),
    "http": _kills(kills.run_http_servers, 75),
    "conversations": _kills(keeping.run_conversations, 60),
    "upgrades": _kills(keeping.run_upgrades, 60),
    "together": _kills(together.run_together, 10),
    "damage": damages.run_damages,
}
"""The kills of the kinds up to `http` are a thousand."""
for _name in calls.SCENARIOS:
    KINDS[f"writes: {_name}"] = partial(calls.run_writes, name=_name)
for _name in ("search", "sync"):
    KINDS[f"reads: {_name}"] = partial(calls.run_reads, name=_name)


def run(kinds: list[str], scale: float, seed: int, told: Callable[[str], None]) -> list[Result]:
    """The kinds one after the other; each is told as soon as it is done."""
    load_everything()
    results = []
    for kind in kinds:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as home:
            result = KINDS[kind](Path(home), scale, seed)
        results.append(result)
        told(f"{kind}: {result.runs} runs, {time.monotonic() - began:.0f} s")
        if result.covered:
            told(f"  {result.covered}")
        for complaint in result.complaints:
            told(f"  {complaint}")
    return results


def main() -> int:
    """Run and print; exit 1 if anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.campaign", description=__doc__)
    parser.add_argument("kinds", metavar="KIND", nargs="*", help=", ".join(KINDS))
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full count")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    unknown = [kind for kind in options.kinds if kind not in KINDS]
    if unknown:
        parser.error(f"no such kind: {', '.join(unknown)}; there are {', '.join(KINDS)}")
    kinds = options.kinds or list(KINDS)
    if not is_possible():
        sys.stderr.write("The faults need Linux and a C compiler called cc.\n")
        return 2
    if not is_loaded():
        # The layer has to be there before the C library is used.
        variables = Arming(Path("/nowhere")).variables
        os.environ |= variables
        os.execv(sys.executable, [sys.executable, "-m", "tests.faults.campaign", *sys.argv[1:]])

    # Begun in the background of a shell, it would hand on that Ctrl-C is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def tell(line: str) -> None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    tell(f"seed {options.seed}, scale {options.scale:g}")
    results = run(kinds, options.scale, options.seed, tell)
    sys.stdout.write(f"{table(results)}\n")
    for result in results:
        if result.covered:
            sys.stdout.write(f"\n{result.kind}: {result.covered}\n")
    return 0 if all(result.is_clean for result in results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
