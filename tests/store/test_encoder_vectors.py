"""Encoder vectors by text: kept, replaced for another model, dropped, begun anew if damaged."""

import sqlite3
from pathlib import Path

import pytest

from asterism.store.encoder_vectors import (
    FILE_NAME,
    EncoderStore,
    MadeFor,
    Making,
    encoder_bytes,
    look_deep_second,
    prune_encoder_vectors,
    remove_encoder_vectors,
)
from asterism.types.errors import IndexCorrupt, StorageFailed
from asterism.types.index import ModelIdentity
from tests.store.spoiling import spoil_vectors

OURS = MadeFor(ModelIdentity("encoder", "small", 4), 3)
OTHERS = [
    OURS._replace(recipe=4),
    MadeFor(ModelIdentity("encoder", "large", 4), 3),
    MadeFor(ModelIdentity("encoder", "small", 8), 3),
]
VECTORS = {bytes([number]) * 16: bytes([number]) * 8 for number in range(1, 6)}
FIRST = next(iter(VECTORS))


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    with EncoderStore.open(tmp_path, OURS) as store:
        store.put(VECTORS)
    return tmp_path


def held(directory: Path, made_for: MadeFor = OURS) -> set[bytes] | None:
    store = EncoderStore.existing(directory, made_for)
    if store is None:
        return None
    with store:
        return store.hashes()


def test_what_was_put_is_there_for_the_next_process(filled: Path) -> None:
    with EncoderStore.open(filled, OURS) as store:
        assert store.count() == len(VECTORS)
        assert store.hashes() == set(VECTORS)
        assert store.get([FIRST, b"unknown"]) == {FIRST: VECTORS[FIRST]}
        assert dict(row for rows in store.everything(at_once=2) for row in rows) == VECTORS


def test_a_vector_that_is_known_stays_as_it_is(filled: Path) -> None:
    with EncoderStore.open(filled, OURS) as store:
        store.put({FIRST: b"another one"})
        assert store.get([FIRST]) == {FIRST: VECTORS[FIRST]}


def test_there_is_no_store_before_the_first_upgrade(tmp_path: Path) -> None:
    assert EncoderStore.existing(tmp_path, OURS) is None
    assert encoder_bytes(tmp_path) == 0
    remove_encoder_vectors(tmp_path)
    prune_encoder_vectors(tmp_path, VECTORS)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_another_model_does_not_see_these_and_takes_the_file_over(
    filled: Path, other: MadeFor
) -> None:
    assert held(filled, other) is None
    assert held(filled) == set(VECTORS)
    EncoderStore.open(filled, other).close()
    assert held(filled, other) == set()
    assert held(filled) is None


def test_a_reader_keeps_its_state_when_another_model_takes_over(filled: Path) -> None:
    reader = EncoderStore.existing(filled, OURS)
    assert reader is not None
    with reader:
        with EncoderStore.open(filled, OTHERS[1]) as taken:
            taken.put({FIRST: b"of another model"})
        assert reader.get([FIRST]) == {FIRST: VECTORS[FIRST]}


def test_vectors_of_a_model_whose_file_was_taken_over_are_not_kept(filled: Path) -> None:
    late = EncoderStore.existing(filled, OURS, writable=True)
    assert late is not None
    with late:
        EncoderStore.open(filled, OTHERS[1]).close()
        late.put(VECTORS)
    assert held(filled, OTHERS[1]) == set()


def test_vectors_of_removed_texts_are_dropped_and_the_space_is_freed(tmp_path: Path) -> None:
    many = {number.to_bytes(16, "big"): bytes(800) for number in range(2_000)}
    kept = list(many)[:10]
    with EncoderStore.open(tmp_path, OURS) as store:
        store.put(many)
        assert store.keep_only(kept) == len(many) - len(kept)
        assert store.keep_only(kept) == 0
        assert store.hashes() == set(kept)
    assert encoder_bytes(tmp_path) < 200_000


def test_a_repository_is_removed_without_knowing_the_model(filled: Path) -> None:
    prune_encoder_vectors(filled, [FIRST])
    assert held(filled) == {FIRST}


def test_it_is_said_who_makes_them(filled: Path) -> None:
    with EncoderStore.open(filled, OURS) as store:
        assert store.making() == Making()
        store.note(Making(pid=7))
        assert store.making() == Making(pid=7)
        store.note(Making(failure="It broke."))
        assert store.making() == Making(failure="It broke.")


@pytest.mark.parametrize(
    "content", [b"", b"no database at all", b"SQLite format 3\x00" + bytes(90)]
)
def test_a_damaged_file_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(IndexCorrupt):
        EncoderStore.existing(tmp_path, OURS)
    with EncoderStore.open(tmp_path, OURS) as store:
        store.put(VECTORS)
    assert held(tmp_path) == set(VECTORS)


def test_damage_inside_is_found_by_the_next_upgrade(filled: Path) -> None:
    spoil_vectors(filled / FILE_NAME)
    assert held(filled) == set(VECTORS), "the list of texts does not show it"
    with EncoderStore.open(filled, OURS) as store:
        assert store.hashes() == set()
        store.put(VECTORS)
    assert held(filled) == set(VECTORS)


def test_a_file_that_cannot_be_made_smaller_stays_as_large_as_it_is(tmp_path: Path) -> None:
    many = {number.to_bytes(16, "big"): bytes(800) for number in range(2_000)}
    with EncoderStore.open(tmp_path, OURS) as store:
        store.put(many)
        other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
        store._database.one("PRAGMA busy_timeout = 1")
        # Another process begins to write after the vectors were dropped.
        store._database._connection.set_trace_callback(
            lambda sql: other.execute("BEGIN IMMEDIATE") if sql == "VACUUM" else None
        )
        assert store.keep_only(()) == len(many)
        assert other.in_transaction
        other.close()
        assert store.hashes() == set()


def test_a_bit_of_a_vector_that_is_another_one(filled: Path) -> None:
    change(filled, "UPDATE vectors SET vector = zeroblob(length(vector)) WHERE id = 1")
    store = EncoderStore.existing(filled, OURS)
    assert store is not None
    with store, pytest.raises(IndexCorrupt, match="not what was written"):
        store.get(list(VECTORS))
    with pytest.raises(IndexCorrupt, match="not what was written"):
        look_deep_second(filled)


def test_a_file_of_version_1_is_read_and_gets_checksums(filled: Path) -> None:
    change(filled, "ALTER TABLE vectors DROP COLUMN sum", "PRAGMA user_version = 1")
    store = EncoderStore.existing(filled, OURS)
    assert store is not None
    with store:
        assert store.get(list(VECTORS)) == VECTORS
    with EncoderStore.open(filled, OURS) as store:
        store.put({b"n" * 16: b"new"})
        assert store.get([*VECTORS, b"n" * 16]) == {**VECTORS, b"n" * 16: b"new"}
    change(
        filled, "UPDATE vectors SET vector = x'00' WHERE hash = CAST('nnnnnnnnnnnnnnnn' AS BLOB)"
    )
    with EncoderStore.open(filled, OURS) as store, pytest.raises(IndexCorrupt):
        store.get([b"n" * 16])


def change(directory: Path, *statements: str) -> None:
    connection = sqlite3.connect(directory / FILE_NAME, isolation_level=None)
    for statement in statements:
        assert connection.execute(statement).rowcount
    connection.close()


@pytest.mark.parametrize("content", [b"no database at all", b"SQLite format 3\x00" + bytes(90)])
def test_what_is_damaged_is_pruned_whole(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    prune_encoder_vectors(tmp_path, VECTORS)
    assert not (tmp_path / FILE_NAME).exists()


def test_a_file_of_another_format_is_begun_anew(filled: Path) -> None:
    connection = sqlite3.connect(filled / FILE_NAME)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert held(filled) is None
    EncoderStore.open(filled, OURS).close()
    assert held(filled) == set()


def test_a_full_disk_is_said(filled: Path) -> None:
    with EncoderStore.open(filled, OURS) as store:
        pages = store._pragma("page_count")
        store._database.one(f"PRAGMA max_page_count = {pages}")
        many = {number.to_bytes(16, "big"): bytes(8_000) for number in range(200)}
        with pytest.raises(StorageFailed, match="the disk is full"):
            store.put(many)
        assert store.hashes() == set(VECTORS)
