"""Queries over encoder vectors: used when complete, never mixed, never blocking."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from asterism.analysis.chunks.units import RECIPE_VERSION
from asterism.config.model_sections import EmbeddingSettings
from asterism.engine.chat.sources import nearest
from asterism.engine.encoder_vectors import FILL_TEXTS
from asterism.engine.engine import Engine
from asterism.engine.search import SearchReply, SearchRequest
from asterism.engine.stores import DataDirectories
from asterism.indexing.lock import upgrader
from asterism.models.embed.encoder import EncoderEmbedder
from asterism.models.embed.options import STATIC_IDENTITY, EmbedOptions, identity_of
from asterism.store.encoder_vectors import FILE_NAME, EncoderStore, MadeFor, Making
from asterism.store.registry import Registered
from asterism.types.search import Filter, Mode
from tests.engine.conftest import SETTINGS, make
from tests.faults.damage import DAMAGES, NOTHING_EARLIER
from tests.models.weights.tiny_models import make_encoder, rewrite
from tests.store.spoiling import spoil_vectors

FILES = {
    "tokens": 'def check(token):\n    """check token"""\n    return token.ok\n',
    "cart": 'def checkout(cart):\n    """pay cart"""\n    return cart.total()\n',
    "prices": 'def total(price):\n    """read price"""\n    return price\n',
}
MANY = "".join(f"def read_{number}(file):\n    return file[{number}]\n\n\n" for number in range(90))


@dataclass
class Shop:
    """A small repository, an engine that can be made anew, and a model for encoder vectors."""

    places: DataDirectories
    root: Path
    folder: Path

    def __post_init__(self) -> None:
        self.embedding = EmbeddingSettings(upgrade=str(self.folder))
        self.restart()
        self.registered = self.engine.register(self.root)
        self.engine.index(self.registered)

    def restart(self) -> None:
        self.engine = Engine(self.places, lambda _root: replace(SETTINGS, embedding=self.embedding))

    def ask(self, text: str = "check token", **more: object) -> SearchReply:
        request = SearchRequest(text=text, **more)  # type: ignore[arg-type]
        return self.engine.search(self.registered, request)

    def answers(self, **more: object) -> str:
        """The provider of the vectors that an answer compares."""
        whose = self.ask("check token", **more).vectors_of
        assert whose is not None
        return whose.provider

    def second_file(self) -> Path:
        return self.registered.project.directory / FILE_NAME


@pytest.fixture
def shop(places: DataDirectories, tmp_path: Path) -> Shop:
    return Shop(places, make(tmp_path / "shop", **FILES), make_encoder(tmp_path / "encoder"))


def test_the_built_in_model_answers_until_encoder_vectors_are_complete(shop: Shop) -> None:
    assert shop.ask().vectors_of == STATIC_IDENTITY
    assert not shop.second_file().exists(), "a question makes none"
    shop.engine.upgrade(shop.registered)
    assert shop.answers() == "encoder"
    shop.restart()
    assert shop.answers() == "encoder"


@pytest.mark.parametrize("mode", [Mode.hybrid, Mode.semantic])
def test_distances_are_those_of_the_second_model(shop: Shop, mode: Mode) -> None:
    shop.engine.upgrade(shop.registered)
    reply = shop.ask(mode=mode)
    embedder = EncoderEmbedder(EmbedOptions("encoder", str(shop.folder)))
    [asked] = embedder.embed_queries(["check token"])
    for kept in reply.selection.kept:
        [text] = embedder.embed_documents([kept.hit.chunk.embedding_text])
        expected = 2 - 2 * float(np.dot(asked, text))
        [distance] = [one.value for one in kept.hit.why if one.name == "vector"]
        assert distance == pytest.approx(expected, abs=1e-5) or kept.hit.distance == pytest.approx(
            expected, abs=1e-5
        )


def test_code_like_other_code_is_found_without_loading_a_model(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.engine.upgrade(shop.registered)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    reply = shop.engine.similar(shop.registered, SearchRequest(), shop.root / "cart.py", (1, None))
    assert reply.vectors_of is not None
    assert reply.vectors_of.provider == "encoder"
    assert reply.notes == ()


def test_after_an_edit_the_question_makes_the_few_that_are_missing(shop: Shop) -> None:
    shop.engine.upgrade(shop.registered)
    (shop.root / "cart.py").write_text('def empty(cart):\n    """file"""\n    cart.clear()\n')
    assert shop.answers() == "encoder"
    state = shop.engine.status(shop.registered).upgrade
    assert state is not None
    assert state.complete, "they are kept for the next query"
    assert shop.engine.upgrade(shop.registered).embedded == 0


def test_a_query_does_not_make_vectors_of_a_running_upgrade(shop: Shop) -> None:
    shop.engine.upgrade(shop.registered)
    made_for = MadeFor(identity_of(EmbedOptions("encoder", str(shop.folder))), RECIPE_VERSION)
    (shop.root / "cart.py").write_text('def empty(cart):\n    """file"""\n    cart.clear()\n')
    with EncoderStore.open(shop.registered.project.directory, made_for) as store:
        store.note(Making(pid=os.getpid()))
    assert shop.answers() == "local"
    with EncoderStore.open(shop.registered.project.directory, made_for) as store:
        store.note(Making())
    assert shop.answers() == "encoder"


def test_after_a_large_edit_the_built_in_model_answers_until_they_are_made(shop: Shop) -> None:
    shop.engine.upgrade(shop.registered)
    (shop.root / "many.py").write_text(MANY)
    assert MANY.count("def ") > FILL_TEXTS
    assert [shop.answers(), shop.answers()] == ["local", "local"]
    shop.engine.upgrade(shop.registered)
    assert shop.answers() == "encoder"
    (shop.root / "many.py").unlink()
    assert shop.answers() == "encoder"


def test_what_the_cache_has_need_not_be_made(shop: Shop) -> None:
    (shop.root / "many.py").write_text(MANY)
    shop.engine.index(shop.registered)
    shop.engine.upgrade(shop.registered)
    (shop.root / "many.py").unlink()
    shop.engine.index(shop.registered)
    assert shop.engine.upgrade(shop.registered).dropped > FILL_TEXTS
    (shop.root / "many.py").write_text(MANY)
    assert shop.answers() == "encoder"


def test_of_a_project_the_repositories_that_are_asked_about_count(
    shop: Shop, tmp_path: Path
) -> None:
    shop.engine.upgrade(shop.registered)
    project = shop.registered.project.id
    other = shop.engine.register(make(tmp_path / "other"), project=project)
    (tmp_path / "other" / "many.py").write_text(MANY)
    shop.engine.index(other)
    assert shop.answers() == "encoder"
    both = Filter(repos=("shop", "other"))
    assert shop.answers(where=both) == "local"
    shop.engine.upgrade(shop.registered)
    assert shop.answers(where=both) == "encoder"
    shop.engine.remove(other)
    state = shop.engine.status(shop.registered).upgrade
    assert state is not None
    assert state.complete
    assert shop.engine.upgrade(shop.registered).dropped == 0, "they went with the repository"


def test_another_model_begins_anew(shop: Shop, tmp_path: Path) -> None:
    shop.engine.upgrade(shop.registered)
    changed = make_encoder(tmp_path / "changed", name="changed")
    shop.embedding = replace(shop.embedding, upgrade=str(changed))
    assert shop.answers() == "local"
    assert shop.engine.upgrade(shop.registered).embedded == len(FILES)
    assert shop.answers() == "encoder"


@pytest.mark.parametrize(
    "embedding",
    [
        EmbeddingSettings(),
        EmbeddingSettings(provider="encoder", upgrade="encoder"),
    ],
    ids=["none", "not beside local"],
)
def test_settings_can_switch_encoder_vectors_off(shop: Shop, embedding: EmbeddingSettings) -> None:
    shop.engine.upgrade(shop.registered)
    if embedding.provider == "encoder":
        embedding = replace(embedding, model=str(shop.folder))
    shop.embedding = embedding
    shop.engine.index(shop.registered)
    assert shop.answers() == embedding.provider
    assert shop.engine.status(shop.registered).upgrade is None


def _remove(shop: Shop) -> None:
    for file in shop.folder.iterdir():
        file.unlink()
    shop.folder.rmdir()


def _undescribe(shop: Shop) -> None:
    (shop.folder / "model.json").write_text("{")


def _damage(shop: Shop) -> None:
    weights = shop.folder / "model.onnx"
    weights.write_bytes(weights.read_bytes()[:-1])
    rewrite(shop.folder, note="a process that has loaded it before reads it anew")


def _misweigh(shop: Shop) -> None:
    rewrite(shop.folder, ranking={"vectors.unheard": 1.0})


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (_remove, "there is no such model"),
        (_undescribe, "model.json cannot be read"),
        (_damage, "model.onnx has"),
        (_misweigh, "sets vectors.unheard"),
    ],
)
@pytest.mark.parametrize("mode", [Mode.hybrid, Mode.semantic])
def test_without_the_model_the_built_in_one_answers_and_it_is_said_once(
    shop: Shop, harm: Callable[[Shop], None], said: str, mode: Mode
) -> None:
    shop.engine.upgrade(shop.registered)
    harm(shop)
    shop.restart()
    reply = shop.ask(mode=mode)
    assert reply.vectors_of == STATIC_IDENTITY
    [note] = reply.notes
    assert note.startswith("Answered by the built-in model alone, without embedding.upgrade: ")
    assert said in note
    assert shop.ask("pay cart", mode=mode).notes == ()


def test_without_the_library_the_same(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.engine.upgrade(shop.registered)
    rewrite(shop.folder, name="not loaded before")
    shop.engine.upgrade(shop.registered)
    shop.restart()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    rewrite(shop.folder, note="read anew")
    reply = shop.ask()
    assert reply.vectors_of == STATIC_IDENTITY
    assert all("needs onnxruntime" in note for note in reply.notes)
    assert reply.notes


@pytest.mark.parametrize("content", [b"", b"nothing of ours"])
def test_queries_are_answered_despite_damaged_encoder_vectors(shop: Shop, content: bytes) -> None:
    shop.engine.upgrade(shop.registered)
    shop.restart()
    for file in shop.second_file().parent.glob(f"{FILE_NAME}*"):
        file.unlink()
    shop.second_file().write_bytes(content)
    told = shop.engine.status(shop.registered).upgrade
    assert told is not None
    assert told.sentence.endswith("are damaged, and are made anew. The built-in model answers")
    reply = shop.ask()
    assert (reply.vectors_of, reply.notes) == (STATIC_IDENTITY, ())
    shop.engine.upgrade(shop.registered)
    assert shop.answers() == "encoder"


def test_a_query_that_finds_damage_removes_the_file(shop: Shop) -> None:
    """The texts are still listed, so a look for missing ones would find no gap."""
    shop.engine.upgrade(shop.registered)
    shop.restart()
    spoil_vectors(shop.second_file())
    assert shop.answers() == "local"
    assert not shop.second_file().exists()
    assert shop.engine.upgrade(shop.registered).texts == len(FILES)
    assert shop.answers() == "encoder"


# Another file of that kind beside it is the catalogue, and there is nothing older.
@pytest.mark.parametrize("damage", sorted({*DAMAGES} - {"swapped", "older"}))
def test_damaged_encoder_vectors_change_no_answer(shop: Shop, damage: str) -> None:
    """An answer is that of either model, to the last digit; an upgrade repairs the file."""

    def told() -> tuple[str, list[tuple[str, float]]]:
        reply = shop.ask()
        assert reply.vectors_of is not None
        hits = [(kept.hit.chunk.id, kept.hit.score) for kept in reply.selection.kept]
        return reply.vectors_of.provider, hits

    first = told()
    shop.engine.upgrade(shop.registered)
    second = told()
    assert (first[0], second[0]) == ("local", "encoder")
    shop.restart()
    if not DAMAGES[damage](shop.second_file(), NOTHING_EARLIER):
        pytest.skip("it makes no difference here")
    assert told() in (first, second)
    shop.restart()
    shop.engine.upgrade(shop.registered)
    assert told() == second


def test_while_they_are_made_a_question_leaves_damage_to_the_maker(shop: Shop) -> None:
    shop.engine.upgrade(shop.registered)
    shop.restart()
    spoil_vectors(shop.second_file())
    with upgrader(shop.registered.project.directory):
        assert shop.answers() == "local"
        assert shop.second_file().exists()


def test_the_ranking_is_weighed_for_the_model(shop: Shop) -> None:
    shop.engine.upgrade(shop.registered)
    rewrite(shop.folder, ranking={"vectors.symbols.unread.offset": -30.0})
    shop.restart()
    assert max(kept.hit.score for kept in shop.ask().selection.kept) < 0.01
    shop.embedding = replace(shop.embedding, upgrade="none")
    assert max(kept.hit.score for kept in shop.ask().selection.kept) > 0.01


def test_a_chat_is_cut_off_at_the_distance_that_the_model_names(shop: Shop) -> None:
    shop.engine.upgrade(shop.registered)

    def far() -> set[bool]:
        found = nearest(shop.engine, shop.registered, "check token", 10)
        return {kept.below_threshold for kept in found.selection.kept}

    assert far() == {False}
    rewrite(shop.folder, ranking={"vectors.distance_cutoff": 0.0})
    shop.restart()
    assert far() == {True}
    shop.embedding = replace(shop.embedding, upgrade="none")
    assert far() == {False}, "its own number says nothing of the built-in model's distances"


def test_removing_and_forcing_leave_nothing_behind(shop: Shop, places: DataDirectories) -> None:
    shop.engine.upgrade(shop.registered)
    registered: Registered = shop.registered
    shop.engine.remove(registered)
    assert not registered.project.directory.exists()


def test_cleaning_removes_what_no_setting_asks_for(shop: Shop) -> None:
    shop.engine.upgrade(shop.registered)
    assert [one.path.name for one in shop.engine.clean().removals] == []
    shop.embedding = EmbeddingSettings()
    dry = shop.engine.clean(dry_run=True)
    assert [one.path for one in dry.removals] == [shop.second_file()]
    assert shop.second_file().exists()
    assert [one.path for one in shop.engine.clean().removals] == [shop.second_file()]
    assert not shop.second_file().exists()
