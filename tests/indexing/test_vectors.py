"""A text's vector comes from the cheapest source that has it, and is counted there."""

from pathlib import Path

import numpy as np
import pytest

from asterism.indexing.index import EmbeddedText, VectorSource, text_hash
from asterism.indexing.report import SyncAccount
from asterism.models.embed.cache import EmbeddingCache
from asterism.store.chunk_table import ChunkKey
from tests.disclosure.examples import AWS
from tests.models.embed.counting_embedder import CountingEmbedder
from tests.store.chunk_samples import DIMENSIONS, chunk, entry
from tests.store.memory_table import MemoryTable

A, B, C = (EmbeddedText(name * 16, f"text of {name!r}") for name in (b"a", b"b", b"c"))
RECIPE = 1


class Sources:
    """The three places that a vector may come from, with `A` cached and `B` stored."""

    def __init__(self, directory: Path) -> None:
        self.embedder = CountingEmbedder(DIMENSIONS)
        self.cache = EmbeddingCache(directory, 1_000_000)
        self.table = MemoryTable(DIMENSIONS)
        self.vectors = dict(
            zip(
                (A, B, C),
                CountingEmbedder(DIMENSIONS).embed_documents([A.text, B.text, C.text]),
                strict=True,
            )
        )
        self.cache.put(self.embedder.identity, RECIPE, {A.hash: self.vectors[A]})
        row = chunk(name="b")
        self.stored = {B.hash: ChunkKey(row.repo, row.id)}
        self.table.append([entry(row)], np.stack([self.vectors[B]]))

    def source(self) -> VectorSource:
        return VectorSource(
            self.embedder.identity, RECIPE, self.cache, lambda: self.table, lambda: self.embedder
        )


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    return Sources(tmp_path)


@pytest.mark.parametrize(
    ("texts", "counts"),
    [
        ([], (0, 0, 0)),
        ([A], (1, 0, 0)),
        ([B], (0, 1, 0)),
        ([C], (0, 0, 1)),
        ([C, A, B], (1, 1, 1)),
        ([C, C, A, A, B, B], (1, 1, 1)),
    ],
)
def test_sources(sources: Sources, texts: list[EmbeddedText], counts: tuple[int, int, int]) -> None:
    account = SyncAccount()
    found = sources.source().vectors(texts, sources.stored, account)
    assert (account.cached, account.reused, account.embedded) == counts
    assert sources.embedder.documents == [C.text] * counts[2]
    assert found.shape == (len(texts), DIMENSIONS)
    assert found.dtype == np.float32
    for row, text in zip(found, texts, strict=True):
        assert row.tobytes() == sources.vectors[text].tobytes()


def test_what_was_made_is_cached(sources: Sources) -> None:
    sources.source().vectors([C], {}, SyncAccount())
    again = SyncAccount()
    sources.source().vectors([C], {}, again)
    assert (again.cached, again.embedded) == (1, 0)


def test_a_row_that_is_gone_is_made_again(sources: Sources) -> None:
    sources.table.delete([1])
    account = SyncAccount()
    sources.source().vectors([B], sources.stored, account)
    assert (account.reused, account.embedded) == (0, 1)


def test_neither_table_nor_model_is_opened_for_nothing(sources: Sources) -> None:
    def never() -> MemoryTable:
        raise AssertionError

    def nobody() -> CountingEmbedder:
        raise AssertionError

    source = VectorSource(sources.embedder.identity, RECIPE, sources.cache, never, nobody)
    assert len(source.vectors([A], {}, SyncAccount())) == 1


def remote(embedder: CountingEmbedder, cache: EmbeddingCache, table: MemoryTable) -> VectorSource:
    """A source whose model is on a server."""
    identity = embedder.identity._replace(provider="voyage")
    return VectorSource(identity, RECIPE, cache, lambda: table, lambda: embedder)


def test_a_server_gets_texts_without_tokens_and_the_cache_knows_them_by_these(
    tmp_path: Path,
) -> None:
    """Another token in the same place is the same text, so nothing is sent a second time."""
    embedder, table = CountingEmbedder(DIMENSIONS), MemoryTable(DIMENSIONS)
    first, second = (
        EmbeddedText(text_hash(text), text) for text in (f"key = '{AWS}'", f"key = 'ASIA{AWS[4:]}'")
    )
    with EmbeddingCache(tmp_path, 1_000_000) as cache:
        account = SyncAccount()
        made = remote(embedder, cache, table).vectors([first], {}, account)
        assert embedder.documents == ["key = '[masked: AWS access key]'"]
        assert (account.embedded, account.masked.counts) == (1, {"AWS access key": 1})
        again = SyncAccount()
        known = remote(embedder, cache, table).vectors([second, first], {}, again)
        assert (again.cached, again.embedded, again.masked.counts) == (2, 0, {})
        assert known.tobytes() == made.tobytes() * 2
        assert cache.get(embedder.identity, RECIPE, [first.hash]) == {}


def test_the_account_has_the_lines_of_tokens_in_their_file(tmp_path: Path) -> None:
    embedder, table = CountingEmbedder(DIMENSIONS), MemoryTable(DIMENSIONS)
    source = f"def run():\n    return '{AWS}'\n"
    made = chunk(full_source=source, embedding_text=f"[Python] src/app.py\n{source}")
    account = SyncAccount()
    with EmbeddingCache(tmp_path, 1_000_000) as cache:
        text = EmbeddedText(text_hash(made.embedding_text), made.embedding_text, made)
        remote(embedder, cache, table).vectors([text], {}, account)
    assert account.masked.counts == {"AWS access key": 1}
    assert account.masked.places == {("src/app.py", 4)}


def test_a_model_of_this_process_reads_the_text_as_it_is(sources: Sources) -> None:
    text = EmbeddedText(text_hash(AWS), AWS)
    account = SyncAccount()
    sources.source().vectors([text], {}, account)
    assert sources.embedder.documents == [AWS]
    assert account.masked.counts == {}
