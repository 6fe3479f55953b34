"""The kinds docs/outlines.md lists are the kinds there are."""

import re
from collections.abc import Iterator
from pathlib import Path

from asterism.analysis.syntax.language import TABLE
from asterism.analysis.syntax.outlines import outline_bytes
from asterism.types.outline import ROOT_KINDS
from tests.analysis.syntax.material import SOURCES

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "outlines.md").read_text()


def listed() -> set[str]:
    """The first column of the table of kinds."""
    table = PAGE.split("### Kinds")[1].split("### ")[0]
    return {
        kind
        for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        for kind in re.findall(r"`(\w+)`", row)
    }


def found() -> Iterator[str]:
    yield from (item.kind for item in outline_bytes("outlines.md", PAGE.encode()).items)
    for path in SOURCES:
        yield from (item.kind for item in outline_bytes(path.name, path.read_bytes()).items)


def test_every_kind_is_listed() -> None:
    assert set(found()) - ROOT_KINDS - listed() == set()


def test_every_listed_kind_exists() -> None:
    assert listed() - set(found()) == set()


def test_root_kinds_are_listed() -> None:
    text = PAGE.split("Root items have kinds of their own:")[1].split("\n\n")[0]
    assert set(re.findall(r"`([a-z-]+)`", text)) == ROOT_KINDS


def test_every_language_is_named() -> None:
    missing = {
        entry.title for entry in TABLE if not re.search(rf"\b{re.escape(entry.title)}", PAGE)
    }
    assert missing == set()
