"""Is every input that fuzzing once found a mistake with read without one today?"""

from pathlib import Path

import pytest

from tests.fuzz.target import NAMES, target_of
from tests.fuzz.worker import complaints_of

FINDINGS = Path(__file__).parent / "findings"
CASES = sorted(FINDINGS.glob("*/*.case"))


@pytest.mark.parametrize("name", sorted({path.parent.name for path in CASES}))
def test_what_was_found_is_fixed(name: str, tmp_path: Path) -> None:
    wrong = {}
    with target_of(name).opened(tmp_path) as check:
        for path in CASES:
            if path.parent.name == name and (found := complaints_of(check, path.read_bytes())):
                wrong[path.name] = found
    assert wrong == {}


def test_findings_belong_to_targets() -> None:
    assert CASES
    assert {path.parent.name for path in CASES} <= {*NAMES}
