"""Which value of a setting wins, and what happens to one that is not allowed."""

from pathlib import Path

import pytest

from asterism.config.environment import cores
from asterism.config.layers import Layer, resolve
from asterism.config.load import (
    chunk_options,
    discovery_options,
    embed_options,
    load,
    rerank_options,
    worker_count,
)
from asterism.config.options import reranking_options
from asterism.config.sections import WorkSettings
from asterism.config.settings import Settings, all_settings
from asterism.models.embed.options import EmbedOptions
from asterism.models.rerank.options import RerankOptions
from asterism.search.ranking.rerank import RerankingOptions
from asterism.types.errors import SettingError

KEY = "discovery.max_file_bytes"
VARIABLE = "ASTERISM_DISCOVERY_MAX_FILE_BYTES"


def write(path: Path, text: str) -> None:
    """Make a settings file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_the_first_place_that_has_a_value_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each place is added in turn, from the weakest to the strongest."""
    repository = tmp_path / "repository"
    repository.mkdir()

    def found(arguments: dict[str, object] | None = None) -> int:
        return load(repository, arguments).settings.discovery.max_file_bytes

    assert found() == 1_000_000
    monkeypatch.setenv(VARIABLE, "4_000")
    assert found() == 4_000
    write(tmp_path / "home/.config/asterism/config.toml", "[discovery]\nmax_file_bytes = 3000")
    assert found() == 3_000
    write(repository / "asterism.toml", "[discovery]\nmax_file_bytes = 2000")
    assert found() == 2_000
    assert found({KEY: 5_000}) == 5_000


def test_a_file_at_the_top_of_the_checkout_counts_below_it(tmp_path: Path) -> None:
    """Indexing part of a repository uses the repository's settings."""
    write(tmp_path / ".git/HEAD", "ref: refs/heads/main\n")
    write(tmp_path / "asterism.toml", "[chunks]\nmax_tokens = 500")
    below = tmp_path / "packages" / "one"
    below.mkdir(parents=True)
    assert load(below).settings.chunks.max_tokens == 500


def test_user_files_follow_the_configuration_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """XDG_CONFIG_HOME moves the user's file."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "moved"))
    write(tmp_path / "moved/asterism/config.toml", "[watch]\ndebounce_ms = 333")
    assert load(tmp_path).settings.watch.debounce_ms == 333


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[discovery]\nmax_file_bytes = 0",
            "max_file_bytes = 0 is not allowed; give a whole number",
        ),
        ('[discovery]\nmax_file_bytes = "9"', "max_file_bytes = '9' is not allowed"),
        ("[discovery]\nmax_file_bytes = true", "max_file_bytes = True is not allowed"),
        ("[discovery]\nmax_file_bytes = 1.5", "max_file_bytes = 1.5 is not allowed"),
        ("[chunks]\nmax_tokens = 40_000", "from 200 to 32,000"),
        ("[index]\nsync_seconds = -1", "sync_seconds = -1 is not allowed; give a decimal number"),
        ("[index]\nsync_seconds = nan", "sync_seconds = nan is not allowed"),
        ('[index]\nsync_seconds = "2"', "sync_seconds = '2' is not allowed"),
        ("[discovery]\nmax_bytes = 9", "did you mean discovery.max_file_bytes?"),
        ("[nonsense]\nx = 9", "the known ones are discovery.max_file_bytes, "),
        ("jobs = 2", "there is no setting jobs; did you mean work.jobs?"),
        ("[discovery", "is not valid TOML"),
        ("[discovery]\nmax_file_bytes = 1\nmax_file_bytes = 2", "is not valid TOML"),
    ],
)
def test_a_wrong_file_is_an_error_that_says_what_to_do(
    tmp_path: Path, text: str, message: str
) -> None:
    """The error names the file, the key, the value and what is allowed."""
    write(tmp_path / "asterism.toml", text)
    with pytest.raises(SettingError) as caught:
        load(tmp_path)
    assert message in str(caught.value)
    assert str(tmp_path / "asterism.toml") in str(caught.value)


@pytest.mark.parametrize("value", ["big", "-1", "0", "1.5", "true"])
def test_a_wrong_variable_is_ignored_with_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """The environment may hold anything; a search must not fail for it."""
    monkeypatch.setenv(VARIABLE, value)
    loaded = load(tmp_path)
    assert loaded.settings == Settings()
    assert len(loaded.warnings) == 1
    assert VARIABLE in loaded.warnings[0]
    assert repr(value) in loaded.warnings[0]


def test_an_empty_variable_is_no_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Setting a variable to nothing is how people unset it."""
    monkeypatch.setenv(VARIABLE, "")
    assert load(tmp_path) == resolve([])


def test_a_weaker_layer_does_not_hide_a_wrong_value() -> None:
    """A bad value is reported even where a stronger layer has a good one."""
    with pytest.raises(SettingError):
        resolve([Layer("call", {KEY: 5}), Layer("file", {KEY: "five"})])


def test_settings_reach_the_embedder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is set is what is used, the key included; the key is not shown."""
    monkeypatch.setenv("ASTERISM_EMBEDDING_API_KEY", "sk-not-to-be-seen")
    given: dict[str, object] = {
        "embedding.provider": "openai",
        "embedding.model": "bge-m3",
        "embedding.url": "http://localhost:1234/v1",
        "embedding.dimensions": 512,
        "embedding.batch_size": 7,
        "embedding.timeout_seconds": 3,
        "embedding.concurrency": 2,
    }
    options = embed_options(load(tmp_path, given).settings)
    assert options == EmbedOptions(
        "openai", "bge-m3", "http://localhost:1234/v1", 512, "sk-not-to-be-seen", 7, 3.0, 2
    )
    assert "sk-not" not in repr(options)
    assert embed_options(Settings()) == EmbedOptions()


def test_settings_reach_the_reranker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is set is what is used; nothing set means that the encoder reranks."""
    monkeypatch.setenv("ASTERISM_RERANK_API_KEY", "sk-not-to-be-seen")
    given: dict[str, object] = {
        "rerank.provider": "voyage",
        "rerank.model": "rerank-2.5-lite",
        "rerank.url": "http://localhost:1234/v1",
        "rerank.timeout_seconds": 3,
        "rerank.top": 12,
        "rerank.weight": 0.5,
    }
    settings = load(tmp_path, given).settings
    options = rerank_options(settings)
    assert options == RerankOptions(
        "voyage", "rerank-2.5-lite", "http://localhost:1234/v1", "sk-not-to-be-seen", 3.0
    )
    assert "sk-not" not in repr(options)
    assert reranking_options(settings) == RerankingOptions(top=12, weight=0.5)
    assert rerank_options(Settings()) == RerankOptions("auto")
    assert reranking_options(Settings()) == RerankingOptions()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("rerank.provider", "stranger", "give one of auto, none, local, encoder, voyage"),
        ("rerank.url", "localhost:1234", "give an address with http://"),
        ("rerank.top", 0, "give a whole number from 1 to 1,000"),
        ("rerank.weight", 1.5, "give a decimal number from 0 to 1"),
    ],
)
def test_a_wrong_value_for_the_reranker(
    tmp_path: Path, key: str, value: object, message: str
) -> None:
    with pytest.raises(SettingError) as caught:
        load(tmp_path, {key: value})
    assert f"{key} = {value!r} is not allowed; {message}" in str(caught.value)


def test_settings_reach_discovery_and_chunks(tmp_path: Path) -> None:
    """What is set is what is used."""
    given = {KEY: 77, "chunks.max_tokens": 300, "work.jobs": 1}
    settings = load(tmp_path, given).settings
    assert discovery_options(settings).max_bytes == 77
    assert chunk_options(settings).max_tokens == 300
    assert worker_count(settings) == 1
    assert worker_count(Settings()) == cores()
    # However the settings were made.
    assert worker_count(Settings(work=WorkSettings(jobs=100_000))) == cores()


def test_every_setting_has_its_own_variable_and_a_default_it_allows() -> None:
    """The table itself is sound."""
    settings = list(all_settings())
    assert len({setting.variable for setting in settings}) == len(settings)
    for setting in settings:
        assert resolve([Layer("itself", {setting.key: setting.default})]).settings == Settings()
