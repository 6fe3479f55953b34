"""Indexing through the façade: cache, models, projects, and every kind of staleness."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest

from asterism.config.model_sections import EmbeddingSettings
from asterism.config.sections import ChunkSettings, IndexSettings, MaskingSettings
from asterism.config.settings import Settings
from asterism.engine.engine import Engine
from asterism.engine.stores import DataDirectories
from asterism.indexing.lock import writer
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.lance.table import LanceTable
from asterism.store.registry import Registered
from asterism.types.errors import IndexMissing, IndexTooNew, ProviderRefused
from asterism.types.index import Chunk, Role, Staleness, SymbolQuery
from asterism.types.search import Filter
from tests.disclosure.examples import AWS
from tests.engine.conftest import SETTINGS, make
from tests.models.http.misbehaving_server import MisbehavingServer, Reply, serving
from tests.store.spoiling import change_catalogue

ONE = "def one():\n    return 1\n"
TWO = "from one import one\n\n\ndef two():\n    return one() + one()\n"


MASKED = "1 token was masked in what was sent to the embedding server"


class Choice:
    """Settings that a test changes between two calls."""

    def __init__(self) -> None:
        self.settings: Settings = SETTINGS

    def __call__(self, _root: str) -> Settings:
        return self.settings


@pytest.fixture
def choice() -> Choice:
    return Choice()


@pytest.fixture
def here(places: DataDirectories, choice: Choice) -> Engine:
    return Engine(places, choice)


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    with serving() as running:
        yield running


def shop(tmp_path: Path) -> Path:
    return make(tmp_path / "shop", one=ONE, two=TWO)


def chunks(registered: Registered, where: Filter | None = None) -> list[Chunk]:
    """What a reader of the committed version sees."""
    directory = registered.project.directory
    with Catalogue.open(directory) as catalogue:
        version, name = catalogue.chunks_version(), catalogue.table.name
    return list(LanceTable.open(directory, name=name).snapshot(version).scan(where or Filter()))


def test_a_second_worktree_embeds_nothing(here: Engine, tmp_path: Path) -> None:
    root = shop(tmp_path)
    for command in (
        ["init", "-q", "-b", "main"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "first"],
        ["worktree", "add", "-q", "../second", "-b", "other"],
    ):
        subprocess.run(["git", *command], cwd=root, check=True)
    first = here.index(here.register(root))
    second = here.index(here.register(tmp_path / "second"))
    assert (first.embedded, first.cached) == (3, 0)
    assert (second.embedded, second.cached) == (0, 3)
    assert second.files == first.files == 2


def test_another_model_embeds_every_text_once_and_reads_no_file(
    here: Engine, choice: Choice, tmp_path: Path, server: MisbehavingServer
) -> None:
    registered = here.register(shop(tmp_path))
    here.index(registered)
    before = chunks(registered)
    chosen = EmbeddingSettings(provider="openai", model="own", url=server.url, dimensions=8)
    choice.settings = replace(SETTINGS, embedding=chosen)
    stale = here.status(registered).verdict
    assert stale.staleness is Staleness.model
    assert "local/asterism-static-2" in stale.message
    assert "openai/own, 8 dimensions" in stale.message
    report = here.index(registered)
    assert report.parsed == 0
    assert sorted(server.texts) == sorted(chunk.embedding_text for chunk in before)
    assert chunks(registered) == before
    assert here.status(registered).verdict.staleness is Staleness.equal
    # Back again costs nothing: the cache has the vectors of the first model.
    choice.settings = SETTINGS
    here.index(registered)
    assert len(server.texts) == len(before)
    assert here.status(registered).verdict.staleness is Staleness.equal


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("counts", "(1 AWS access key); `asterism files --tokens` shows where they are."),
        ("places", "(1 AWS access key): keys.py:2."),
        ("none", None),
    ],
)
@pytest.mark.parametrize("is_first", [True, False], ids=["first", "another model"])
def test_the_report_and_the_record_say_what_was_masked(
    here: Engine,
    choice: Choice,
    tmp_path: Path,
    server: MisbehavingServer,
    report: str,
    said: str | None,
    is_first: bool,
) -> None:
    root = make(tmp_path / "keys", keys=f"def connect():\n    return '{AWS}'\n")
    registered = here.register(root)
    if not is_first:
        here.index(registered)
    chosen = EmbeddingSettings(provider="openai", model="own", url=server.url, dimensions=8)
    masking = MaskingSettings(report=report)
    choice.settings = replace(SETTINGS, embedding=chosen, masking=masking)
    done = here.index(registered)
    notes = () if said is None else (f"{MASKED} {said}",)
    assert (done.masked, done.warnings) == (notes, notes)
    job = here.status(registered).job
    assert job is not None
    assert job.sentence.partition(f" {MASKED} ")[2] == (said or "")
    assert here.index(registered).masked == ()


def test_a_model_that_fails_leaves_the_old_vectors(
    here: Engine, choice: Choice, tmp_path: Path, server: MisbehavingServer
) -> None:
    registered = here.register(shop(tmp_path))
    here.index(registered)
    before = chunks(registered)
    server.script = [lambda _request: Reply(401)]
    chosen = EmbeddingSettings(provider="openai", model="own", url=server.url, dimensions=8)
    choice.settings = replace(SETTINGS, embedding=chosen)
    with pytest.raises(ProviderRefused):
        here.index(registered)
    assert chunks(registered) == before
    assert here.refresh(registered).message.startswith("The vectors are of local/")
    choice.settings = SETTINGS
    assert here.index(registered).did_something is False
    assert chunks(registered) == before


Damage = Callable[[Path], None]


def no_chunks(directory: Path) -> None:
    shutil.rmtree(directory / "chunks.lance")


def no_catalogue(directory: Path) -> None:
    (directory / "catalogue.sqlite").write_bytes(b"no database" * 100)


def schema(version: int) -> Damage:
    def change(directory: Path) -> None:
        change_catalogue(
            directory,
            f"PRAGMA user_version = {version}",
            f"UPDATE facts SET value = {version} WHERE key = 'schema_version'",
        )

    return change


@pytest.mark.parametrize(
    ("damage", "staleness", "says", "error"),
    [
        (no_chunks, Staleness.corrupt, "lost its chunks", None),
        (no_catalogue, Staleness.corrupt, "damaged", None),
        (schema(99), Staleness.schema, "upgrade Asterism", IndexTooNew),
    ],
    ids=["no chunks", "no catalogue", "newer"],
)
def test_an_unusable_index_is_reported_and_rebuilt_on_request(
    here: Engine,
    tmp_path: Path,
    damage: Damage,
    staleness: Staleness,
    says: str,
    error: type[Exception] | None,
) -> None:
    registered = here.register(shop(tmp_path))
    here.index(registered)
    before = chunks(registered)
    damage(registered.project.directory)
    found = here.status(registered).verdict
    assert found.staleness is staleness
    assert says in found.message
    if error is not None:
        with pytest.raises(error, match="asterism index --force"):
            here.index(registered)
    report = here.index(registered, force=error is not None)
    assert (report.embedded, report.rebuilt) == (0, True)
    assert len(report.warnings) == (error is None)
    assert chunks(registered) == before
    assert here.status(registered).verdict.staleness is Staleness.equal


def test_an_older_schema_can_be_read_and_is_brought_up_to_date(
    here: Engine, tmp_path: Path
) -> None:
    registered = here.register(shop(tmp_path))
    here.index(registered)
    schema(0)(registered.project.directory)
    found = here.status(registered).verdict
    assert found.staleness is Staleness.schema
    assert "reindex needed" in found.message
    assert here.refresh(registered).message == found.message
    assert here.symbols(registered, SymbolQuery("one")).total > 0
    here.index(registered)
    assert here.status(registered).verdict.staleness is Staleness.equal


def test_missing_options_content_and_equal(here: Engine, choice: Choice, tmp_path: Path) -> None:
    registered = here.register(shop(tmp_path))
    assert here.status(registered).verdict.staleness is Staleness.missing
    with pytest.raises(IndexMissing):
        here.refresh(registered)
    here.index(registered)
    assert here.status(registered).verdict.staleness is Staleness.equal
    (tmp_path / "shop" / "three.py").write_text("def three():\n    return 3\n")
    found = here.status(registered).verdict
    assert (found.staleness, found.behind) == (Staleness.content, 1)
    assert found.message == "1 file is behind (1 new); run `asterism index`."
    choice.settings = replace(SETTINGS, chunks=ChunkSettings(max_tokens=1_000))
    assert here.status(registered).verdict.staleness is Staleness.options


def test_a_question_does_not_wait_for_a_long_job(
    here: Engine, choice: Choice, tmp_path: Path
) -> None:
    registered = here.register(shop(tmp_path))
    here.index(registered)
    (tmp_path / "shop" / "three.py").write_text("def three():\n    return 3\n")
    directory = registered.project.directory
    with writer(directory):
        choice.settings = replace(SETTINGS, index=IndexSettings(sync_seconds=3600))
        # It began before the time a question has: its end may be far.
        os.utime(directory / "writer.pid", (0, 0))
        assert here.refresh(registered).behind == 1
    choice.settings = replace(SETTINGS, index=IndexSettings(sync_seconds=0.0))
    assert here.refresh(registered).behind == 1
    choice.settings = SETTINGS
    assert here.refresh(registered).behind == 0
    assert here.symbols(registered, SymbolQuery("three")).counts[Role.DEFINITION] == 1


def test_a_question_waits_for_who_has_just_begun(
    here: Engine, choice: Choice, tmp_path: Path
) -> None:
    registered = here.register(shop(tmp_path))
    here.index(registered)
    (tmp_path / "shop" / "three.py").write_text("def three():\n    return 3\n")
    choice.settings = replace(SETTINGS, index=IndexSettings(sync_seconds=600))
    held, asking = Event(), Event()

    def write() -> None:
        with writer(registered.project.directory):
            held.set()
            asking.wait()
            time.sleep(0.2)

    thread = Thread(target=write)
    thread.start()
    held.wait()
    asking.set()
    assert here.refresh(registered).behind == 0
    thread.join()


def test_repositories_of_a_project_share_an_index_and_nothing_else(
    here: Engine, tmp_path: Path
) -> None:
    web = here.register(make(tmp_path / "web", one=ONE), project="shop")
    api = here.register(make(tmp_path / "api", one=ONE, two=TWO), project="shop")
    other = here.register(make(tmp_path / "other", one=ONE))
    for registered in (web, api, other):
        here.index(registered)
    assert web.project.directory == api.project.directory != other.project.directory
    assert {chunk.repo for chunk in chunks(web)} == {"web", "api"}
    assert len(chunks(web, Filter(repos=("web",)))) == 1
    assert here.symbols(web, SymbolQuery("two")).total == 0
    assert here.symbols(api, SymbolQuery("two")).total > 0
    assert {chunk.repo for chunk in chunks(other)} == {"other"}
    here.remove(api)
    assert {chunk.repo for chunk in chunks(web)} == {"web"}
    assert here.index(web).did_something is False
    here.remove(web)
    assert not web.project.directory.exists()
    assert (tmp_path / "web" / "one.py").exists()


def test_a_damaged_project_is_built_again_with_all_repositories(
    here: Engine, tmp_path: Path
) -> None:
    web = here.register(make(tmp_path / "web", one=ONE), project="shop")
    api = here.register(make(tmp_path / "api", one=ONE), project="shop")
    here.index(web)
    here.index(api)
    before = chunks(web)
    no_catalogue(web.project.directory)
    assert here.index(web).rebuilt
    assert chunks(web) == before
    shutil.rmtree(tmp_path / "api")
    report = here.index(web, force=True)
    assert report.warnings == ("Not indexed again, because their directories are gone: api.",)
    assert {chunk.repo for chunk in chunks(web)} == {"web"}


def test_a_repository_that_moved_keeps_its_index(here: Engine, tmp_path: Path) -> None:
    registered = here.register(shop(tmp_path))
    here.index(registered)
    (tmp_path / "shop").rename(tmp_path / "store")
    gone = here.status(registered).verdict
    assert gone.staleness is Staleness.missing
    assert "is gone" in gone.message
    moved = here.register(tmp_path / "store")
    assert moved.repository.id == registered.repository.id
    report = here.index(moved)
    # Read again, because rows say where their files are; every vector is known.
    assert (report.parsed, report.embedded) == (2, 0)
    assert {Path(chunk.file_path).parent for chunk in chunks(moved)} == {tmp_path / "store"}
    assert here.index(moved).parsed == 0


def test_nothing_to_do_loads_nothing_heavy(
    here: Engine, places: DataDirectories, tmp_path: Path
) -> None:
    here.index(here.register(shop(tmp_path)))
    script = (
        "import sys; from asterism.cli.main import main; code = main(['index', sys.argv[1]]);"
        "print(code, [name for name in ('numpy', 'lance', 'pyarrow', 'rich') "
        "if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "shop")],
        env={"ASTERISM_DATA_DIR": str(places.data), "ASTERISM_CACHE_DIR": str(places.cache)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert "Nothing to do" in done.stdout
    assert done.stdout.splitlines()[-1] == "0 []"


def test_a_dry_run_writes_nothing(here: Engine, tmp_path: Path) -> None:
    registered = here.register(shop(tmp_path))
    report = here.preview(registered)
    assert (report.added, report.dry_run) == (2, True)
    assert report.sentence == "2 files would be indexed; nothing was written."
    assert not (registered.project.directory / "catalogue.sqlite").exists()
    here.index(registered)
    assert here.preview(registered).sentence.startswith("Nothing would be done")
    (tmp_path / "shop" / "one.py").write_text("def one():\n    return 11\n")
    assert here.preview(registered).changed == 1
    assert here.preview(registered, force=True).changed == 2
