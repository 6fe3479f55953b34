"""Does the page for operators name every metric there is, with its labels, and no other?"""

import re
from pathlib import Path

from asterism.telemetry.meters import METERS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (`(?:asterism|process)_.+?) \|(.*?)\| .+ \|$", re.MULTILINE)


def test_every_metric_is_explained() -> None:
    named = {
        name: tuple(filter(None, labels.strip().split(", ")))
        for names, labels in ROW.findall(PAGE)
        for name in re.findall(r"`(\w+)`", names)
    }
    assert named == {meter.name: meter.labels for meter in METERS}


def test_no_other_metric_is_mentioned() -> None:
    mentioned = set(re.findall(r"\b(?:asterism|process)_[a-z_]+", PAGE))
    assert mentioned - {meter.name for meter in METERS} == set()
