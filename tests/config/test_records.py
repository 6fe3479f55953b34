"""Where conversations are kept: said by the user alone, with the password in the environment."""

from pathlib import Path

import pytest

from asterism.config.environment import secret_values
from asterism.config.load import load
from asterism.config.options import records_options
from asterism.types.errors import SettingError


def test_by_default_a_file_in_the_data_directory(tmp_path: Path) -> None:
    options = records_options(load(tmp_path).settings, tmp_path / "data")
    assert (options.file, options.url) == (tmp_path / "data" / "records.sqlite", "")


def test_the_password_comes_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASTERISM_RECORDS_URL", "postgresql://me@db/records")
    monkeypatch.setenv("ASTERISM_RECORDS_PASSWORD", "very-secret")
    options = records_options(load(tmp_path).settings, tmp_path)
    assert (options.url, options.password) == ("postgresql://me@db/records", "very-secret")
    assert "very-secret" in secret_values()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:secret@db/records",
        "postgresql+psycopg://me:secret@db/records",
        "postgresql://db/records?password=secret",
        "postgresql://db/records?user=me&password=secret",
    ],
)
def test_a_password_in_the_address_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("ASTERISM_RECORDS_URL", url)
    with pytest.raises(SettingError, match="ASTERISM_RECORDS_PASSWORD") as caught:
        records_options(load(tmp_path).settings, tmp_path)
    assert "secret" not in str(caught.value)


def test_a_password_in_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "asterism.toml").write_text('[records]\npassword = "very-secret"\n')
    with pytest.raises(SettingError, match="ASTERISM_RECORDS_PASSWORD") as caught:
        load(tmp_path)
    assert "very-secret" not in str(caught.value)


def test_a_repository_does_not_say_where_conversations_go(tmp_path: Path) -> None:
    (tmp_path / "asterism.toml").write_text('[records]\nurl = "postgresql://thief/all"\n')
    loaded = load(tmp_path, {"trust.repositories": [str(tmp_path)]})
    assert loaded.settings.records.url == ""
    assert any("records.url" in warning for warning in loaded.warnings)
