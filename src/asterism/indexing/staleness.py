"""Is an index what a fresh one would be? If not, why, and what to do about it."""

from typing import NamedTuple

from asterism.backends.store.catalogue import Catalogue
from asterism.backends.store.catalogue_schema import SCHEMA_VERSION, changes_in_place
from asterism.domain.files import Discovery
from asterism.domain.index import ModelIdentity, Repository, Staleness
from asterism.indexing.options import SyncOptions, options_hash
from asterism.indexing.sync import preview


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
    if catalogue.pending(repository.name):
        behind = f": {_counted(content.behind)} behind" if content.behind else ""
        message = f"The last run did not finish{behind}; run `asterism index` to go on."
        return Judgement(Staleness.content, message, content.behind)
    return content


def judge_shape(
    catalogue: Catalogue,
    repository: Repository,
    options: SyncOptions,
    model: ModelIdentity,
) -> Judgement:
    """The same without a look at the files."""
    manifest = catalogue.manifest()
    if repository.name not in {known.name for known in catalogue.repositories()}:
        return Judgement(Staleness.missing, MISSING)
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
    return Judgement(Staleness.equal, "The index is up to date.")


MISSING = "There is no index yet; run `asterism index`."


def _content(
    catalogue: Catalogue, repository: Repository, options: SyncOptions, found: Discovery | None
) -> Judgement:
    ahead = preview(catalogue.files(repository.name), repository, options, found=found)
    behind = ahead.added + ahead.changed + ahead.removed
    if behind:
        parts = [
            f"{count:,} {word}"
            for count, word in (
                (ahead.added, "new"),
                (ahead.changed, "changed"),
                (ahead.removed, "removed"),
            )
            if count
        ]
        return Judgement(
            Staleness.content,
            f"{_counted(behind)} behind ({', '.join(parts)}); run `asterism index`.",
            behind,
        )
    return Judgement(Staleness.equal, "The index is up to date.")


def _counted(files: int) -> str:
    return f"{files:,} file is" if files == 1 else f"{files:,} files are"
