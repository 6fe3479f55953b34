"""Encoder vectors are made once for each text, despite interruptions and edits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from asterism.indexing.index import Cache, text_hash
from asterism.indexing.report import Listener, Progress, UpgradeReport
from asterism.indexing.upgrade import (
    BATCH_TEXTS,
    Upgrade,
    halves,
    rows_of_halves,
    upgrade,
)
from asterism.models.embed.cache import EmbeddingCache, NoCache
from asterism.store.chunk_table import MemoryLimits
from asterism.store.encoder_vectors import EncoderStore, MadeFor, Making
from asterism.types.errors import ProviderDown, StorageFailed
from tests.models.embed.counting_embedder import CountingEmbedder
from tests.store.chunk_samples import DIMENSIONS, chunk, entry, units
from tests.store.memory_table import MemoryTable

RECIPE = 1


@dataclass
class Workshop:
    """An index in memory, a model that counts, and the vectors on disk."""

    directory: Path
    embedder: CountingEmbedder = field(default_factory=lambda: CountingEmbedder(6))
    table: MemoryTable = field(default_factory=lambda: MemoryTable(DIMENSIONS))
    cache: Cache = field(default_factory=NoCache)
    files: int = 0

    @property
    def made_for(self) -> MadeFor:
        return MadeFor(self.embedder.identity, RECIPE)

    def write(self, *texts: str) -> None:
        """One more file with a chunk for each text."""
        self.files += 1
        rows = [
            chunk(f"{self.files}.py", f"f{number}", embedding_text=text)
            for number, text in enumerate(texts)
        ]
        entries = [
            entry(row, self.files)._replace(text_hash=text_hash(row.embedding_text)) for row in rows
        ]
        self.table.append(entries, units(len(rows)))

    def work(self) -> Upgrade:
        return Upgrade(
            directory=self.directory,
            made_for=self.made_for,
            version=lambda: self.table.version,
            chunks=self.table.snapshot,
            embedder=lambda: self.embedder,
            cache=lambda: self.cache,
        )

    def run(self, listener: Listener | None = None) -> UpgradeReport:
        return upgrade(self.work(), listener or Listener())

    def kept(self) -> Mapping[bytes, bytes]:
        store = EncoderStore.existing(self.directory, self.made_for)
        assert store is not None
        with store:
            return dict(row for rows in store.everything() for row in rows)

    def making(self) -> Making:
        with EncoderStore.open(self.directory, self.made_for) as store:
            return store.making()


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    made = Workshop(tmp_path)
    made.write(*(f"text {number}" for number in range(3 * BATCH_TEXTS)))
    return made


def stop_when(enough: Callable[[Progress], bool]) -> Listener:
    """A listener that wants an end as soon as it hears of enough."""
    heard: list[Progress] = []
    return Listener(heard.append, lambda: any(map(enough, heard)))


def test_every_text_gets_the_vector_that_the_model_makes(shop: Workshop) -> None:
    report = shop.run()
    kept = shop.kept()
    assert len(kept) == report.texts == report.embedded == 3 * BATCH_TEXTS
    text = "text 77"
    [expected] = CountingEmbedder(6).embed_documents([text])
    assert np.array_equal(rows_of_halves([kept[text_hash(text)]], 6)[0], expected)
    assert report.sentence == "All 192 texts have vectors of fake (192 made)."
    assert shop.embedder.closed


def test_equal_texts_are_embedded_once(shop: Workshop) -> None:
    shop.write("text 1", "text 2", "text 2", "new")
    assert shop.run().embedded == 3 * BATCH_TEXTS + 1


def test_the_second_time_nothing_is_done(shop: Workshop) -> None:
    shop.run()
    again = shop.run()
    assert (again.embedded, again.cached, again.dropped) == (0, 0, 0)
    assert again.sentence == "All 192 texts have vectors of fake."


def test_an_edit_leaves_the_vectors_of_other_texts_and_drops_those_of_old_ones(
    shop: Workshop,
) -> None:
    shop.write("old", "both")
    shop.run()
    shop.table.delete([2])
    shop.write("both", "new")
    shop.embedder.documents.clear()
    report = shop.run()
    assert shop.embedder.documents == ["new"]
    assert report.dropped == 1
    assert text_hash("old") not in shop.kept()


def test_what_the_cache_has_is_not_made_and_what_is_made_is_cached(
    shop: Workshop, tmp_path: Path
) -> None:
    with EmbeddingCache(tmp_path / "cache", 10_000_000) as cache:
        [vector] = CountingEmbedder(6).embed_documents(["text 5"])
        cache.put(shop.made_for.model, RECIPE, {text_hash("text 5"): vector})
        shop.cache = cache
        report = shop.run()
        assert (report.cached, report.embedded) == (1, 3 * BATCH_TEXTS - 1)
        found = cache.get(shop.made_for.model, RECIPE, [*shop.kept()])
        assert {key: halves(value) for key, value in found.items()} == shop.kept()
        elsewhere = Workshop(tmp_path / "other", table=shop.table, cache=cache)
        elsewhere.directory.mkdir()
        assert elsewhere.run().cached == 3 * BATCH_TEXTS
        assert elsewhere.embedder.texts == 0


def test_what_was_made_before_an_end_is_kept_and_the_next_one_goes_on(shop: Workshop) -> None:
    report = shop.run(stop_when(lambda progress: progress.files_done >= BATCH_TEXTS))
    assert report.cancelled
    assert "kept" in report.sentence
    assert len(shop.kept()) == BATCH_TEXTS
    assert shop.making() == Making()
    rest = shop.run()
    assert (rest.embedded, rest.cancelled) == (2 * BATCH_TEXTS, False)


def test_a_model_that_fails_leaves_what_it_made_and_says_why(shop: Workshop) -> None:
    shop.embedder.fail_after = 2 * BATCH_TEXTS
    with pytest.raises(ProviderDown):
        shop.run()
    assert len(shop.kept()) == 2 * BATCH_TEXTS
    assert "The fake fails" in shop.making().failure
    shop.embedder.fail_after = None
    shop.run()
    assert shop.making() == Making()


def test_an_index_that_is_written_to_meanwhile_is_complete_in_the_end(shop: Workshop) -> None:
    edits = iter([("edited while it runs",)])

    def hear(progress: Progress) -> None:
        if progress.files_done == BATCH_TEXTS:
            for texts in edits:
                shop.table.delete([1])
                shop.write(*texts, "text 0")

    report = shop.run(Listener(hear))
    assert set(shop.kept()) == {text_hash("edited while it runs"), text_hash("text 0")}
    assert report.texts == 2


def test_another_model_begins_anew(shop: Workshop) -> None:
    shop.run()
    shop.embedder = CountingEmbedder(6, model="better")
    assert shop.run().embedded == 3 * BATCH_TEXTS
    assert shop.made_for.model.model == "better"


def test_too_many_chunks_are_left_to_the_built_in_model(shop: Workshop) -> None:
    few = replace(shop.work(), limits=MemoryLimits(matrix_bytes=4 * 6 * 100))
    report = upgrade(few)
    assert report.too_large == 3 * BATCH_TEXTS
    assert "192 chunks are more than" in report.sentence
    assert shop.embedder.texts == 0


def test_others_go_first_before_every_few_texts(shop: Workshop) -> None:
    turns: list[int] = []
    polite = replace(shop.work(), run_texts=10, give_way=lambda: turns.append(shop.embedder.texts))
    upgrade(polite)
    assert turns[:7] == [0, 10, 20, 30, 40, 50, 60]
    assert turns[7] == BATCH_TEXTS


def test_an_index_without_rows_is_complete(tmp_path: Path) -> None:
    empty = Workshop(tmp_path)
    assert empty.run().sentence == "All 0 texts have vectors of fake."


def test_a_place_that_cannot_be_written_is_said_with_who_answers(shop: Workshop) -> None:
    shop.directory = shop.directory / "missing"
    with pytest.raises(
        StorageFailed, match=r"Vectors of fake cannot be kept: .* goes on answering"
    ):
        shop.run()
