"""What is indexed, how it is kept up to date, and how much of the machine that takes."""

from dataclasses import dataclass

from asterism.config.described import described, whole
from asterism.config.setting import Kind, Voice, Zero


@dataclass(frozen=True, slots=True)
class DiscoverySettings:
    """Which files count."""

    max_file_bytes: int = whole(
        1_000_000,
        "Larger files are skipped: they are data or bundles, not source.",
        minimum=1,
        voice=Voice.only_lower,
    )


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How files are cut."""

    max_tokens: int = whole(
        32_000,
        "The longest text given to a model; a longer body is split at its statements.",
        minimum=200,
        maximum=32_000,
        voice=Voice.only_lower,
    )


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """How much of what was computed is kept."""

    max_bytes: int = whole(
        2_000_000_000,
        "How large the cache of vectors may grow, which all repositories share; what was not used "
        "for longest goes first, and 0 switches it off.",
        minimum=0,
        voice=Voice.trusted,
    )


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How the index is kept up to date."""

    sync_seconds: float = described(
        Kind.decimal,
        2.0,
        "How long a search may bring the index up to date before it answers; what is still behind "
        "then is said in the answer.",
        minimum=0,
        maximum=3600,
        voice=Voice.only_lower,
    )
    batch_bytes: int = whole(
        1_000_000,
        "Source read before it is written to the index: more is a little faster, less needs less "
        "memory and loses less when it is interrupted.",
        minimum=100_000,
        maximum=1_000_000_000,
        voice=Voice.only_lower,
    )


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """How changes are noticed while they happen."""

    debounce_ms: int = whole(
        300,
        "How long the files must be quiet before the index follows, in milliseconds.",
        minimum=0,
        maximum=60_000,
        voice=Voice.only_higher,
    )
    servers: bool = described(
        Kind.boolean,
        True,
        "Whether servers watch the repositories they are asked about; without that the index "
        "follows with the next question.",
        voice=Voice.only_lower,
    )


@dataclass(frozen=True, slots=True)
class WorkSettings:
    """How much of the machine is used."""

    jobs: int = whole(
        0,
        "Processes that read files; 0 means one per core.",
        minimum=0,
        voice=Voice.only_lower,
        zero=Zero.cores,
    )
