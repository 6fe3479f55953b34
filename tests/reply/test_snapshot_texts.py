"""Snapshots have exactly the text that was written down for them."""

from pathlib import Path

import pytest

from asterism.analysis.syntax.outlines import outline
from asterism.reply.snapshots import snapshot
from tests.reply.snapshot_cases import CASES, read_case
from tests.reply.snapshot_checks import faults


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_text(path: Path) -> None:
    """The text is exact, and the checks that need no expectation agree with it."""
    case = read_case(path)
    read = outline(case.path, case.source)
    assert bool(read.problems) == case.damaged
    targets = [
        index for index, item in enumerate(read.items) if item.qualified_name in case.targets
    ]
    assert len(targets) >= len(case.targets), "a target of the case is not in its source"
    made = snapshot(read, case.source, targets)
    assert made.text == case.expected
    assert not list(faults(read, case.source, made))
