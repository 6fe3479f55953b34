"""Files that vanish, refuse to be read or are no text; models that fail; users who stop."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.analysis.parallel import BATCH
from asterism.analysis.syntax import language
from asterism.indexing.report import Listener, Progress, SyncStage
from asterism.types.errors import ProviderDown
from asterism.types.index import Staleness
from tests.analysis.syntax.material import ENDLESS
from tests.indexing.workshop import Workshop, workshop


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    with workshop(tmp_path) as made:
        yield made


def fill(shop: Workshop, count: int) -> None:
    for number in range(count):
        shop.put(f"src/m{number:03}.py", f"def f{number}():\n    return {number}\n")


def test_a_file_that_vanishes_between_listing_and_reading(shop: Workshop) -> None:
    fill(shop, 2 * BATCH)
    last = f"src/m{2 * BATCH - 1:03}.py"

    def vanish(progress: Progress) -> None:
        # The first batch is read, the second is not; everything is listed.
        if progress.stage is SyncStage.reading and progress.files_done == BATCH:
            (shop.root / last).unlink()

    report = shop.sync(Listener(vanish))
    assert (report.files, report.added) == (2 * BATCH - 1, 2 * BATCH - 1)
    assert shop.names(last) == []
    assert shop.sync().did_something is False


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_an_unreadable_file_is_left_out_and_named(shop: Workshop) -> None:
    fill(shop, 2)
    shop.sync()
    (shop.root / "src" / "m000.py").chmod(0)
    shop.touch("src/m000.py")
    report = shop.sync()
    assert report.removed == 1
    assert report.skipped["unreadable"] == 1


def test_a_text_file_that_becomes_binary_leaves_no_row(shop: Workshop) -> None:
    fill(shop, 2)
    shop.sync()
    (shop.root / "src" / "m000.py").write_bytes(b"\x7fELF\x00\x01\x02" * 50)
    report = shop.sync()
    assert (report.removed, report.skipped["binary"]) == (1, 1)
    assert shop.names("src/m000.py") == []


def test_a_provider_that_fails_loses_nothing_committed(shop: Workshop) -> None:
    fill(shop, 200)
    shop.options = replace(shop.options, batch_bytes=1)
    shop.embedder.fail_after = 100
    with pytest.raises(ProviderDown):
        shop.sync()
    kept = len(shop.chunks())
    assert 0 < kept < 200
    shop.embedder.fail_after = None
    report = shop.sync()
    # What was committed is neither parsed nor embedded again.
    assert report.embedded == 200 - kept
    assert report.parsed == 200 - kept
    assert len(shop.chunks()) == 200


def test_stopping_keeps_what_was_written(shop: Workshop) -> None:
    fill(shop, 200)
    shop.options = replace(shop.options, batch_bytes=1)
    written: list[int] = []

    def hear(progress: Progress) -> None:
        if progress.stage is SyncStage.writing:
            written.append(progress.files_done)

    report = shop.sync(Listener(hear, lambda: bool(written)))
    assert report.cancelled
    assert report.files == written[0] == len(shop.chunks())
    assert report.sentence.startswith("Stopped: ")
    again = shop.sync()
    assert again.added == 200 - written[0]
    assert len(shop.chunks()) == 200


def test_stopping_while_reading_writes_nothing(shop: Workshop) -> None:
    fill(shop, 3)
    report = shop.sync(Listener(stop=lambda: True))
    assert report.cancelled
    assert shop.chunks() == []


def test_other_options_read_everything_anew_and_embed_only_what_differs(shop: Workshop) -> None:
    fill(shop, 5)
    shop.put("long.py", "def long():\n" + "    call()\n" * 400)
    first = shop.sync()
    shop.options = replace(shop.options, chunks=replace(shop.options.chunks, max_tokens=300))
    report = shop.sync()
    assert report.before is Staleness.options
    assert report.parsed == 6
    # The long function is in parts now; the five short ones have the vectors they had.
    assert report.reused == 5
    assert report.embedded > 1
    assert report.chunks_total > first.chunks_total
    assert shop.sync().before is Staleness.equal


def test_anew_reads_everything_and_gives_the_same(shop: Workshop) -> None:
    fill(shop, 4)
    shop.sync()
    before = shop.chunks()
    report = shop.sync(anew=True)
    assert (report.parsed, report.chunks_written, report.embedded) == (4, 4, 0)
    assert shop.chunks() == before


def test_an_empty_repository(shop: Workshop) -> None:
    report = shop.sync()
    assert report.sentence.startswith("No files matched")
    assert shop.chunks() == []


def test_names_that_are_no_utf8(shop: Workshop) -> None:
    name = os.fsencode(shop.root) + b"/caf\xe9.py"
    Path(os.fsdecode(name)).write_text("def coffee():\n    return 1\n")
    report = shop.sync()
    assert (report.files, report.chunks_written) == (1, 1)
    assert shop.sync().did_something is False
    Path(os.fsdecode(name)).unlink()
    assert shop.sync().removed == 1
    assert shop.chunks() == []


def test_a_racy_file_is_read_until_its_time_proves_something(shop: Workshop) -> None:
    (shop.root / "now.py").write_text("def now():\n    return 1\n")
    assert shop.sync().parsed == 1
    # Written a moment ago: same size, same time, other content.
    facts = (shop.root / "now.py").stat()
    (shop.root / "now.py").write_text("def now():\n    return 2\n")
    os.utime(shop.root / "now.py", ns=(facts.st_atime_ns, facts.st_mtime_ns))
    report = shop.sync()
    assert (report.changed, report.parsed) == (1, 1)


def test_many_files_are_read_in_parallel(shop: Workshop) -> None:
    fill(shop, 200)
    shop.options = replace(shop.options, workers=2)
    assert shop.sync().parsed == 200
    assert len(shop.chunks()) == 200


@pytest.mark.parametrize("workers", [1, 2], ids=["this process", "a pool"])
def test_a_file_whose_parse_does_not_end(
    shop: Workshop, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read as plain text, every other file as it is, and the next sync has nothing to do."""
    # The processes of a pool keep the limit of two seconds.
    monkeypatch.setattr(language, "SMALL_SECONDS", 0.2)
    shop.options = replace(shop.options, workers=workers, parallel_from=2)
    fill(shop, 6 * BATCH)
    for name in ("src/m000.go", "src/m100.go"):
        shop.put(name, ENDLESS.decode())
    assert shop.sync().parsed == 6 * BATCH + 2
    states = shop.index.catalogue.files("repository")
    assert {path: state.problems for path, state in states.items() if state.problems} == {
        "src/m000.go": 1,
        "src/m100.go": 1,
    }
    assert {chunk.name for chunk in shop.chunks()} >= {f"f{n}" for n in range(6 * BATCH)}
    holding = {chunk.relative_path for chunk in shop.chunks() if "x.y(x.y(" in chunk.full_source}
    assert holding == {"src/m000.go", "src/m100.go"}
    assert shop.sync().did_something is False
