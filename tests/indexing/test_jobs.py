"""The record of a sync: kept while something is done, closed with a sentence, whatever ended it."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from asterism.indexing.jobs import run_sync
from asterism.indexing.plan import is_alive
from asterism.indexing.report import SILENT, Listener, Progress, SyncReport, SyncStage
from asterism.types.errors import ProviderDown, StorageFailed
from asterism.types.index import Job, JobState
from tests.indexing.workshop import Workshop, workshop


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    with workshop(tmp_path) as made:
        made.put("a.py", "def a():\n    return 1\n")
        yield made


def run(shop: Workshop, listener: Listener = SILENT) -> SyncReport:
    return run_sync(shop.index, shop.repository, shop.options, listener)


def job(shop: Workshop) -> Job:
    found = shop.index.catalogue.job("repository")
    assert found is not None
    return found


def raising(error: BaseException, stage: SyncStage) -> Listener:
    def hear(progress: Progress) -> None:
        if progress.stage is stage:
            raise error

    return Listener(hear)


def test_a_build_then_syncs(shop: Workshop) -> None:
    report = run(shop)
    first = job(shop)
    assert (first.kind, first.state, first.pid) == ("build", "done", os.getpid())
    assert (first.files_done, first.files_total, first.chunks_done) == (1, 1, 1)
    assert first.sentence == report.sentence
    last = shop.index.catalogue.statistics("repository").last_sync
    assert last is not None
    assert first.started <= last <= first.updated
    shop.put("b.py", "def b():\n    return 1\n")
    run(shop)
    assert (job(shop).kind, job(shop).state) == ("sync", "done")


def test_nothing_to_do_leaves_the_record_as_it_is(shop: Workshop) -> None:
    run(shop)
    before = job(shop)
    run(shop)
    assert job(shop) == before


def test_a_provider_that_fails(shop: Workshop) -> None:
    shop.embedder.fail_after = 0
    with pytest.raises(ProviderDown):
        run(shop)
    assert (job(shop).state, job(shop).sentence) == (
        "failed",
        "The fake fails after 0 texts, as it was told to.",
    )


@pytest.mark.parametrize(
    ("number", "why"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk is full"),
        (errno.EACCES, os.strerror(errno.EACCES)),
    ],
)
def test_a_disk_that_fails(shop: Workshop, number: int, why: str) -> None:
    error = OSError(number, os.strerror(number))
    with pytest.raises(StorageFailed, match=f"could not be written: {why}. What was committed is"):
        run(shop, raising(error, SyncStage.writing))
    assert job(shop).state == "failed"
    assert why in job(shop).sentence


def test_an_interrupt(shop: Workshop) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(shop, raising(KeyboardInterrupt(), SyncStage.writing))
    assert job(shop).state == "cancelled"
    assert job(shop).sentence.startswith("Interrupted; what was written is kept.")


def test_stopped_by_the_listener(shop: Workshop) -> None:
    assert run(shop, Listener(stop=lambda: True)).cancelled
    assert job(shop).state == "cancelled"


def test_stopped_by_another_process(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asterism.indexing.jobs.RECORD_SECONDS", 0)
    catalogue = shop.index.catalogue

    def hear(progress: Progress) -> None:
        if progress.stage is SyncStage.writing:
            assert catalogue.request_cancel("repository")

    assert run(shop, Listener(hear)).cancelled
    assert not run(shop).cancelled


@pytest.mark.parametrize(
    ("state", "exists", "expected"),
    [("running", True, True), ("running", False, False), ("done", True, False)],
)
def test_alive(state: JobState, exists: bool, expected: bool) -> None:
    assert is_alive(Job("sync", state, 1, 0.0, 0.0), lambda _: exists) is expected
