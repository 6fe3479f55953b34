"""Sources to damage: every fixture, and for each row of the catalogue a name to call them by."""

from pathlib import Path

from asterism.analysis.syntax.language import TABLE, DialectEntry
from asterism.analysis.syntax.outlines import language_of
from tests.fixture_checks import FIXTURES

FINDINGS = Path(__file__).parents[2] / "fuzz/findings/sources"

_, _, ENDLESS = (FINDINGS / "go-calls-behind-a-damaged-import.case").read_bytes().partition(b"\n")
"""A text of Go in which one step of the parser takes an hour."""

ROWS = {entry.key: entry for entry in TABLE}


def sources() -> list[Path]:
    """The fixtures' sources, without their expectations."""
    found = FIXTURES.glob("*/*")
    return sorted(path for path in found if path.is_file() and not path.match("*.expected.json"))


SOURCES = sources()


def sources_of(entry: DialectEntry) -> list[Path]:
    """The fixtures in one language, or any at all where it has none."""
    own = [path for path in SOURCES if language_of(path.name, path.read_bytes()) is entry]
    return own or SOURCES[:3]


def name_in(entry: DialectEntry) -> str:
    """A file name by which the language is recognised."""
    return f"sample{entry.extensions[0] if entry.extensions else '.unknown'}"
