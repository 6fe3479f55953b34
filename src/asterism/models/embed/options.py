"""Which embedding model to use, and what is known of it without loading it.

Nothing heavy is imported here: commands that only show which model an index has stay quick.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

from asterism.models.weights.folder import Kind, read_folder
from asterism.types.errors import SettingError
from asterism.types.index import ModelIdentity

Provider: TypeAlias = Literal["local", "encoder", "minilm", "voyage", "openai"]

STATIC_IDENTITY = ModelIdentity("local", "asterism-static-2", 256)
MINILM_IDENTITY = ModelIdentity("minilm", "all-MiniLM-L6-v2", 384)

MODELS = Path(__file__).with_name("data")
"""The folders of the models that come with Asterism."""

_BUILT_IN = MODELS / STATIC_IDENTITY.model

ENCODER = "asterism-encoder-4"
"""The encoder that is meant where none is named."""

KEY_VARIABLES: Mapping[Provider, str] = {"voyage": "VOYAGE_API_KEY", "openai": "OPENAI_API_KEY"}
"""The vendors' own variables, meant for the vendors' own addresses; `config` reads them."""

REMOTE: frozenset[str] = frozenset(KEY_VARIABLES)
"""Providers that get the text of the code sent to a server."""

KEY_VARIABLE = "ASTERISM_EMBEDDING_API_KEY"
"""The variable with a key for whatever address the settings name."""

DEFAULT_URLS: Mapping[Provider, str] = {
    "voyage": "https://api.voyageai.com/v1",
    "openai": "https://api.openai.com/v1",
}

DEFAULT_MODELS: Mapping[Provider, str] = {
    "local": STATIC_IDENTITY.model,
    "encoder": ENCODER,
    "minilm": MINILM_IDENTITY.model,
    "voyage": "voyage-code-3",
    "openai": "text-embedding-3-small",
}


@dataclass(frozen=True, slots=True)
class EmbedOptions:
    """The model to use and how to reach it; empty or 0 leaves a value to the provider."""

    provider: Provider = "local"
    model: str = ""
    url: str = ""
    dimensions: int = 0
    api_key: str = field(default="", repr=False)
    batch_size: int = 0
    """Texts in a request at most."""
    timeout_seconds: float = 60.0
    """Without a byte from the server; a large batch on a slow machine takes some ten seconds."""
    concurrency: int = 4
    """Requests on their way at once."""


class KnownModel(NamedTuple):
    """The vectors a model makes."""

    dimensions: int
    others: tuple[int, ...] = ()
    """Other sizes it makes on request, smallest first."""
    any_less: bool = False
    """It makes any smaller size on request."""

    def makes(self, dimensions: int) -> bool:
        """Can it make vectors of this size?"""
        smaller = self.any_less and 0 < dimensions < self.dimensions
        return dimensions == self.dimensions or dimensions in self.others or smaller


_VOYAGE_SIZES = (256, 512, 2048)

VOYAGE_MODELS: Mapping[str, KnownModel] = {
    "voyage-code-3": KnownModel(1024, _VOYAGE_SIZES),
    "voyage-4-large": KnownModel(1024, _VOYAGE_SIZES),
    "voyage-4": KnownModel(1024, _VOYAGE_SIZES),
    "voyage-4-lite": KnownModel(1024, _VOYAGE_SIZES),
    "voyage-3-large": KnownModel(1024, _VOYAGE_SIZES),
    "voyage-3.5": KnownModel(1024, _VOYAGE_SIZES),
    "voyage-3.5-lite": KnownModel(1024, _VOYAGE_SIZES),
    "voyage-code-2": KnownModel(1536),
}

# By the plain name; `plain_name` takes off what servers put around it.
OPENAI_MODELS: Mapping[str, KnownModel] = {
    "text-embedding-3-small": KnownModel(1536, any_less=True),
    "text-embedding-3-large": KnownModel(3072, any_less=True),
    "text-embedding-ada-002": KnownModel(1536),
    "all-minilm": KnownModel(384),
    "all-minilm-l6-v2": KnownModel(384),
    "bge-large": KnownModel(1024),
    "bge-large-en-v1.5": KnownModel(1024),
    "bge-base-en-v1.5": KnownModel(768),
    "bge-small-en-v1.5": KnownModel(384),
    "bge-m3": KnownModel(1024),
    "embeddinggemma": KnownModel(768),
    "granite-embedding": KnownModel(384),
    "mxbai-embed-large": KnownModel(1024),
    "mxbai-embed-large-v1": KnownModel(1024),
    "nomic-embed-text": KnownModel(768),
    "nomic-embed-text-v1.5": KnownModel(768),
    "nomic-embed-code": KnownModel(3584),
    "qwen3-embedding-0.6b": KnownModel(1024, any_less=True),
    "qwen3-embedding-4b": KnownModel(2560, any_less=True),
    "qwen3-embedding-8b": KnownModel(4096, any_less=True),
    "snowflake-arctic-embed": KnownModel(1024),
    "snowflake-arctic-embed2": KnownModel(1024),
}

# Models whose tag says which size they have; with any other tag the size is not known.
_TAGS_OF_ONE_SIZE = {"", "latest", "v1.5"}


def identity_of(options: EmbedOptions) -> ModelIdentity:
    """Provider, model and dimensions that the options mean, without a request."""
    if options.provider not in get_args(Provider):
        allowed = ", ".join(get_args(Provider))
        raise SettingError(
            f"embedding.provider is {options.provider!r}; it can be one of: {allowed}."
        )
    if options.provider == "encoder":
        return _folder_identity(options, encoder_folder(options), "encoder")
    if options.provider == "local" and static_folder(options) != _BUILT_IN:
        return _folder_identity(options, static_folder(options), "static")
    model = options.model or DEFAULT_MODELS[options.provider]
    if options.provider == "local" and _folder(model) == _BUILT_IN:
        model = STATIC_IDENTITY.model
    known = known_model(options.provider, model)
    if known is None and options.provider in ("local", "minilm"):
        raise SettingError(
            f"embedding.model is {model!r}, but the provider {options.provider!r} has only "
            f"{DEFAULT_MODELS[options.provider]!r}. Leave the setting out, or set another "
            "embedding.provider."
        )
    return ModelIdentity(options.provider, model, _dimensions(options, model, known))


def known_model(provider: Provider, model: str) -> KnownModel | None:
    """What is known of a model's vectors, if anything."""
    match provider:
        case "local":
            return KnownModel(256) if model == STATIC_IDENTITY.model else None
        case "minilm":
            return KnownModel(384) if model == MINILM_IDENTITY.model else None
        case "encoder":
            # A folder describes itself.
            return None
        case "voyage":
            return VOYAGE_MODELS.get(model)
        case "openai":
            return OPENAI_MODELS.get(model) or OPENAI_MODELS.get(plain_name(model))


def encoder_folder(options: EmbedOptions) -> Path:
    """The folder of the encoder that the options mean: a shipped one, or the user's."""
    return _folder(options.model or ENCODER)


def static_folder(options: EmbedOptions) -> Path:
    """The same of the static model."""
    folder = _folder(options.model or STATIC_IDENTITY.model)
    return folder if folder.parent != MODELS or folder.is_dir() else _BUILT_IN


def _folder(model: str) -> Path:
    folder = Path(model).expanduser()
    return folder if folder.is_absolute() else MODELS / model


def _folder_identity(options: EmbedOptions, folder: Path, kind: Kind) -> ModelIdentity:
    """By the folder's description; vectors of other weights never pass for these."""
    if not folder.is_dir():
        what = "encoder" if kind == "encoder" else "static model"
        raise SettingError(
            f"There is no {what} {options.model or folder.name!r}. Leave embedding.model out, or "
            "give the absolute path of a folder with a model.json."
        )
    found = read_folder(folder, kind)
    if options.dimensions not in (0, found.dimensions):
        raise SettingError(
            f"embedding.dimensions is {options.dimensions}, but {found.name!r} makes vectors of "
            f"{found.dimensions}. Leave the setting out for its own size."
        )
    ours = folder.parent == MODELS
    name = found.name if ours else f"{found.name}@{found.mark}"
    return ModelIdentity(options.provider, name, found.dimensions)


def key_variables(options: EmbedOptions) -> str:
    """Where the key for the options' address can come from, as messages say it."""
    vendor = at_vendor(options) and KEY_VARIABLES.get(options.provider)
    return f"{vendor} or {KEY_VARIABLE}" if vendor else KEY_VARIABLE


def at_vendor(options: EmbedOptions) -> bool:
    """Is the model asked at its vendor's own address?"""
    return options.url.rstrip("/") in ("", DEFAULT_URLS.get(options.provider))


def plain_name(model: str) -> str:
    """A model's name without owner and tag: `BAAI/bge-m3`, `bge-m3:latest` are `bge-m3`.

    LM Studio puts `text-embedding-` before the names of all models; Ollama tells sizes of one
    model apart by the tag, so that a tag which is not the usual one stays, after a dash.
    """
    name, _, tag = model.lower().rpartition("/")[2].partition(":")
    name = name.removeprefix("text-embedding-")
    return name if tag in _TAGS_OF_ONE_SIZE else f"{name}-{tag}"


def _dimensions(options: EmbedOptions, model: str, known: KnownModel | None) -> int:
    wanted = options.dimensions
    if known is None:
        if wanted > 0:
            return wanted
        raise SettingError(
            f"The size of the vectors of {model!r} is not known. Set embedding.dimensions to the "
            "number its documentation gives."
        )
    if wanted and not known.makes(wanted):
        sizes = sorted((*known.others, known.dimensions))
        less = " or less" if known.any_less else ""
        raise SettingError(
            f"embedding.dimensions is {wanted}, but {model!r} makes vectors of "
            f"{', '.join(map(str, sizes))}{less}. Leave the setting out for its own size."
        )
    return wanted or known.dimensions
