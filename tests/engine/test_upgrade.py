"""Making encoder vectors: one process at a time, at low priority, with truthful reports."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest

from asterism.config.model_sections import EmbeddingSettings
from asterism.engine import upgrade
from asterism.engine.doctor.models import upgrade_findings
from asterism.engine.engine import Engine
from asterism.engine.metrics import QueryCounter
from asterism.engine.status import UpgradeState
from asterism.engine.stores import DataDirectories
from asterism.engine.upgrade import Upgrader
from asterism.indexing.lock import upgrader
from asterism.indexing.report import Listener, Progress
from asterism.store.encoder_vectors import FILE_NAME, remove_encoder_vectors
from asterism.store.registry import Registered
from asterism.types.errors import IndexBusy, IndexMissing, SettingError, UsageError
from tests.engine.conftest import SETTINGS, make
from tests.models.weights.tiny_models import make_encoder

FILES = {name: f'def {name}(token):\n    """check token"""\n' for name in "abc"}
PATIENCE = 60


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrade, "LOOK_SECONDS", 0.02)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_encoder(tmp_path / "encoder")


@pytest.fixture
def engine(places: DataDirectories, folder: Path) -> Engine:
    settings = replace(SETTINGS, embedding=EmbeddingSettings(upgrade=str(folder)))
    return Engine(places, lambda _root: settings)


@pytest.fixture
def registered(engine: Engine, tmp_path: Path) -> Registered:
    found = engine.register(make(tmp_path / "shop", **FILES))
    engine.index(found)
    return found


def state_of(engine: Engine, registered: Registered) -> UpgradeState:
    found = engine.status(registered).upgrade
    assert found is not None
    return found


def until(true: Callable[[], bool]) -> bool:
    waiting = Event()
    return any(true() or waiting.wait(0.02) for _ in range(50 * PATIENCE))


def test_the_state_says_how_far_they_are_and_who_answers(
    engine: Engine, registered: Registered
) -> None:
    before = state_of(engine, registered)
    assert (before.chunks, before.total, before.complete, before.bytes) == (0, 3, False, 0)
    assert before.sentence.endswith(
        "has vectors of 0 of 3 chunks; the built-in model answers until then"
    )
    engine.upgrade(registered)
    after = state_of(engine, registered)
    assert (after.chunks, after.complete, after.pid) == (3, True, 0)
    assert after.sentence.endswith("has vectors of all 3 chunks, and answers")
    assert after.bytes > 0


def test_while_they_are_made_the_state_says_by_whom(engine: Engine, registered: Registered) -> None:
    seen: list[UpgradeState] = []

    def hear(_progress: Progress) -> None:
        seen.append(state_of(engine, registered))

    engine.upgrade(registered, Listener(hear))
    assert [state.pid for state in seen] == [os.getpid()] * len(seen)
    assert seen[0].sentence.endswith(f"(process {os.getpid()} makes them)")


def test_a_failure_is_reported_until_it_is_repaired(
    engine: Engine, registered: Registered, folder: Path
) -> None:
    weights = folder / "model.onnx"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1])
    with pytest.raises(Exception, match=r"model\.onnx has"):
        engine.upgrade(registered)
    told = state_of(engine, registered)
    assert "model.onnx has" in told.problem
    assert told.sentence.endswith("The built-in model answers")
    assert not told.complete
    weights.write_bytes(content)
    engine.upgrade(registered)
    assert state_of(engine, registered).complete


def test_weights_that_were_damaged_since_answer_nothing(
    engine: Engine, registered: Registered, folder: Path
) -> None:
    engine.upgrade(registered)
    weights = folder / "model.onnx"
    content = weights.read_bytes()
    weights.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    told = state_of(engine, registered)
    assert "model.onnx is not what it should be" in told.problem
    assert told.sentence.endswith("The built-in model answers")
    weights.write_bytes(content)
    assert state_of(engine, registered).complete


def test_one_process_makes_them_at_a_time(engine: Engine, registered: Registered) -> None:
    with (
        upgrader(registered.project.directory),
        pytest.raises(IndexBusy, match=f"process {os.getpid()}"),
    ):
        engine.upgrade(registered, wait_seconds=0)
    assert engine.upgrade(registered, wait_seconds=0).embedded == 3


def test_an_index_is_written_while_they_are_made(
    engine: Engine, registered: Registered, tmp_path: Path
) -> None:
    with upgrader(registered.project.directory):
        (tmp_path / "shop" / "d.py").write_text("def d(): ...\n")
        assert engine.index(registered, wait_seconds=0).added == 1


@pytest.mark.parametrize(
    ("embedding", "error", "said"),
    [
        (EmbeddingSettings(), UsageError, "set embedding.upgrade to"),
        (EmbeddingSettings(upgrade="encoder", provider="minilm"), UsageError, "provider to local"),
        (EmbeddingSettings(upgrade="/nowhere"), SettingError, "/nowhere, and there is no such"),
    ],
)
def test_without_a_model_it_is_said_what_to_set(
    places: DataDirectories,
    tmp_path: Path,
    embedding: EmbeddingSettings,
    error: type[Exception],
    said: str,
) -> None:
    engine = Engine(places, lambda _root: replace(SETTINGS, embedding=embedding))
    registered = engine.register(make(tmp_path / "shop", **FILES))
    with pytest.raises(error, match=said):
        engine.upgrade(registered)


def test_without_an_index_nothing_is_left_behind(engine: Engine, tmp_path: Path) -> None:
    registered = engine.register(make(tmp_path / "shop", **FILES))
    with pytest.raises(IndexMissing):
        engine.upgrade(registered)
    directory = registered.project.directory
    # What the repository is called is kept there from its registration on.
    assert [file.name for file in directory.iterdir()] == ["project.json"]


@pytest.mark.parametrize(
    ("embedding", "verdicts"),
    [
        (EmbeddingSettings(), []),
        (EmbeddingSettings(upgrade="encoder", provider="minilm"), ["warning"]),
        (EmbeddingSettings(upgrade="/nowhere"), ["problem"]),
    ],
)
def test_the_doctor_looks_at_the_model(embedding: EmbeddingSettings, verdicts: list[str]) -> None:
    found = upgrade_findings(replace(SETTINGS, embedding=embedding))
    assert [finding.verdict.value for finding in found] == verdicts


def test_the_doctor_runs_a_model_that_is_there(folder: Path) -> None:
    settings = replace(SETTINGS, embedding=EmbeddingSettings(upgrade=str(folder)))
    [finding] = upgrade_findings(settings)
    assert (finding.check, finding.verdict.value) == ("Encoder vectors", "ok")


def test_in_the_background_an_index_becomes_complete_and_stays_so(
    engine: Engine, registered: Registered, tmp_path: Path
) -> None:
    behind = Upgrader(engine)
    try:
        behind.attend(registered)
        behind.attend(registered)
        assert until(lambda: state_of(engine, registered).complete)
        (tmp_path / "shop" / "d.py").write_text("def d(file): ...\n")
        engine.index(registered)
        assert until(
            lambda: (
                state_of(engine, registered).complete and state_of(engine, registered).total == 4
            )
        )
    finally:
        behind.close()
    assert state_of(engine, registered).pid == 0


def test_in_the_background_vectors_that_went_are_made_again(
    engine: Engine, registered: Registered
) -> None:
    behind = Upgrader(engine)
    try:
        behind.attend(registered)
        assert until(lambda: state_of(engine, registered).complete)
        assert until(lambda: state_of(engine, registered).pid == 0)
        with upgrader(registered.project.directory, -1):
            remove_encoder_vectors(registered.project.directory)
        assert until(lambda: state_of(engine, registered).complete)
    finally:
        behind.close()


def test_in_the_background_settings_that_want_none_any_more_are_no_failure(
    places: DataDirectories, folder: Path, tmp_path: Path
) -> None:
    wanted = EmbeddingSettings(upgrade=str(folder))
    chosen = [replace(SETTINGS, embedding=wanted)]
    engine = Engine(places, lambda _root: chosen[-1])
    registered = engine.register(make(tmp_path / "shop", **FILES))
    engine.index(registered)
    told: list[str] = []
    behind = Upgrader(engine, told.append)
    try:
        behind.attend(registered)
        assert until(lambda: state_of(engine, registered).complete)
        chosen.append(SETTINGS)
        assert until(lambda: not behind._attended)
    finally:
        behind.close()
    assert told == []


def test_in_the_background_questions_go_first(engine: Engine, registered: Registered) -> None:
    behind = Upgrader(engine)
    try:
        with engine.questions.answering():
            behind.attend(registered)
            assert until((registered.project.directory / FILE_NAME).exists)
            assert state_of(engine, registered).chunks == 0
        assert until(lambda: state_of(engine, registered).complete)
    finally:
        behind.close()


def test_an_end_does_not_wait_for_questions(engine: Engine, registered: Registered) -> None:
    behind = Upgrader(engine)
    with engine.questions.answering():
        behind.attend(registered)
        assert until((registered.project.directory / FILE_NAME).exists)
        behind.close()
        assert state_of(engine, registered).pid == 0
    behind.attend(registered)
    assert not state_of(engine, registered).complete, "one that ended begins nothing"


def test_in_the_background_one_process_of_a_user_is_enough(
    engine: Engine, registered: Registered, places: DataDirectories
) -> None:
    behind = Upgrader(engine)
    places.cache.mkdir(parents=True, exist_ok=True)
    try:
        with upgrader(places.cache):
            behind.attend(registered)
            # It looks many times meanwhile.
            Event().wait(0.5)
            assert not (registered.project.directory / FILE_NAME).exists()
        assert until(lambda: state_of(engine, registered).complete)
    finally:
        behind.close()


def test_where_the_settings_want_none_no_thread_is_started(
    places: DataDirectories, tmp_path: Path
) -> None:
    engine = Engine(places, lambda _root: SETTINGS)
    behind = Upgrader(engine)
    behind.attend(engine.register(make(tmp_path / "shop", **FILES)))
    assert behind._thread is None
    behind.close()


def test_waiting_for_idle_ends_with_the_last_query() -> None:
    questions, stop = QueryCounter(), Event()
    done: list[str] = []

    def wait() -> None:
        questions.wait_for_none(stop)
        done.append("waited")

    with questions.answering():
        with questions.answering():
            thread = Thread(target=wait)
            thread.start()
        assert done == []
        done.append("answered")
    thread.join(PATIENCE)
    assert done == ["answered", "waited"]


def test_what_goes_wrong_in_the_background_is_told_once(
    engine: Engine, registered: Registered, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrade, "AGAIN_SECONDS", 0.02)
    weights = folder / "model.onnx"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1])
    told: list[str] = []
    behind = Upgrader(engine, told.append)
    try:
        behind.attend(registered)
        assert until(lambda: bool(told))
        # It is tried again and again meanwhile.
        Event().wait(0.5)
        assert len(told) == 1
        assert "model.onnx has" in told[0]
        weights.write_bytes(content)
        assert until(lambda: state_of(engine, registered).complete)
    finally:
        behind.close()
