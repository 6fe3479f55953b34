"""Variables that nothing reads are named: a misspelt one may decide where code is sent."""

from pathlib import Path

import pytest

from asterism.config.load import load


def test_a_misspelt_variable_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASTERISM_EMBEDDING_BASE_URL", "http://localhost:1/v1")
    monkeypatch.setenv("ASTERISM_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("ASTERISM_EMBEDDING_API_KEY", "secret")
    (warning,) = load(tmp_path).warnings
    assert warning == (
        "the environment: ASTERISM_EMBEDDING_BASE_URL is ignored; "
        "did you mean ASTERISM_EMBEDDING_URL?"
    )


def test_a_variable_like_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASTERISM_QQQ", "1")
    assert load(tmp_path).warnings == (
        "the environment: ASTERISM_QQQ is ignored; no setting has that name.",
    )
