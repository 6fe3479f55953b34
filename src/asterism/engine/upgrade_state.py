"""How far the second vectors of an index are, by a look that loads no model."""

from typing import NamedTuple

from asterism.analysis.chunks.units import RECIPE_VERSION
from asterism.config.load import upgrade_options
from asterism.config.settings import Settings
from asterism.models.embed.options import EmbedOptions, encoder_folder, identity_of
from asterism.models.weights.folder import check, read_folder
from asterism.store.catalogue.catalogue import Catalogue
from asterism.store.encoder_vectors import MadeFor, Making, SecondStore, second_bytes
from asterism.store.limits import LIMITS
from asterism.store.registry import Registered
from asterism.types.errors import (
    IndexCorrupt,
    ProviderError,
    SettingError,
    StoreError,
    UsageError,
)
from asterism.types.files import display_path
from asterism.types.processes import process_exists


class UpgradeState(NamedTuple):
    """The second vectors of one repository."""

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
    """The model for second vectors; an error where none is set, or one that is not there."""
    options = upgrade_options(settings)
    if options is None:
        raise UsageError(
            "No model for second vectors is set: set embedding.upgrade to encoder or to a folder "
            "with a model, and embedding.provider to local."
        )
    return options, made_for(options)


def upgrade_state(
    catalogue: Catalogue, registered: Registered, settings: Settings
) -> UpgradeState | None:
    """The state of a repository's second vectors; None where the settings want none."""
    options = upgrade_options(settings)
    if options is None:
        return None
    directory = registered.project.directory
    hashes = catalogue.text_hashes(registered.repository.name)
    state = UpgradeState(
        settings.embedding.upgrade, total=len(hashes), bytes=second_bytes(directory)
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
        if (store := SecondStore.existing(directory, wanted)) is not None:
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
