"""The user's settings for one repository, from every source; and the log as they want it."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from asterism.analysis.chunks.units import ChunkOptions
from asterism.analysis.source.checkouts import enclosing_checkout
from asterism.analysis.source.discovery import DiscoveryOptions
from asterism.config.environment import (
    cores,
    embedding_key,
    environment_layer,
    git_excludes,
    home,
    rerank_key,
    secret_values,
    unknown_variables,
    user_file,
)
from asterism.config.layers import Layer, Loaded, read_layer, read_repository_layer, resolve
from asterism.config.settings import Settings
from asterism.config.trust import is_named
from asterism.models.embed.options import EmbedOptions, identity_of
from asterism.models.rerank.options import RerankOptions
from asterism.telemetry.events import hide
from asterism.telemetry.log import Format, Level, LogOptions, start_logging
from asterism.types.errors import AsterismError, SettingError
from asterism.types.files import display_path


def load(
    directory: Path, arguments: Mapping[str, object] | None = None, caller: str = "the call"
) -> Loaded:
    """Settings for a directory: the call's, the repository's, the user's, the environment's.

    The repository's file is looked for in the directory itself, then at the top of its checkout.
    What it may not do unless the user trusts the repository is left out with a warning.
    `caller` is what an error calls the origin of the arguments.
    """
    called = Layer(caller, arguments or {})
    own = user_file()
    file = read_layer(own) if own is not None else None
    personal = [*([file] if file is not None else []), environment_layer()]
    found = _repository_layer(directory)
    layers = [called, *personal]
    if found is not None:
        users = resolve(layers).settings
        found = found._replace(trusted=is_named(found.repository or "", users))
        layers = [called, found, *personal]
    loaded = resolve(layers, cores())
    if found is not None and found.trusted:
        _check_model(found, loaded.settings)
    return loaded._replace(warnings=(*loaded.warnings, *unknown_variables()))


def _check_model(repository: Layer, settings: Settings) -> None:
    """Refuse a model of a trusted repository's file that cannot be, in words about that file."""
    keys = [key for key in repository.values if key.startswith("embedding.")]
    try:
        if keys:
            identity_of(embed_options(settings))
    except AsterismError as error:
        root = shlex.quote(display_path(repository.repository or ""))
        raise SettingError(
            f"{repository.origin} sets {', '.join(keys)}. {error} Correct the file, or take back "
            f"your trust in it with `asterism untrust {root}`."
        ) from error


def _repository_layer(directory: Path) -> Layer | None:
    checkout = enclosing_checkout(str(directory))
    places = [directory, *([Path(checkout.root)] if checkout is not None else [])]
    for place in places:
        found = read_repository_layer(place)
        if found is not None:
            return found
    return None


def discovery_options(settings: Settings) -> DiscoveryOptions:
    """What discovery needs to know, the user's own git excludes included."""
    return DiscoveryOptions(
        max_bytes=settings.discovery.max_file_bytes,
        global_excludes=git_excludes(),
        home=home(),
    )


def chunk_options(settings: Settings) -> ChunkOptions:
    """What the chunker needs to know."""
    return ChunkOptions(max_tokens=settings.chunks.max_tokens)


def embed_options(settings: Settings) -> EmbedOptions:
    """Which model makes the vectors, with the key that the environment has for it."""
    chosen = settings.embedding
    return EmbedOptions(
        provider=chosen.provider,
        model=chosen.model,
        url=chosen.url,
        dimensions=chosen.dimensions,
        api_key=embedding_key(chosen.provider, chosen.url),
        batch_size=chosen.batch_size,
        timeout_seconds=chosen.timeout_seconds,
        concurrency=chosen.concurrency,
    )


def upgrade_options(settings: Settings) -> EmbedOptions | None:
    """The model of the encoder vectors, if the settings select one."""
    chosen = settings.embedding
    if chosen.upgrade == "none" or chosen.provider != "local":
        return None
    return EmbedOptions(
        provider="encoder", model="" if chosen.upgrade == "encoder" else chosen.upgrade
    )


def rerank_options(settings: Settings) -> RerankOptions:
    """Which model reranks the best hits, with the key that the environment has for it."""
    chosen = settings.rerank
    return RerankOptions(
        provider=chosen.provider,
        model=chosen.model,
        url=chosen.url,
        api_key=rerank_key(chosen.provider, chosen.url),
        timeout_seconds=chosen.timeout_seconds,
    )


def worker_count(settings: Settings) -> int:
    """How many processes to use: more than cores would only take memory."""
    return min(settings.work.jobs or cores(), cores())


def start_logs(settings: Settings, serving: bool = False, others: tuple[str, ...] = ()) -> None:
    """Log from now on as the settings say; `serving` is what a process does that stays.

    `others` are loggers of libraries whose warnings belong into the same log.
    """
    options = log_options(settings, serving, others)
    hide(secret_values())
    try:
        start_logging(options)
    except OSError as error:
        raise SettingError(
            f"log.file = {display_path(options.file)!r} cannot be written ({error.strerror}); give "
            "another file, or none."
        ) from error


def log_options(
    settings: Settings, serving: bool = False, others: tuple[str, ...] = ()
) -> LogOptions:
    """What is logged, how, and where."""
    chosen = settings.log
    level = chosen.level
    if level == "auto":
        level = "info" if serving or chosen.file else "off"
    return LogOptions(
        cast("Level", level), cast("Format", chosen.format), _file(chosen.file), others
    )


def _file(written: str) -> str:
    user = home()
    path = f"{user}{written[1:]}" if user and written.startswith("~/") else written
    if path and not Path(path).is_absolute():
        raise SettingError(f"log.file = {written!r} is not allowed; give an absolute path.")
    return path
