"""The state of an index and of its encoder vectors, without loading a model."""

import os
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from asterism.analysis.chunks.units import RECIPE_VERSION
from asterism.config.load import upgrade_options
from asterism.config.settings import Settings
from asterism.engine.stores import damage_of, model_identity, sync_options, table_bytes
from asterism.indexing.plan import IndexVerdict, first_build, index_verdict, is_alive, is_unfinished
from asterism.indexing.watcher import WatchState, load_watch
from asterism.models.embed.options import EmbedOptions, encoder_folder, identity_of
from asterism.models.weights.folder import check, read_folder
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.chunk_table import LIMITS
from asterism.store.encoder_vectors import EncoderStore, MadeFor, Making, encoder_bytes
from asterism.store.registry import Project, Registered, Registry, RepositoryState
from asterism.store.replacement import BUILDING
from asterism.types.errors import (
    IndexCorrupt,
    IndexMissing,
    IndexTooNew,
    ProviderError,
    SettingError,
    StorageFailed,
    StoreError,
    UsageError,
)
from asterism.types.files import display_path
from asterism.types.index import Job, Manifest, Staleness, Statistics
from asterism.types.index_states import not_indexed
from asterism.types.processes import process_exists


class UpgradeState(NamedTuple):
    """The encoder vectors of one repository."""

    model: str
    """As messages call it; what the setting says, where that is no model."""
    chunks: int = 0
    """Chunks that have one."""
    total: int = 0
    pid: int = 0
    """The process that makes them, 0 where none does."""
    problem: str = ""
    """Why they are not made, or not used."""
    bytes: int = 0

    @property
    def complete(self) -> bool:
        """Whether they are what answers."""
        return not self.problem and self.chunks == self.total

    @property
    def sentence(self) -> str:
        """How far they are, and who answers."""
        if self.problem:
            return f"{self.problem} The built-in model answers"
        if self.complete:
            return f"{self.model} has vectors of all {self.total:,} chunks, and answers"
        how_far = f"{self.model} has vectors of {self.chunks:,} of {self.total:,} chunks"
        who = f" (process {self.pid} makes them)" if self.pid else ""
        return f"{how_far}; the built-in model answers until then{who}"


def made_for(options: EmbedOptions) -> MadeFor:
    """What tells vectors of this model from others; an error says what is wrong with the setting.

    Nothing is read but the description in its folder.
    """
    folder = encoder_folder(options)
    if not folder.is_dir():
        raise SettingError(
            f"embedding.upgrade names {display_path(options.model or 'encoder')}, and there is no "
            "such model. Set it to the path of a folder with a model.json, or to none."
        )
    return MadeFor(identity_of(options), RECIPE_VERSION)


def wanted_upgrade(settings: Settings) -> tuple[EmbedOptions, MadeFor]:
    """The model for encoder vectors; an error if it is not set or missing."""
    options = upgrade_options(settings)
    if options is None:
        raise UsageError(
            "No model for encoder vectors is set: set embedding.upgrade to encoder or to a folder "
            "with a model, and embedding.provider to local."
        )
    return options, made_for(options)


def upgrade_state(
    catalogue: Catalogue, registered: Registered, settings: Settings
) -> UpgradeState | None:
    """The state of a repository's encoder vectors; None if the settings switch them off."""
    options = upgrade_options(settings)
    if options is None:
        return None
    directory = registered.project.directory
    hashes = catalogue.text_hashes(registered.repository.name)
    state = UpgradeState(
        settings.embedding.upgrade, total=len(hashes), bytes=encoder_bytes(directory)
    )
    try:
        wanted = made_for(options)
        check(read_folder(encoder_folder(options), "encoder"))
    except (SettingError, ProviderError) as error:
        return state._replace(problem=str(error))
    state = state._replace(model=wanted.model.model)
    most = LIMITS.exact_rows(wanted.model.dimensions)
    if len(catalogue.text_hashes()) > most:
        return state._replace(
            problem=f"{wanted.model.model} is not used: vectors of up to {most:,} chunks can be "
            "compared in memory."
        )
    making, known = Making(), set[bytes]()
    try:
        if (store := EncoderStore.existing(directory, wanted)) is not None:
            with store:
                making, known = store.making(), store.hashes()
    except IndexCorrupt:
        return state._replace(problem=f"Vectors of {state.model} are damaged, and are made anew.")
    except StoreError as error:
        return state._replace(problem=str(error))
    return state._replace(
        chunks=sum(text_hash in known for text_hash in hashes),
        pid=making.pid if making.pid and process_exists(making.pid) else 0,
        problem=making.failure,
    )


class ListedState(StrEnum):
    """The first of these that is true."""

    moved = "moved"
    missing = "missing"
    damaged = "damaged"
    unreadable = "cannot be read"
    newer = "of a newer Asterism"
    unindexed = "not indexed yet"
    unfinished = "not finished"
    """The first build is under way, or has stopped."""
    present = "present"


class Listed(NamedTuple):
    """A repository, its state, and how much its index holds of it."""

    registered: Registered
    state: ListedState
    files: int = 0
    chunks: int = 0
    note: str = ""
    """What `asterism status` says of that state, where it is not `present`."""


class _Holding(NamedTuple):
    files: int
    chunks: int
    note: str = ""


def list_repositories(registry: Registry) -> list[Listed]:
    """Every repository, by project and in the order they were registered."""
    return [entry for project in registry.projects() for entry in _of_project(registry, project)]


def _of_project(registry: Registry, project: Project) -> Iterator[Listed]:
    trouble, said = ListedState.unindexed, ""
    holdings: dict[str, _Holding] = {}
    try:
        holdings = _holdings(project)
    except IndexMissing:
        pass
    except IndexTooNew as error:
        trouble, said = ListedState.newer, str(error)
    except IndexCorrupt as error:
        trouble, said = ListedState.damaged, str(error)
    except StoreError as error:
        trouble, said = ListedState.unreadable, str(error)
    for entry in registry.repositories(project.id):
        held = holdings.get(entry.repository.name)
        state = trouble if held is None else ListedState.present
        if held is not None and held.note:
            state = ListedState.unfinished
        if (place := registry.state(entry)) is not RepositoryState.present:
            state = ListedState(place.value)
        if held is None:
            held = _Holding(0, 0, said or not_indexed(entry.repository.root))
        yield Listed(entry, state, held.files, held.chunks, held.note)


def _holdings(project: Project) -> dict[str, _Holding]:
    """How much the index of a project holds of each of its repositories."""
    with Catalogue.open(project.directory) as catalogue, catalogue.snapshot():
        if damage := damage_of(project.directory, catalogue):
            raise IndexCorrupt(damage)
        found = {}
        for repository in catalogue.repositories():
            known = catalogue.statistics(repository.name)
            found[repository.name] = _Holding(
                known.files, known.chunks, first_build(catalogue, repository)
            )
        return found


class Status(NamedTuple):
    """Everything `asterism status` shows."""

    registered: Registered
    verdict: IndexVerdict
    manifest: Manifest | None = None
    statistics: Statistics | None = None
    skipped: dict[str, int] = {}  # noqa: RUF012 - never changed
    chunks_bytes: int = 0
    job: Job | None = None
    running: bool = False
    watcher: WatchState | None = None
    upgrade: UpgradeState | None = None
    """Of the encoder vectors, where the settings want any."""
    unfinished: bool = False
    """Whether the last run ended before everything was written."""


def status_of(registered: Registered, settings: Settings) -> Status:
    """Look at an index without changing it."""
    directory = registered.project.directory
    if not os.path.isdir(registered.repository.root):  # noqa: PTH112 - also where it may not look
        return Status(
            registered,
            IndexVerdict(
                Staleness.missing,
                f"{registered.repository.root} is gone. If it moved, run `asterism index` at its "
                f"new place; if not, `asterism repos remove {registered.repository.name}`.",
            ),
        )
    try:
        catalogue = Catalogue.open(directory)
    except IndexMissing:
        missing = not_indexed(registered.repository.root)
        return Status(registered, IndexVerdict(Staleness.missing, missing))
    except (IndexCorrupt, IndexTooNew, StorageFailed) as error:
        return Status(registered, _refused(error))
    try:
        with catalogue:
            return _open_status(catalogue, registered, settings)
    except (IndexCorrupt, StorageFailed) as error:
        return Status(registered, _refused(error))


def _refused(error: StoreError) -> IndexVerdict:
    match error:
        case IndexCorrupt():
            return IndexVerdict(Staleness.corrupt, str(error))
        case IndexTooNew():
            return IndexVerdict(Staleness.schema, str(error))
        case _:
            return IndexVerdict(Staleness.unreadable, str(error))


def _job_beside(directory: Path, repo: str) -> Job | None:
    """The work on an index that is being built anew, beside this one."""
    try:
        with Catalogue.open(directory / BUILDING) as catalogue:
            job = catalogue.job(repo)
    except StoreError:
        return None
    return job if job is not None and is_alive(job) else None


def watch_file(registered: Registered) -> Path:
    """Where a watcher leaves its record."""
    return registered.project.directory / f"watch-{registered.repository.name}.json"


def _open_status(catalogue: Catalogue, registered: Registered, settings: Settings) -> Status:
    repo = registered.repository.name
    directory = registered.project.directory
    if damage := damage_of(directory, catalogue):
        verdict = IndexVerdict(Staleness.corrupt, damage)
    else:
        options, model = sync_options(settings), model_identity(settings)
        verdict = index_verdict(catalogue, registered.repository, options, model)
    if verdict.staleness is Staleness.missing:
        # A project's catalogue knows nothing yet of a repository that was only registered.
        return Status(registered, verdict, catalogue.manifest())
    job = _job_beside(directory, repo) or catalogue.job(repo)
    return Status(
        registered,
        verdict,
        catalogue.manifest(),
        catalogue.statistics(repo),
        catalogue.skipped_counts(repo),
        table_bytes(directory, catalogue),
        job,
        job is not None and is_alive(job),
        load_watch(watch_file(registered)),
        upgrade_state(catalogue, registered, settings),
        is_unfinished(catalogue, registered.repository),
    )
