"""From settings to the model that chooses items of a context, and what is known of its cosines."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from asterism.config.load import embed_options
from asterism.config.sections_context import AS_INDEXED
from asterism.config.sections_models import EmbeddingSettings
from asterism.config.settings import Settings
from asterism.models.embed.options import (
    EmbedOptions,
    Provider,
    encoder_folder,
    static_folder,
)
from asterism.models.weights.folder import read_folder
from asterism.types.errors import SettingError

_NAMED: Mapping[str, Provider] = {"local": "local", "encoder": "encoder", "minilm": "minilm"}


def choosing_settings(settings: Settings) -> Settings:
    """The settings with the embedding model that chooses; the same where that is the index's."""
    wanted = settings.context.model
    if wanted == AS_INDEXED:
        return settings
    if wanted in _NAMED:
        chosen = EmbeddingSettings(provider=_NAMED[wanted])
    elif Path(wanted).expanduser().is_absolute():
        chosen = EmbeddingSettings(provider="encoder", model=wanted)
    else:
        raise SettingError(
            f"context.model is {wanted!r}; it can be {AS_INDEXED}, {', '.join(_NAMED)}, or the "
            "path of a folder with an encoder."
        )
    options = embed_options(replace(settings, embedding=chosen))
    if options.provider == "encoder" and not encoder_folder(options).is_dir():
        raise SettingError(
            f"context.model is {wanted!r}, but this installation has no such encoder. Give the "
            f"path of a folder with a model.json, or set context.model to {AS_INDEXED}."
        )
    return replace(settings, embedding=chosen)


def built_in(settings: Settings) -> Settings:
    """The settings with the model that is always there."""
    return replace(settings, embedding=EmbeddingSettings())


def told_of_cosines(options: EmbedOptions) -> Mapping[str, float]:
    """What a model's folder says of its cosines where items are chosen, if anything."""
    match options.provider:
        case "encoder":
            return read_folder(encoder_folder(options), "encoder").context
        case "local":
            return read_folder(static_folder(options), "static").context
    return {}
