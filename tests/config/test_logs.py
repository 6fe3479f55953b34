"""Do the settings start the log that they describe, and nothing else?"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from asterism.config.load import load, log_options, start_logs
from asterism.config.sections import LogSettings
from asterism.config.settings import Settings
from asterism.telemetry.events import log_event
from asterism.telemetry.log import LogOptions, stop_logging
from asterism.types.errors import SettingError


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    yield
    stop_logging()


@pytest.mark.parametrize(
    ("settings", "serving", "expected"),
    [
        (LogSettings(), False, LogOptions("off")),
        (LogSettings(), True, LogOptions("info")),
        (LogSettings(file="/var/log/a"), False, LogOptions("info", file="/var/log/a")),
        (LogSettings(level="debug"), False, LogOptions("debug")),
        (LogSettings(level="off", file="/var/log/a"), True, LogOptions("off", file="/var/log/a")),
        (LogSettings(level="error", format="json"), True, LogOptions("error", "json")),
    ],
)
def test_who_logs_how_much(settings: LogSettings, serving: bool, expected: LogOptions) -> None:
    assert log_options(Settings(log=settings), serving) == expected


def test_home_is_understood(tmp_path: Path) -> None:
    options = log_options(Settings(log=LogSettings(file="~/logs/a.log")))
    assert options.file == str(tmp_path / "home" / "logs" / "a.log")


def test_a_path_from_nowhere_is_refused() -> None:
    with pytest.raises(SettingError, match=r"log\.file = 'a\.log' is not allowed"):
        log_options(Settings(log=LogSettings(file="a.log")))


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    with pytest.raises(SettingError, match=r"log\.file = .* cannot be written .*; give another"):
        start_logs(Settings(log=LogSettings(file=str(tmp_path / "plain" / "log"))))


def test_keys_of_the_environment_are_never_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "log"
    monkeypatch.setenv("VOYAGE_API_KEY", "a-key-without-any-form")
    monkeypatch.setenv("ASTERISM_RERANK_API_KEY", "another-plain-one")
    start_logs(Settings(log=LogSettings(format="json", file=str(file))))
    log_event("retry", reason="a-key-without-any-form, then another-plain-one")
    assert json.loads(file.read_text())["reason"] == "…, then …"


def test_a_repository_says_nothing_about_the_log(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "asterism.toml").write_text('[log]\nlevel = "debug"\nfile = "/etc/passwd"\n')
    loaded = load(root)
    assert loaded.settings.log == LogSettings()
    (said,) = loaded.warnings
    assert "no repository may set log.level = 'debug'" in said
