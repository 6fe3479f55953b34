"""Where other programs keep their settings, on each system."""

from pathlib import Path

import pytest

from asterism.config.environment import user_directories
from asterism.types.errors import SettingError

VARIABLES = ("HOME", "USERPROFILE", "XDG_CONFIG_HOME", "APPDATA", "CLAUDE_CONFIG_DIR", "CODEX_HOME")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize(
    ("platform", "variables", "config", "applications"),
    [
        ("linux", {"HOME": "/h"}, "/h/.config", "/h/.config"),
        ("linux", {"HOME": "/h", "XDG_CONFIG_HOME": "/c"}, "/c", "/c"),
        ("darwin", {"HOME": "/h"}, "/h/.config", "/h/Library/Application Support"),
        ("win32", {"USERPROFILE": "/h", "APPDATA": "/a"}, "/h/.config", "/a"),
        ("win32", {"USERPROFILE": "/h"}, "/h/.config", "/h/AppData/Roaming"),
    ],
)
def test_each_system(
    monkeypatch: pytest.MonkeyPatch,
    platform: str,
    variables: dict[str, str],
    config: str,
    applications: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = user_directories(platform)
    assert found == (Path("/h"), Path(config), Path(applications), None, None)


def test_directories_that_were_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/h")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/x/claude")
    monkeypatch.setenv("CODEX_HOME", "/x/codex")
    found = user_directories("linux")
    assert (found.claude, found.codex) == (Path("/x/claude"), Path("/x/codex"))


@pytest.mark.parametrize("variables", [{}, {"HOME": "h"}, {"HOME": "/h", "CODEX_HOME": "x"}])
def test_no_place(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingError, match=r"is not set|give an absolute path"):
        user_directories("linux")
