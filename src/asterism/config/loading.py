"""The user's settings for one repository, from every place they may stand."""

from collections.abc import Mapping
from pathlib import Path

from asterism.analysis.chunks.options import ChunkOptions
from asterism.analysis.source.checkouts import enclosing_checkout
from asterism.analysis.source.discovery import DiscoveryOptions
from asterism.config.environment import cores, environment_layer, git_excludes, home, user_file
from asterism.config.files import REPOSITORY_FILE, read_layer
from asterism.config.layers import Layer, Loaded, resolve
from asterism.config.settings import Settings


def load(
    directory: Path, arguments: Mapping[str, object] | None = None, caller: str = "the call"
) -> Loaded:
    """Settings for a directory: the call's, the repository's, the user's, the environment's.

    The repository's file is looked for in the directory itself, then at the top of its checkout.
    `caller` is what an error calls the origin of the arguments.
    """
    layers = [Layer(caller, arguments or {})]
    checkout = enclosing_checkout(str(directory))
    places = [directory / REPOSITORY_FILE]
    if checkout is not None:
        places.append(Path(checkout.root, REPOSITORY_FILE))
    found = next(filter(None, map(read_layer, places)), None)
    layers.extend([found] if found is not None else [])
    own = user_file()
    users = read_layer(own) if own is not None else None
    layers.extend([users] if users is not None else [])
    layers.append(environment_layer())
    return resolve(layers)


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


def worker_count(settings: Settings) -> int:
    """How many processes to use."""
    return settings.work.jobs or cores()
