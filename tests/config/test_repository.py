"""What a repository's file may do with every setting there is."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.config.environment import cores
from asterism.config.layers import Layer, resolve
from asterism.config.load import load, worker_count
from asterism.config.setting import (
    Setting,
    SettingKind,
    Value,
    Voice,
    Zero,
    described,
    rules,
    whole,
)
from asterism.config.settings import Settings, all_settings

MAY: Mapping[Voice, set[str]] = {
    Voice.anyone: {"rerank.weight"},
    Voice.only_higher: {"watch.debounce_ms"},
    Voice.only_lower: {
        "chat.chunk_max_chars",
        "chat.cutoff_disabled",
        "chat.distance_cutoff",
        "chat.fallback_chunks",
        "chat.max_chars",
        "chat.max_turns",
        "chat.retries",
        "chunks.max_tokens",
        "discovery.max_file_bytes",
        "embedding.batch_size",
        "embedding.concurrency",
        "embedding.timeout_seconds",
        "index.batch_bytes",
        "index.sync_seconds",
        "model.attempts",
        "model.max_output_tokens",
        "model.timeout_seconds",
        "model.total_seconds",
        "model.window",
        "rerank.seconds",
        "rerank.timeout_seconds",
        "structure.memory_mb",
        "structure.wait_seconds",
        "watch.servers",
        "work.jobs",
    },
    Voice.trusted: {
        "cache.max_bytes",
        "context.model",
        "embedding.dimensions",
        "embedding.model",
        "embedding.provider",
        "embedding.upgrade",
        "embedding.url",
        "model.name",
        "model.provider",
        "model.url",
        "rerank.model",
        "rerank.provider",
        "rerank.top",
        "rerank.url",
    },
    Voice.user: {
        "log.file",
        "log.format",
        "log.level",
        "masking.report",
        "records.url",
        "server.access",
        "server.allowed_hosts",
        "server.allowed_origins",
        "server.cpu_seconds",
        "server.cpu_window",
        "server.host",
        "server.max_body_bytes",
        "server.port",
        "server.query_seconds",
        "server.read_only",
        "server.roots",
        "server.token_file",
        "structure.cpp",
        "structure.go",
        "structure.java",
        "structure.python",
        "structure.rust",
        "structure.typescript",
        "trust.repositories",
    },
}
"""Written by hand: a new setting belongs in one of these lists."""

SETTINGS = {setting.key: setting for setting in all_settings()}


def test_every_setting_declares_what_a_repository_may_do() -> None:
    assert {voice: set(keys) for voice, keys in rules(all_settings()).items()} == MAY


@pytest.mark.parametrize("declare", [whole, described])
def test_a_setting_cannot_be_described_without_it(declare: object) -> None:
    kind = () if declare is whole else (SettingKind.whole,)
    with pytest.raises(TypeError, match="voice"):
        declare(*kind, 1, "Made up.")  # type: ignore[operator]


def among(setting: Setting) -> tuple[Value, Value, Value]:
    """Three allowed values, the lowest first; what has no order in any order."""
    match setting.kind:
        case SettingKind.boolean:
            return False, False, True
        case SettingKind.whole | SettingKind.decimal:
            low = setting.minimum or 0
            high = low + 3 if setting.maximum is None else setting.maximum
            low, middle = (1, 2) if setting.zero is not Zero.number else (low, (low + high) / 2)
            kind = float if setting.kind is SettingKind.decimal else int
            return kind(low), kind(middle), kind(high)
        case SettingKind.paths:
            return ("/a",), ("/b",), ("/c",)
        case SettingKind.address:
            return "https://a.example", "https://b.example", "https://c.example"
        case SettingKind.text:
            found = setting.choices or ("a", "b", "c")
            return found[0], found[1], found[-1]


def value_of(settings: Settings, key: str) -> object:
    """The resolved value of a setting."""
    section, name = key.split(".")
    return getattr(getattr(settings, section), name)


def resolved(key: str, written: Value, users: Value, trusted: bool) -> tuple[object, int]:
    """What applies of a repository's and a user's value, and how many warnings there are."""
    repository = Layer("asterism.toml", {key: written}, repository="/r", trusted=trusted)
    found = resolve([repository, Layer("user", {key: users})], cores=64)
    return value_of(found.settings, key), len(found.warnings)


@pytest.mark.parametrize("key", sorted(SETTINGS))
def test_a_repository_changes_only_what_the_setting_declares(key: str) -> None:
    """The value below the user's, the user's own, and the one above it."""
    setting = SETTINGS[key]
    low, users, high = among(setting)
    voice = setting.voice
    same = low == users and voice is not Voice.user
    takes_low = voice in (Voice.anyone, Voice.only_lower) or same
    takes_high = voice in (Voice.anyone, Voice.only_higher)
    assert resolved(key, low, users, False) == ((low, 0) if takes_low else (users, 1))
    assert resolved(key, users, users, False) == (users, 1 if voice is Voice.user else 0)
    same = high == users and voice is not Voice.user
    assert resolved(key, high, users, False) == ((high, 0) if takes_high or same else (users, 1))


@pytest.mark.parametrize("key", sorted(SETTINGS))
def test_a_trusted_repository_changes_all_but_what_is_the_users(key: str) -> None:
    low, users, high = among(SETTINGS[key])
    for written in {low, high} - {users}:
        taken = SETTINGS[key].voice is not Voice.user
        assert resolved(key, written, users, True) == ((written, 0) if taken else (users, 1))


@pytest.mark.parametrize(
    ("key", "written", "users", "applies"),
    [
        # 0 is the most: one process per core, as many tokens as the model reads.
        ("work.jobs", 0, 2, 2),
        ("work.jobs", 3, 0, 3),
        ("work.jobs", 64, 0, 64),
        ("work.jobs", 65, 0, 0),
        ("model.window", 0, 8_000, 8_000),
        ("model.window", 8_000, 0, 0),
        ("model.window", 4_000, 8_000, 4_000),
        ("embedding.batch_size", 2_048, 0, 0),
        # 0 is the least.
        ("index.sync_seconds", 0, 2.0, 0.0),
        ("watch.servers", True, False, False),
        ("watch.servers", False, True, False),
        ("chat.cutoff_disabled", True, False, False),
    ],
)
def test_what_is_lower(key: str, written: Value, users: Value, applies: Value) -> None:
    assert resolved(key, written, users, False)[0] == applies


def test_without_a_value_of_the_users_the_default_is_the_limit() -> None:
    hostile = {key: among(setting)[2] for key, setting in SETTINGS.items()}
    lower = {
        key: value for key, value in hostile.items() if SETTINGS[key].voice is Voice.only_lower
    }
    given = {key: value for key, value in lower.items() if key != "work.jobs"}
    found = resolve([Layer("asterism.toml", given, repository="/r")], cores=2).settings
    for key in given:
        default = SETTINGS[key].default
        assert value_of(found, key) in (default, min(default, given[key]))


def test_a_value_of_the_call_hides_none_of_it() -> None:
    """The call comes before the repository; the repository is compared with the user's files."""
    repository = Layer("asterism.toml", {"chat.max_turns": 30}, repository="/r")
    layers = [Layer("call", {"chat.max_turns": 40}), repository]
    found = resolve(layers, cores=2)
    assert found.settings.chat.max_turns == 40
    assert "chat.max_turns = 30 (20 applies)" in found.warnings[0]


def test_one_warning_names_key_value_and_what_applies() -> None:
    given = {"work.jobs": 300, "watch.debounce_ms": 0, "log.level": "debug", "chat.retries": 10}
    (warning,) = resolve([Layer("x.toml", given, repository="/r")], cores=4).warnings
    assert warning == (
        "x.toml: a repository may only lower work.jobs = 300 (0 applies), chat.retries = 10 "
        "(0 applies), and may only raise watch.debounce_ms = 0 (300 applies); if you trust it, "
        "run `asterism trust /r`. No repository may set log.level = 'debug' ('auto' applies); "
        "only your own settings can say that."
    )


def test_a_warning_has_an_end() -> None:
    given = {key: among(s)[2] for key, s in SETTINGS.items() if s.voice is Voice.user}
    (warning,) = resolve([Layer("x.toml", given, repository="/r")], cores=4).warnings
    assert f"and {len(given) - 10} more;" in warning


@pytest.mark.parametrize(
    "url",
    ["https://h.example/?token=abcdefghijklmnop", f"https://h.example/{'a' * 90}?key=abcdefghijkl"],
)
def test_a_warning_shows_no_secret(url: str) -> None:
    (warning,) = resolve([Layer("x", {"model.url": url}, repository="/r")], cores=4).warnings
    assert "abcdefghijkl" not in warning


def test_no_layer_starts_more_processes_than_there_are_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository's value is refused; a user's value is lowered with a warning."""
    most = cores()
    (tmp_path / "asterism.toml").write_text("[work]\njobs = 300\n")
    loaded = load(tmp_path)
    assert worker_count(loaded.settings) == most
    assert "may only lower work.jobs = 300 (0 applies)" in loaded.warnings[0]
    (tmp_path / "asterism.toml").unlink()
    called = load(tmp_path, {"work.jobs": 300})
    assert called.settings.work.jobs == most
    assert called.warnings == (
        f"the call: work.jobs = 300 is more than the {most} cores of this machine; {most} applies.",
    )
    monkeypatch.setenv("ASTERISM_WORK_JOBS", "300")
    (warning,) = load(tmp_path).warnings
    assert warning.startswith("the environment: ASTERISM_WORK_JOBS = 300 is more than the ")
    assert load(tmp_path, {"work.jobs": 1}).settings.work.jobs == 1


def test_a_trusted_repository_gets_no_more_cores_either() -> None:
    layer = Layer("x.toml", {"work.jobs": 300}, repository="/r", trusted=True)
    found = resolve([layer], cores=3)
    assert found.settings == replace(Settings(), work=replace(Settings().work, jobs=3))
    assert len(found.warnings) == 1
