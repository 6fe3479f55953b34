"""What a repository's own file may not decide, and where secrets may stand."""

from pathlib import Path

import pytest

from asterism.config.environment import embedding_key, rerank_key
from asterism.config.layers import Layer, resolve
from asterism.config.load import embed_options, load, rerank_options
from asterism.config.model_sections import RerankSettings
from asterism.config.sections import TrustSettings
from asterism.config.settings import Settings
from asterism.config.trust import EntryState, entries, is_trusted, trustable
from asterism.models.embed.options import Provider
from asterism.models.rerank.options import RerankOptions
from asterism.types.errors import InputError, PathOutside, SettingError

HOSTILE = """
[embedding]
provider = "openai"
model = "text-embedding-3-small"
url = "https://collector.example/v1"
concurrency = 3
[rerank]
provider = "voyage"
model = "rerank-2.5-lite"
url = "https://collector.example/v1"
top = 1000
weight = 0.5
[cache]
max_bytes = 1
[discovery]
max_file_bytes = 77
"""
SECRET = "sk-not-to-be-seen"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository that wants to have the user's code."""
    root = tmp_path / "home" / "code" / "shop"
    root.mkdir(parents=True)
    (root / "asterism.toml").write_text(HOSTILE)
    return root


def say(tmp_path: Path, text: str) -> None:
    """Write the user's own settings."""
    file = tmp_path / "home/.config/asterism/config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_a_repository_does_not_decide_where_code_goes(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One warning names what is left out and what to do; everything else counts."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("VOYAGE_API_KEY", SECRET)
    loaded = load(repository)
    assert loaded.settings.embedding.provider == "local"
    assert loaded.settings.embedding.url == ""
    assert loaded.settings.rerank == RerankSettings(weight=0.5)
    assert rerank_options(loaded.settings) == RerankOptions("auto")
    assert loaded.settings.cache == Settings().cache
    assert loaded.settings.embedding.concurrency == 3
    assert loaded.settings.discovery.max_file_bytes == 77
    assert embed_options(loaded.settings).api_key == ""
    (warning,) = loaded.warnings
    assert (
        "asterism.toml: a repository may not set embedding.provider = 'openai' ('local' applies), "
        "embedding.model = 'text-embedding-3-small' ('' applies), "
        "embedding.url = 'https://collector.example/v1' ('' applies), "
    ) in warning
    assert "cache.max_bytes = 1 (2000000000 applies);" in warning
    assert f"run `asterism trust {repository}`" in warning


@pytest.mark.parametrize("named", ["{root}", "{root}/", "~/code/shop"])
def test_a_repository_that_is_trusted_decides(repository: Path, tmp_path: Path, named: str) -> None:
    """However the user writes its path."""
    link = tmp_path / "link"
    link.symlink_to(repository)
    say(tmp_path, f'[trust]\nrepositories = ["{named.format(root=repository)}"]')
    for way in (repository, link):
        loaded = load(way)
        assert loaded.settings.embedding.url == "https://collector.example/v1"
        assert loaded.settings.rerank.url == "https://collector.example/v1"
        assert loaded.settings.cache.max_bytes == 1
        assert loaded.warnings == ()


def test_trust_from_the_environment(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the user's own."""
    monkeypatch.setenv("ASTERISM_TRUST_REPOSITORIES", f"/elsewhere:{repository}")
    assert load(repository).settings.embedding.provider == "openai"


@pytest.mark.parametrize("named", ["~/code", "~/code/shop/inner", "~/code/sho"])
def test_trust_is_for_one_repository(repository: Path, tmp_path: Path, named: str) -> None:
    """Not for its neighbours, and not for what is cloned beside it."""
    say(tmp_path, f'[trust]\nrepositories = ["{named}"]')
    assert load(repository).settings.embedding.provider == "local"


def test_a_repository_cannot_trust_itself(repository: Path, tmp_path: Path) -> None:
    """Not even when it is trusted already: it could widen that to others."""
    (repository / "asterism.toml").write_text(f'{HOSTILE}[trust]\nrepositories = ["{repository}"]')
    assert load(repository).settings.embedding.provider == "local"
    say(tmp_path, f'[trust]\nrepositories = ["{repository}"]')
    loaded = load(repository)
    assert loaded.settings.embedding.provider == "openai"
    (warning,) = loaded.warnings
    assert "no repository may set trust.repositories = ['" in warning
    assert warning.endswith("only your own settings can say that.")
    assert "asterism trust" not in warning


def test_trust_is_advised_for_what_it_allows(repository: Path) -> None:
    """A key that only the user may set is named apart from those."""
    (repository / "asterism.toml").write_text("[rerank]\ntop = 9\n[server]\nport = 1\n")
    (warning,) = load(repository).warnings
    advised, users = warning.split(f"run `asterism trust {repository}`. ")
    assert "rerank.top" in advised
    assert "server.port" not in advised
    assert (
        users
        == "No repository may set server.port = 1 (8420 applies); only your own settings can say that."
    )


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('provider = "openai"\nmodel = "evil"', "The size of the vectors of 'evil' is not known."),
        ('model = "evil"', "embedding.model is 'evil', but the provider 'local' has only "),
        ("dimensions = 7", "embedding.dimensions is 7"),
    ],
)
def test_a_model_that_cannot_be_is_said_of_the_file(
    repository: Path, tmp_path: Path, written: str, said: str
) -> None:
    file = repository / "asterism.toml"
    file.write_text(f"[embedding]\n{written}\n")
    load(repository)
    say(tmp_path, f'[trust]\nrepositories = ["{repository}"]')
    with pytest.raises(SettingError) as caught:
        load(repository)
    message = str(caught.value)
    keys = ", ".join(f"embedding.{line.split()[0]}" for line in written.splitlines())
    assert message.startswith(f"{file} sets {keys}. ")
    assert said in message
    assert message.endswith(f"with `asterism untrust {repository}`.")


@pytest.mark.parametrize("section", ["embedding", "rerank"])
@pytest.mark.parametrize("origin", ["repository", "user", "call"])
def test_a_secret_outside_the_environment_is_an_error(
    repository: Path, tmp_path: Path, origin: str, section: str
) -> None:
    """It says which variable to use, and does not repeat the secret."""
    text = f'[{section}]\napi_key = "{SECRET}"'
    match origin:
        case "repository":
            (repository / "asterism.toml").write_text(text)
        case "user":
            say(tmp_path, text)
    with pytest.raises(SettingError) as caught:
        load(repository, {f"{section}.api_key": SECRET} if origin == "call" else None)
    variable = f"ASTERISM_{section.upper()}_API_KEY"
    assert f"set the environment variable {variable}" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_password_in_an_address_is_not_repeated() -> None:
    """The error shows the rest of it."""
    with pytest.raises(SettingError) as caught:
        resolve([Layer("call", {"embedding.url": f"https://me:{SECRET}@example.org/v1"})])
    assert "embedding.url = 'https://…@example.org/v1' is not allowed" in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("provider", "url", "expected"),
    [
        ("openai", "", "of openai"),
        ("voyage", "", "of voyage"),
        ("openai", "https://api.openai.com/v1/", "of openai"),
        ("openai", "http://localhost:1234/v1", ""),
        ("openai", "https://api.openai.com.example.org/v1", ""),
        ("voyage", "https://api.openai.com/v1", ""),
        ("openai", "http://api.openai.com/v1", ""),
    ],
)
def test_a_vendors_key_goes_to_the_vendor(
    monkeypatch: pytest.MonkeyPatch, provider: Provider, url: str, expected: str
) -> None:
    """Another server gets only a key that was meant for it."""
    monkeypatch.setenv("OPENAI_API_KEY", "of openai")
    monkeypatch.setenv("VOYAGE_API_KEY", "of voyage")
    assert embedding_key(provider, url) == expected
    monkeypatch.setenv("ASTERISM_EMBEDDING_API_KEY", "of asterism")
    assert embedding_key(provider, url) == "of asterism"
    assert embedding_key("local", url) == embedding_key("minilm", url) == ""


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("", "of voyage"),
        ("https://api.voyageai.com/v1/", "of voyage"),
        ("http://api.voyageai.com/v1", ""),
        ("http://localhost:1234/v1", ""),
    ],
)
def test_the_key_of_a_reranker(monkeypatch: pytest.MonkeyPatch, url: str, expected: str) -> None:
    """The key for embeddings at another address is not the reranker's."""
    monkeypatch.setenv("VOYAGE_API_KEY", "of voyage")
    monkeypatch.setenv("ASTERISM_EMBEDDING_API_KEY", "of the embeddings")
    assert rerank_key("voyage", url) == expected
    monkeypatch.setenv("ASTERISM_RERANK_API_KEY", "of the reranker")
    assert rerank_key("voyage", url) == "of the reranker"
    assert rerank_key("none", url) == ""
    assert embedding_key("openai", "http://localhost:1234/v1") == "of the embeddings"


def test_a_repository_is_trusted_by_its_real_place(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    trusting = Settings(trust=TrustSettings(repositories=(str(tmp_path / "real"),)))
    assert is_trusted(tmp_path / "real", trusting)
    assert is_trusted(tmp_path / "link", trusting)
    assert not is_trusted(tmp_path, trusting)
    assert not is_trusted(tmp_path / "real", Settings())


@pytest.mark.parametrize(
    ("written", "state"),
    [
        ("{base}/shop", EntryState.trusted),
        ("{base}/shop/", EntryState.trusted),
        ("{base}/other/../shop", EntryState.trusted),
        ("{base}/gone", EntryState.missing),
        ("{base}/shop/asterism.toml", EntryState.missing),
        # A repository, or a user with write access beside it, could change the link.
        ("{base}/link", EntryState.linked),
        ("{base}/shop/inner", EntryState.linked),
        ("{base}/link/below", EntryState.linked),
        (".", EntryState.relative),
        ("shop", EntryState.relative),
        ("", EntryState.relative),
        ("~stranger/shop", EntryState.relative),
    ],
)
def test_what_an_entry_means(
    tmp_path: Path, written: str, state: EntryState, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tmp_path / "base"
    (base / "shop").mkdir(parents=True)
    (base / "shop/asterism.toml").touch()
    (base / "evil/below").mkdir(parents=True)
    (base / "link").symlink_to("evil")
    (base / "shop/inner").symlink_to(base / "evil")
    monkeypatch.chdir(base / "shop")
    named = written.format(base=base)
    settings = Settings(trust=TrustSettings(repositories=(named,)))
    assert [one.state for one in entries(settings)] == [state]
    is_shop = state is EntryState.trusted
    assert is_trusted(base / "shop", settings) is is_shop
    assert not is_trusted(base / "evil", settings)
    assert not is_trusted(base / "evil/below", settings)


def test_the_home_directory_may_be_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "volume/me/shop").mkdir(parents=True)
    (tmp_path / "me").symlink_to("volume/me")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    settings = Settings(trust=TrustSettings(repositories=("~/shop",)))
    assert is_trusted(tmp_path / "me/shop", settings)


def checkout(place: Path) -> Path:
    """A directory that git would take for a repository."""
    (place / ".git").mkdir(parents=True)
    (place / ".git/HEAD").write_text("ref: refs/heads/main\n")
    return place


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("link", "leads through a link to"),
        ("outer/turned/deep", "leads through a link to"),
        ("link/../shop", "leads through a link to"),
        ("outer/vendor", "is part of the checkout"),
        ("gone", "There is no directory"),
        ("file", "is not a directory"),
    ],
)
def test_what_cannot_be_trusted(
    tmp_path: Path, given: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the author of a repository could make mean something else."""
    checkout(tmp_path / "shop")
    (tmp_path / "elsewhere/deep").mkdir(parents=True)
    (tmp_path / "elsewhere/shop").mkdir()
    outer = checkout(tmp_path / "outer")
    (outer / "vendor").mkdir()
    (outer / "turned").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere/deep")
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    for way in (given, str(tmp_path / given)):
        with pytest.raises((InputError, PathOutside)) as caught:
            trustable(way, Settings())
        assert why in str(caught.value)


def test_a_part_of_a_trusted_checkout_can_be_trusted(tmp_path: Path) -> None:
    outer = checkout(tmp_path / "outer")
    (outer / "part").mkdir()
    settings = Settings(trust=TrustSettings(repositories=(str(outer),)))
    assert not is_trusted(outer / "part", settings)
    assert trustable(str(outer / "part"), settings) == str(outer / "part")
