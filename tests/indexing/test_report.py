"""What happened, in a sentence: one for each way a sync can end."""

import pytest

from asterism.indexing.report import NOTHING_MATCHED, SyncReport
from asterism.types.index import Staleness

FIRST = SyncReport(before=Staleness.missing)
LATER = SyncReport(before=Staleness.content, files=1200)
DRY = SyncReport(before=Staleness.content, files=1200, dry_run=True)


def like(report: SyncReport, **values: object) -> SyncReport:
    fields = {name: getattr(report, name) for name in SyncReport.__slots__}
    return SyncReport(**(fields | values))


@pytest.mark.parametrize(
    ("report", "sentence"),
    [
        (FIRST, NOTHING_MATCHED),
        (like(FIRST, dry_run=True), NOTHING_MATCHED),
        (
            like(FIRST, files=1, added=1, chunks_written=1, embedded=1),
            "Indexed 1 file: 1 chunk written (1 embedded).",
        ),
        (
            like(FIRST, files=2, added=2, chunks_written=1500, embedded=1000, cached=400, reused=9),
            "Indexed 2 files: 1,500 chunks written (1,000 embedded, 409 known already).",
        ),
        (like(FIRST, files=1, added=1), "Indexed 1 file."),
        (
            like(FIRST, files=3, added=3, dry_run=True),
            "3 files would be indexed; nothing was written.",
        ),
        (like(LATER, files=1), "Nothing to do: the one file is as it was."),
        (LATER, "Nothing to do: all 1,200 files are as they were."),
        (
            like(LATER, added=1, changed=2, removed=1000, chunks_written=5, reused=5),
            "Files: 1 added, 2 changed, 1,000 removed: 5 chunks written (5 known already).",
        ),
        (like(LATER, removed=1), "Files: 1 removed."),
        (like(LATER, files=0, removed=1), "Files: 1 removed."),
        (
            like(LATER, parsed=4, reread=4, chunks_written=2, reused=2),
            "Files: 4 read again: 2 chunks written (2 known already).",
        ),
        (
            like(LATER, cancelled=True),
            "Stopped: 1,200 files are indexed so far; run it again to go on.",
        ),
        (
            like(LATER, files=1, cancelled=True),
            "Stopped: 1 file is indexed so far; run it again to go on.",
        ),
        (DRY, "Nothing would be done: all 1,200 files are as they were."),
        (like(DRY, changed=1, removed=2), "Files: 1 changed, 2 removed; nothing was written."),
    ],
)
def test_sentence(report: SyncReport, sentence: str) -> None:
    assert report.sentence == sentence


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, False),
        ({"touched": 3, "parsed": 3, "reread": 3}, False),
        ({"added": 1}, True),
        ({"changed": 1}, True),
        ({"removed": 1}, True),
        ({"chunks_written": 1}, True),
    ],
)
def test_doing_something_means_writing(values: dict[str, int], expected: bool) -> None:
    assert like(LATER, **values).did_something is expected
