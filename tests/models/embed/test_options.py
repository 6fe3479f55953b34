"""Is the model that options mean known without loading anything?"""

import subprocess
import sys

import pytest

from asterism.models.embed.http import HttpEmbedder
from asterism.models.embed.options import (
    DEFAULT_URLS,
    EmbedOptions,
    identity_of,
    key_variables,
    plain_name,
)
from asterism.models.embed.provider import make_embedder
from asterism.models.embed.static import StaticEmbedder
from asterism.models.embed.vendors import MiniLmEmbedder
from asterism.types.errors import SettingError


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (EmbedOptions(), "local/asterism-static-2, 256 dimensions"),
        (EmbedOptions(dimensions=256), "local/asterism-static-2, 256 dimensions"),
        (EmbedOptions("minilm"), "minilm/all-MiniLM-L6-v2, 384 dimensions"),
        (EmbedOptions("voyage"), "voyage/voyage-code-3, 1024 dimensions"),
        (EmbedOptions("voyage", dimensions=2048), "voyage/voyage-code-3, 2048 dimensions"),
        (EmbedOptions("voyage", "voyage-next", dimensions=99), "voyage/voyage-next, 99 dimensions"),
        (EmbedOptions("openai"), "openai/text-embedding-3-small, 1536 dimensions"),
        (
            EmbedOptions("openai", "text-embedding-3-large", dimensions=100),
            "openai/text-embedding-3-large, 100 dimensions",
        ),
        (
            EmbedOptions("openai", "nomic-embed-text:latest"),
            "openai/nomic-embed-text:latest, 768 dimensions",
        ),
        (EmbedOptions("openai", "BAAI/bge-m3"), "openai/BAAI/bge-m3, 1024 dimensions"),
        (
            EmbedOptions("openai", "text-embedding-nomic-embed-text-v1.5"),
            "openai/text-embedding-nomic-embed-text-v1.5, 768 dimensions",
        ),
        (
            EmbedOptions("openai", "qwen3-embedding:4b"),
            "openai/qwen3-embedding:4b, 2560 dimensions",
        ),
        (EmbedOptions("openai", "my-own", dimensions=77), "openai/my-own, 77 dimensions"),
    ],
)
def test_identity(options: EmbedOptions, expected: str) -> None:
    assert str(identity_of(options)) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (EmbedOptions("other"), r"embedding\.provider .* local, encoder, minilm, voyage, openai"),  # type: ignore[arg-type]
        (EmbedOptions("local", "big"), r"embedding\.model is 'big'.* only 'asterism-static-2'"),
        (EmbedOptions("minilm", "big"), r"embedding\.model"),
        (EmbedOptions("local", dimensions=100), r"embedding\.dimensions is 100.* of 256\."),
        (EmbedOptions("voyage", dimensions=100), r"of 256, 512, 1024, 2048\."),
        (EmbedOptions("voyage", "voyage-next"), r"Set embedding\.dimensions"),
        (EmbedOptions("openai", "my-own"), r"Set embedding\.dimensions"),
        (EmbedOptions("openai", "qwen3-embedding:70b"), r"Set embedding\.dimensions"),
        (EmbedOptions("openai", dimensions=1537), r"of 1536 or less\."),
        (EmbedOptions("openai", dimensions=-1), r"embedding\.dimensions is -1"),
    ],
)
def test_options_that_mean_nothing(options: EmbedOptions, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        identity_of(options)
    with pytest.raises(SettingError, match=message):
        make_embedder(options)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("bge-m3", "bge-m3"),
        ("BAAI/BGE-M3", "bge-m3"),
        ("bge-m3:latest", "bge-m3"),
        ("registry/owner/qwen3-embedding:8b", "qwen3-embedding-8b"),
        ("text-embedding-bge-m3", "bge-m3"),
    ],
)
def test_plain_names(model: str, expected: str) -> None:
    assert plain_name(model) == expected


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (EmbedOptions(), StaticEmbedder),
        (EmbedOptions("minilm"), MiniLmEmbedder),
        (EmbedOptions("voyage", api_key="key"), HttpEmbedder),
        (EmbedOptions("openai"), HttpEmbedder),
    ],
)
def test_embedder_of_options(options: EmbedOptions, kind: type) -> None:
    embedder = make_embedder(options)
    assert isinstance(embedder, kind)
    assert embedder.identity == identity_of(options)
    if options.provider in DEFAULT_URLS:
        assert DEFAULT_URLS[options.provider] in repr(embedder)
    embedder.close()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (EmbedOptions("openai"), "OPENAI_API_KEY or ASTERISM_EMBEDDING_API_KEY"),
        (
            EmbedOptions("voyage", url="https://api.voyageai.com/v1/"),
            "VOYAGE_API_KEY or ASTERISM_EMBEDDING_API_KEY",
        ),
        (EmbedOptions("openai", url="http://localhost:1234/v1"), "ASTERISM_EMBEDDING_API_KEY"),
    ],
)
def test_where_keys_come_from(options: EmbedOptions, expected: str) -> None:
    assert key_variables(options) == expected


def test_keys_are_not_shown() -> None:
    assert "secret" not in repr(EmbedOptions("voyage", api_key="secret"))


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        (
            "from asterism.models.embed.options import *; identity_of(EmbedOptions('voyage'))",
            {"numpy", "httpx", "tokenizers"},
        ),
        (
            "from asterism.models.embed.provider import *; make_embedder(EmbedOptions())",
            {"httpx", "tokenizers"},
        ),
        (
            "from asterism.models.embed.provider import *; make_embedder(EmbedOptions('openai'))",
            {"httpx", "tokenizers"},
        ),
        (
            "from asterism.models.embed.provider import *; make_embedder(EmbedOptions('minilm'))",
            {"httpx", "tokenizers", "torch", "sentence_transformers"},
        ),
    ],
)
def test_heavy_libraries_wait_for_the_first_text(statement: str, absent: set[str]) -> None:
    script = f"import sys; {statement}; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, encoding="utf-8"
    )
    assert absent & set(run.stdout.split()) == set()
