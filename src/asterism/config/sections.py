"""The sections of the settings but those of models: indexing, processes, servers, records, log."""

from dataclasses import dataclass
from typing import Any

from asterism.config.setting import SettingKind, Voice, Zero, described, whole


def _server(program: str, languages: str) -> Any:
    return described(
        SettingKind.text,
        "",
        f"The language server `{program}`; nothing means the one on the path, if there is one, "
        f"`off` that {languages} connected by name only.",
        voice=Voice.user,
    )


@dataclass(frozen=True, slots=True)
class StructureSettings:
    """Who is asked how symbols connect."""

    typescript: str = described(
        SettingKind.text,
        "",
        "The program of the TypeScript compiler, version 7; nothing means the one that came with "
        "Asterism, `off` that TypeScript and JavaScript are connected by name only.",
        voice=Voice.user,
    )
    python: str = described(
        SettingKind.text,
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
        SettingKind.decimal,
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
        SettingKind.text,
        "auto",
        "How much is logged; `auto` means `info` for servers and if a file is named, and "
        "nothing for commands.",
        choices=("auto", "off", "error", "warning", "info", "debug"),
        voice=Voice.user,
    )
    format: str = described(
        SettingKind.text,
        "plain",
        "How a line of the log looks: for people, or as JSON for programs.",
        choices=("plain", "json"),
        voice=Voice.user,
    )
    file: str = described(
        SettingKind.text,
        "",
        "The file for the log, an absolute path, `~/` allowed; nothing means standard error. It is "
        "set aside at 10 MB, and three older ones are kept.",
        voice=Voice.user,
    )


@dataclass(frozen=True, slots=True)
class MaskingSettings:
    """What is reported of tokens that were masked in texts for models."""

    report: str = described(
        SettingKind.text,
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
        SettingKind.paths,
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
        SettingKind.decimal,
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
        SettingKind.boolean,
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


@dataclass(frozen=True, slots=True)
class RecordsSettings:
    """Where conversations and sessions are kept."""

    url: str = described(
        SettingKind.text,
        "",
        "The database of conversations, as SQLAlchemy writes it: `postgresql://user@host/name` (it "
        "needs the extra `postgres`), or `sqlite:////absolute/path`; nothing means a file in the "
        "data directory. The password is taken from `ASTERISM_RECORDS_PASSWORD`.",
        voice=Voice.user,
    )


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What `asterism serve` does unless an option says otherwise."""

    host: str = described(
        SettingKind.text,
        "127.0.0.1",
        "The address that the server listens on; any but this machine's own needs a token.",
        voice=Voice.user,
    )
    port: int = whole(
        8420,
        "The port that the server listens on; 0 takes any that is free.",
        minimum=0,
        maximum=65_535,
        voice=Voice.user,
    )
    access: str = described(
        SettingKind.text,
        "user",
        "Whom the server answers on this machine: `user` takes the token that it makes by itself, "
        "and where the system tells who asks, programs of the same user need none; `token` asks "
        "every client for it; `open` answers every user of this machine.",
        choices=("user", "token", "open"),
        voice=Voice.user,
    )
    token_file: str = described(
        SettingKind.text,
        "",
        "A file with a token of your own that every request has to bring, an absolute path, `~/` "
        "allowed; the variable `ASTERISM_SERVER_TOKEN` comes before it.",
        voice=Voice.user,
    )
    allowed_hosts: str = described(
        SettingKind.text,
        "",
        "Names beside its own address by which the server may be called, separated by commas.",
        voice=Voice.user,
    )
    allowed_origins: str = described(
        SettingKind.text,
        "",
        "Pages of other servers that may ask this one, as `https://example.org`, separated by "
        "commas.",
        voice=Voice.user,
    )
    max_body_bytes: int = whole(
        4_194_304,
        "How large a request may be.",
        minimum=1_024,
        maximum=104_857_600,
        voice=Voice.user,
    )
    query_seconds: int = whole(
        30,
        "How long a query may take before it is ended, on the command line and in programs too.",
        minimum=1,
        maximum=3_600,
        voice=Voice.user,
    )
    cpu_seconds: int = whole(
        5,
        "How many seconds of one core a client of `asterism serve` may use in each "
        "`server.cpu_window` seconds; beyond that its requests are answered 429. 0 sets no limit.",
        minimum=0,
        maximum=3_600,
        voice=Voice.user,
    )
    cpu_window: int = whole(
        10,
        "The seconds over which the use of the processor is counted.",
        minimum=1,
        maximum=3_600,
        voice=Voice.user,
    )
    read_only: bool = described(
        SettingKind.boolean,
        False,
        "Whether repositories cannot be added, removed or indexed over HTTP.",
        voice=Voice.user,
    )
    roots: tuple[str, ...] = described(
        SettingKind.paths,
        (),
        "Directories below which repositories may be added over HTTP. Without any it is your home "
        "where the server is for this machine alone, and no directory elsewhere.",
        voice=Voice.user,
    )
