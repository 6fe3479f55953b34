"""What is indexed, how it is kept up to date, and how much of the machine that takes."""

from dataclasses import dataclass
from typing import Any

from asterism.config.setting import Kind, Voice, Zero, described, whole


def _server(program: str, languages: str) -> Any:
    return described(
        Kind.text,
        "",
        f"The language server `{program}`; nothing means the one on the path, if there is one, "
        f"`off` that {languages} connected by name only.",
        voice=Voice.user,
    )


@dataclass(frozen=True, slots=True)
class StructureSettings:
    """Who is asked how symbols connect."""

    typescript: str = described(
        Kind.text,
        "",
        "The program of the TypeScript compiler, version 7; nothing means the one that came with "
        "Asterism, `off` that TypeScript and JavaScript are connected by name only.",
        voice=Voice.user,
    )
    python: str = described(
        Kind.text,
        "",
        "The program of the type checker `ty`; nothing means the one that was installed with "
        "Asterism, `off` that Python is connected by name only.",
        voice=Voice.user,
    )
    cpp: str = _server("clangd", "C and C++ are")
    go: str = _server("gopls", "Go is")
    rust: str = _server("rust-analyzer", "Rust is")
    java: str = _server("jdtls", "Java is")
    memory_mb: int = whole(
        2000,
        "Megabytes that each of these programs may use before it is ended.",
        minimum=200,
        voice=Voice.only_lower,
    )
    wait_seconds: float = described(
        Kind.decimal,
        20.0,
        "How long a question waits for such a program that is still reading the repository; "
        "after that it is answered by name.",
        minimum=0,
        voice=Voice.only_lower,
    )


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What is written down of what happens."""

    level: str = described(
        Kind.text,
        "auto",
        "How much is logged; `auto` means `info` for servers and for whoever names a file, and "
        "nothing for commands.",
        choices=("auto", "off", "error", "warning", "info", "debug"),
        voice=Voice.user,
    )
    format: str = described(
        Kind.text,
        "plain",
        "How a line of the log looks: for people, or as JSON for programs.",
        choices=("plain", "json"),
        voice=Voice.user,
    )
    file: str = described(
        Kind.text,
        "",
        "The file for the log, an absolute path, `~/` allowed; nothing means standard error. It is "
        "set aside at 10 MB, and three older ones are kept.",
        voice=Voice.user,
    )


@dataclass(frozen=True, slots=True)
class MaskingSettings:
    """What is reported of tokens that were masked in texts for models."""

    report: str = described(
        Kind.text,
        "counts",
        "What notes of searches and answers, reports of indexing and `status` say of tokens that "
        "were masked in texts sent to models: how many of each kind, also in which lines of which "
        "files, or nothing.",
        choices=("counts", "places", "none"),
        voice=Voice.user,
    )


@dataclass(frozen=True, slots=True)
class TrustSettings:
    """Whose files may decide where code goes, and which programs start."""

    repositories: tuple[str, ...] = described(
        Kind.paths,
        (),
        "Repositories that you trust: their `asterism.toml` may set everything, language servers "
        "start for them, and their agents may start tool servers. Absolute paths without links, "
        "`~/` allowed; `asterism trust` edits this list.",
        voice=Voice.user,
    )


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
