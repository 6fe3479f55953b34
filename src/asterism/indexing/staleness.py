"""Is an index what a fresh one would be? If not, why, and what to do about it."""

from typing import NamedTuple

from asterism.indexing.jobs import is_alive
from asterism.indexing.plan import SyncOptions, options_hash
from asterism.indexing.sync import preview
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.catalogue.schema import SCHEMA_VERSION, changes_in_place
from asterism.types import index_states
from asterism.types.files import Discovery
from asterism.types.index import ModelIdentity, Repository, Staleness


class Judgement(NamedTuple):
    """A verdict and its message; files behind are counted where that is the reason."""

    staleness: Staleness
    message: str
    behind: int = 0


def judge(
    catalogue: Catalogue,
    repository: Repository,
    options: SyncOptions,
    model: ModelIdentity,
    found: Discovery | None = None,
) -> Judgement:
    """Compare an index that can be opened with what is wanted now; the gravest reason counts.

    `found` is a listing that was made just now; without it the tree is walked.
    """
    verdict = judge_shape(catalogue, repository, options, model)
    if verdict.staleness is not Staleness.equal:
        return verdict
    content = _content(catalogue, repository, options, found)
    message = first_build(catalogue, repository)
    if not message and catalogue.pending(repository.name):
        message = index_states.run_stopped(content.behind)
    return Judgement(Staleness.content, message, content.behind) if message else content


def first_build(catalogue: Catalogue, repository: Repository) -> str:
    """What to say of a first build that has not come to its end; nothing where it has."""
    job = catalogue.job(repository.name)
    if job is None or job.kind != "build" or job.state == "done":
        return ""
    said = index_states.being_built if is_alive(job) else index_states.build_stopped
    return said(repository.root, job)


def is_unfinished(catalogue: Catalogue, repository: Repository) -> bool:
    """Whether a run ended before everything was written, and none works on it."""
    job = catalogue.job(repository.name)
    if job is not None and is_alive(job):
        return False
    return bool(first_build(catalogue, repository) or catalogue.pending(repository.name))


def judge_shape(
    catalogue: Catalogue,
    repository: Repository,
    options: SyncOptions,
    model: ModelIdentity,
) -> Judgement:
    """The same without a look at the files."""
    manifest = catalogue.manifest()
    if repository.name not in {known.name for known in catalogue.repositories()}:
        return Judgement(Staleness.missing, index_states.not_indexed(repository.root))
    if not changes_in_place(manifest.schema_version):
        return Judgement(
            Staleness.schema,
            f"The index has schema {manifest.schema_version}, this version writes "
            f"{SCHEMA_VERSION}: reindex needed. Search still works; run `asterism index`.",
        )
    if catalogue.options_hash(repository.name) != options_hash(options):
        return Judgement(
            Staleness.options,
            "The index was made with other settings; run `asterism index` to read the files anew.",
        )
    if manifest.model != model:
        return Judgement(
            Staleness.model,
            f"The vectors are of {manifest.model}; the settings ask for {model}. Run `asterism "
            "index` to embed everything anew, or set the model back.",
        )
    return Judgement(Staleness.equal, index_states.UP_TO_DATE)


def _content(
    catalogue: Catalogue, repository: Repository, options: SyncOptions, found: Discovery | None
) -> Judgement:
    ahead = preview(catalogue.files(repository.name), repository, options, found=found)
    behind = ahead.added + ahead.changed + ahead.removed
    if behind:
        message = index_states.files_behind(ahead.added, ahead.changed, ahead.removed)
        return Judgement(Staleness.content, message, behind)
    return Judgement(Staleness.equal, index_states.UP_TO_DATE)
