"""Is a file that a rule fails on still read, as plain text and with a problem that says so?"""

import pytest

from asterism.analysis.syntax import outlines
from asterism.analysis.syntax.outlines import UNFOLLOWED, outline
from tests.analysis.chunks.invariants import complaints


def test_a_rule_that_fails_costs_one_outline_and_no_indexing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_arguments: object) -> None:
        raise IndexError("a shape that no rule has thought of")

    monkeypatch.setattr(outlines, "outline_tree", fails)
    found = outline("a.py", b"def f():\n    return 1\n")
    assert found.problems == (UNFOLLOWED,)
    assert found.language == "python"
    assert [item.end_line for item in found.items] == [2]
    assert complaints("a.py", b"def f():\n    return 1\n") == []
