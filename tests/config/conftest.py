"""An environment without the settings of the machine's user."""

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what a test sets is set."""
    for variable in list(os.environ):
        if variable.startswith(("ASTERISM_", "CODEINFO_", "XDG_")) or variable.endswith("_API_KEY"):
            monkeypatch.delenv(variable)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
