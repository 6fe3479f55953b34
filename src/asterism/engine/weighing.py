"""What each piece of evidence counts, by the model whose vectors are compared."""

from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from asterism.models.embed.options import EmbedOptions, encoder_folder, static_folder
from asterism.models.weights.folder import (
    DESCRIPTION,
    Kind,
    ModelFolder,
    described,
    read_folder,
)
from asterism.search.ranking.options import RankOptions
from asterism.types.errors import ProviderRefused

PREFIX = "vectors."
"""How the numbers for a ranking with a model's vectors begin among those of its folder; the others
are for its judgement of single texts."""

_FOLDERS_KEPT = 4


def rank_options(options: EmbedOptions) -> RankOptions:
    """The weights for vectors of this model: the usual ones, and what its folder says instead."""
    if options.provider == "encoder":
        return _of_folder(*described(encoder_folder(options)), "encoder")
    if options.provider == "local" and (static_folder(options) / DESCRIPTION).is_file():
        return _of_folder(*described(static_folder(options)), "static")
    return RankOptions()


def weighed(folder: ModelFolder) -> RankOptions:
    """The usual weights with the numbers of a folder, as `vectors.weights.nearby`, in place."""
    found = RankOptions()
    for name, value in folder.ranking.items():
        if name.startswith(PREFIX):
            try:
                found = _with(found, name.removeprefix(PREFIX).split("."), value)
            except (LookupError, TypeError) as error:
                raise ProviderRefused(
                    f"The model in {folder.path} sets {name}, which this version of Asterism does "
                    "not know; update Asterism, or take that number out of its model.json."
                ) from error
    return found


def _with(options: Any, path: list[str], value: float) -> Any:
    """The options with one number changed, however deep it is in them."""
    name, *rest = path
    if not is_dataclass(options) or name not in {field.name for field in fields(options)}:
        raise LookupError(name)
    held = getattr(options, name)
    if rest:
        return replace(options, **{name: _with(held, rest, value)})  # type: ignore[type-var]
    if isinstance(held, bool) or not isinstance(held, int | float):
        raise TypeError(name)
    return replace(options, **{name: type(held)(value)})  # type: ignore[type-var]


@lru_cache(maxsize=_FOLDERS_KEPT)
def _of_folder(path: Path, _changed_ns: int, kind: Kind) -> RankOptions:
    return weighed(read_folder(path, kind))
