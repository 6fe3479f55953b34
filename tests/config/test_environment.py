"""What is read from the environment: settings under two names, and the places of our files."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.config.environment import (
    agent_variable,
    cache_directory,
    data_directory,
    environment_layer,
    handed_on,
)
from asterism.config.layers import resolve
from asterism.config.options import vector_options
from asterism.config.setting import Setting, SettingKind, Voice
from asterism.config.settings import Settings, all_settings
from asterism.search.selection.options import CHAT, SelectionOptions
from asterism.types.errors import SettingError

CUTOFF = Setting(
    "made",
    "up",
    SettingKind.decimal,
    1.0,
    "Made up.",
    Voice.anyone,
    minimum=0,
    older_variable="OLD_CUTOFF",
)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, None),
        ({"OLD_CUTOFF": "1.5"}, ("1.5", "OLD_CUTOFF")),
        ({"OLD_CUTOFF": "1.5", "ASTERISM_MADE_UP": ""}, ("1.5", "OLD_CUTOFF")),
        ({"OLD_CUTOFF": "1.5", "ASTERISM_MADE_UP": "2"}, ("2", "ASTERISM_MADE_UP")),
        ({"OLD_CUTOFF": "", "ASTERISM_MADE_UP": "2"}, ("2", "ASTERISM_MADE_UP")),
    ],
)
def test_an_older_name_counts_where_the_present_one_is_not_set(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: tuple[str, str] | None
) -> None:
    """And a warning can say which of the two it was."""
    monkeypatch.delenv("OLD_CUTOFF", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    layer = environment_layer([CUTOFF])
    found = (layer.values.get("made.up"), layer.variables.get("made.up"))
    assert found == (expected or (None, None))


def test_values_of_every_kind_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    """From text to what the setting holds."""
    monkeypatch.setenv("ASTERISM_EMBEDDING_PROVIDER", "voyage")
    monkeypatch.setenv("ASTERISM_INDEX_SYNC_SECONDS", "0.5")
    monkeypatch.setenv("ASTERISM_CACHE_MAX_BYTES", "0")
    monkeypatch.setenv("ASTERISM_EMBEDDING_URL", "nowhere")
    settings, warnings, _ = resolve([environment_layer()])
    assert settings.embedding.provider == "voyage"
    assert settings.index.sync_seconds == 0.5
    assert settings.cache.max_bytes == 0
    assert settings.embedding.url == ""
    assert len(warnings) == 1
    assert "ASTERISM_EMBEDDING_URL = 'nowhere' is not allowed; give an address" in warnings[0]


OLDER: list[tuple[str, str, SelectionOptions]] = [
    ("CODEINFO_RETRIEVAL_DISTANCE_CUTOFF", "0.9", replace(CHAT, distance_cutoff=0.9)),
    ("CODEINFO_RETRIEVAL_CUTOFF_DISABLED", "true", replace(CHAT, distance_cutoff=None)),
    ("CODEINFO_RETRIEVAL_FALLBACK_CHUNKS", "0", replace(CHAT, min_keep=0)),
    ("CODEINFO_TOOL_MAX_CHARS", "12000", replace(CHAT, max_chars=12_000)),
    ("CODEINFO_TOOL_CHUNK_MAX_CHARS", "800", replace(CHAT, max_chunk_chars=800)),
]


@pytest.mark.parametrize(("variable", "value", "expected"), OLDER)
def test_the_older_names(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, expected: SelectionOptions
) -> None:
    """Each changes what a search gives to a chat; a wrong value is named and ignored."""
    assert vector_options(Settings()).selection == CHAT
    monkeypatch.setenv(variable, value)
    settings, warnings, _ = resolve([environment_layer()])
    assert vector_options(settings).selection == expected
    assert warnings == ()
    monkeypatch.setenv(variable, "plenty")
    settings, warnings, _ = resolve([environment_layer()])
    assert vector_options(settings).selection == CHAT
    (warning,) = warnings
    assert f"{variable} = 'plenty' is not allowed" in warning


def test_there_are_no_other_older_names() -> None:
    found = {setting.older_variable for setting in all_settings()} - {None}
    assert found == {variable for variable, _, _ in OLDER}


Directory = Callable[[str], Path]


@pytest.mark.parametrize(
    ("directory", "platform", "variables", "expected"),
    [
        (data_directory, "linux", {}, "/home/me/.local/share/asterism"),
        (cache_directory, "linux", {}, "/home/me/.cache/asterism"),
        (data_directory, "linux", {"XDG_DATA_HOME": "/data"}, "/data/asterism"),
        (cache_directory, "linux", {"XDG_CACHE_HOME": "/fast"}, "/fast/asterism"),
        (data_directory, "linux", {"XDG_CACHE_HOME": "/fast"}, "/home/me/.local/share/asterism"),
        (data_directory, "darwin", {}, "/home/me/Library/Application Support/asterism"),
        (cache_directory, "darwin", {}, "/home/me/Library/Caches/asterism"),
        (data_directory, "darwin", {"XDG_DATA_HOME": "/data"}, "/data/asterism"),
        (data_directory, "win32", {"LOCALAPPDATA": "/local"}, "/local/asterism/data"),
        (cache_directory, "win32", {"LOCALAPPDATA": "/local"}, "/local/asterism/cache"),
        (data_directory, "linux", {"ASTERISM_DATA_DIR": "/mine", "XDG_DATA_HOME": "/x"}, "/mine"),
        (cache_directory, "win32", {"ASTERISM_CACHE_DIR": "/mine"}, "/mine"),
        (cache_directory, "linux", {"ASTERISM_CACHE_DIR": "/mine", "HOME": ""}, "/mine"),
    ],
)
def test_places_are_where_the_system_wants_them(
    monkeypatch: pytest.MonkeyPatch,
    directory: Directory,
    platform: str,
    variables: dict[str, str],
    expected: str,
) -> None:
    """Our own variable comes first, then the system's, then the home directory."""
    for name, value in {"HOME": "/home/me", **variables}.items():
        monkeypatch.setenv(name, value)
    assert directory(platform) == Path(expected)


@pytest.mark.parametrize(
    ("platform", "variables", "message"),
    [
        ("linux", {"HOME": ""}, "HOME is not set; set it, or ASTERISM_DATA_DIR to a directory"),
        ("win32", {}, "LOCALAPPDATA is not set"),
        ("linux", {"ASTERISM_DATA_DIR": "data"}, "ASTERISM_DATA_DIR = 'data' is not allowed"),
        ("linux", {"XDG_DATA_HOME": "./data"}, "XDG_DATA_HOME = './data' is not allowed"),
        ("linux", {"HOME": "me"}, "HOME = 'me' is not allowed; give an absolute path"),
    ],
)
def test_a_place_that_cannot_be_is_an_error(
    monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], message: str
) -> None:
    """It says which variable to set; nothing is put below the current directory."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingError) as caught:
        data_directory(platform)
    assert message in str(caught.value)


def test_servers_get_where_things_are_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/programs")
    monkeypatch.setenv("SOME_API_KEY", "s3cret")
    monkeypatch.delenv("TMPDIR", raising=False)
    given = handed_on()
    assert given["PATH"] == "/programs"
    assert "SOME_API_KEY" not in given
    assert "TMPDIR" not in given


def test_a_variable_that_an_agent_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HUB_TOKEN", "s3cret")
    monkeypatch.setenv("BLANK_TOKEN", "")
    assert agent_variable("HUB_TOKEN") == "s3cret"
    assert agent_variable("BLANK_TOKEN") is None
    assert agent_variable("NOT_SET_AT_ALL") is None
