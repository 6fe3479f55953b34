"""Every fixture's outline and chunks are exactly what its expectation says."""

import json
from pathlib import Path

import pytest

from tests.fixture_checks import FIXTURES, completed, described

EXPECTATIONS = sorted(FIXTURES.glob("*/*.expected.json"))


@pytest.mark.parametrize(
    "expectation", EXPECTATIONS, ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_fixture(expectation: Path) -> None:
    """Compare part by part, so that a failure shows the part that differs."""
    source = expectation.with_name(expectation.name.removesuffix(".expected.json"))
    expected = completed(json.loads(expectation.read_text(encoding="utf-8")))
    found = described(source)
    for part in ("symbols", "root_items", "imports", "exports", "chunks"):
        assert found[part] == expected.get(part, []), f"{part} of {source.name}"
    missing = set(expected.get("references", [])) - set(found["references"])
    assert not missing, f"references not found in {source.name}"
    wrong = set(expected.get("absent_references", [])) & set(found["references"])
    assert not wrong, f"references that should not be in {source.name}"
    if expected.get("problems", 0) == "some":
        assert found["problems"] > 0
    else:
        assert found["problems"] == expected.get("problems", 0)


def test_every_source_has_an_expectation() -> None:
    """A fixture without a written expectation proves nothing."""
    sources = [
        path
        for path in FIXTURES.glob("*/*")
        if path.is_file() and not path.name.endswith(".expected.json")
    ]
    assert sources
    alone = [path for path in sources if not Path(f"{path}.expected.json").exists()]
    assert alone == []
