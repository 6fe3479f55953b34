"""A build that is stopped while it reads goes on from there, and gives the same index."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.analysis.parallel import BATCH
from asterism.indexing.report import Listener, Progress, SyncStage
from tests.indexing.workshop import Workshop, workshop

PACKETS = 5
FILES = PACKETS * BATCH


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Workshop]:
    """Files that quote each other, read by one process in five packets."""
    with workshop(tmp_path) as made:
        made.options = replace(made.options, parallel_from=1)
        for number in range(FILES):
            after = (number * 7 + 1) % FILES
            made.put(
                f"m{number:03}.py",
                f"from m{after:03} import f{after}\n\n\n"
                f"def f{number}(a: int) -> int:\n    return f{after}(a)\n",
            )
        yield made


def stopped(place: Workshop, packets: int) -> list[int]:
    """Sync until so many packets are read in all; how many files were read at each report."""
    heard: list[int] = []

    def hear(progress: Progress) -> None:
        if progress.stage is SyncStage.reading:
            heard.append(progress.files_done)

    def is_enough() -> bool:
        return bool(heard) and heard[-1] >= packets * BATCH

    report = place.sync(Listener(hear, is_enough))
    assert report.cancelled == (packets < PACKETS)
    return heard


def texts(place: Workshop) -> list[tuple[str, str]]:
    return sorted((chunk.id, chunk.embedding_text) for chunk in place.chunks())


def spools(place: Workshop) -> list[Path]:
    return list(place.index.directory.glob("*.spool"))


def fresh(place: Workshop, home: Path) -> list[tuple[str, str]]:
    """What an index holds that is built in one go."""
    with workshop(home) as other:
        other.repository = place.repository
        other.sync()
        return texts(other)


def test_each_run_reads_only_what_the_ones_before_did_not(place: Workshop, tmp_path: Path) -> None:
    assert stopped(place, 2) == [BATCH, 2 * BATCH]
    assert spools(place)
    assert stopped(place, 4) == [3 * BATCH, 4 * BATCH]
    report = place.sync()
    assert (report.files, report.parsed) == (FILES, FILES)
    assert spools(place) == []
    assert texts(place) == fresh(place, tmp_path / "fresh")
    assert not place.sync().did_something


def test_a_file_that_changed_since_is_read_again(place: Workshop, tmp_path: Path) -> None:
    stopped(place, 2)
    place.put("m000.py", "def f0(a: str, b: str) -> str:\n    return a\n")
    (place.root / "m040.py").unlink()
    # Both packets held one of the two.
    assert stopped(place, 1) == [BATCH]
    place.sync()
    assert texts(place) == fresh(place, tmp_path / "fresh")


def test_every_file_is_read_for_a_build_anew(place: Workshop) -> None:
    stopped(place, 2)
    place.sync(anew=True)
    assert place.embedder.documents
    assert spools(place) == []


def test_other_options_read_everything(place: Workshop) -> None:
    stopped(place, 2)
    chunks = replace(place.options.chunks, max_quote_chars=20)
    place.options = replace(place.options, chunks=chunks)
    assert stopped(place, 1) == [BATCH]


def test_a_build_that_is_stopped_while_it_writes(place: Workshop, tmp_path: Path) -> None:
    place.options = replace(place.options, batch_bytes=1)
    written: list[int] = []
    read: list[int] = []

    def hear(progress: Progress) -> None:
        if progress.stage is SyncStage.writing:
            written.append(progress.files_done)

    assert place.sync(Listener(hear, lambda: bool(written))).cancelled
    assert written == [BATCH]
    report = place.sync(Listener(lambda progress: read.append(progress.files_done)))
    # All were read, and those that were written need not be taken over.
    assert report.parsed >= FILES - BATCH
    assert texts(place) == fresh(place, tmp_path / "fresh")
    assert not place.sync().did_something


def test_a_sync_with_nothing_to_do_removes_the_file(place: Workshop) -> None:
    place.sync()
    (place.index.directory / f"reading-{place.repository.name}.spool").write_bytes(b"old")
    place.sync()
    assert spools(place) == []
