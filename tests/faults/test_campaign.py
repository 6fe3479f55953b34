"""A few runs of each kind of the fault campaign; `make faults` makes them all."""

import os
import subprocess
import sys

import pytest

from tests.faults.campaign.layer import is_possible
from tests.faults.campaign.results import Result, table
from tests.faults.damage import DAMAGES, PARTS
from tests.faults.workplace import ROOT

# Each run is checked with several commands, so a few take long enough.
KINDS = (
    "stages",
    "writers",
    "readers",
    "watchers",
    "stdio",
    "http",
    "conversations",
    "upgrades",
    "writes: sync",
    "reads: search",
)
SCALE = "0.008"
SECONDS = 900


def campaign(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "tests.faults.campaign", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_faults(kind: str) -> None:
    if not is_possible():
        pytest.skip("the fault layer needs Linux and a C compiler")
    done = campaign(kind, "--scale", SCALE, "--seed", "7")
    assert done.returncode == 0, done.stderr
    assert "runs" in done.stdout


def test_what_is_wrong_is_told() -> None:
    good, bad = Result("good", runs=3, disk=1.1), Result("bad", runs=1_000, wrong=1)
    bad.complain("kill 7 of seed 2", "a row is missing")
    assert [good.is_clean, bad.is_clean] == [True, False]
    assert bad.complaints == ["bad, kill 7 of seed 2: a row is missing"]
    assert table([good, bad]).splitlines()[2:] == [
        "| good | 3 | 0 | 0 | 0 | 0 | 0 | 0 | 1.10 |",
        "| bad | 1,000 | 0 | 1 | 0 | 0 | 0 | 0 |  |",
    ]


def test_an_unknown_kind() -> None:
    done = campaign("hammers")
    assert (done.returncode, "no such kind: hammers" in done.stderr) == (2, True)


def test_the_page_names_every_way_and_every_kind_of_file() -> None:
    page = (ROOT / "tests/faults/campaign/README.md").read_text("utf-8")
    assert [name for name in (*DAMAGES, *PARTS) if f"`{name}`" not in page] == []
    assert len(DAMAGES) * len(PARTS) == 306
