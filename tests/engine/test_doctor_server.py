"""Does the doctor tell whom a server would answer, and never the token?"""

from pathlib import Path
from typing import Any

import pytest

from asterism.config.sections import ServerSettings
from asterism.config.server_token import TokenFile
from asterism.config.settings import Settings
from asterism.engine.doctor.checks import server_findings
from asterism.engine.doctor.machine import Finding, Severity


@pytest.fixture(autouse=True)
def no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASTERISM_SERVER_TOKEN", raising=False)


def found(data: Path, **server: Any) -> Finding:
    (finding,) = server_findings(Settings(server=ServerSettings(**server)), data)
    return finding


def test_none_is_made_by_looking(tmp_path: Path) -> None:
    finding = found(tmp_path)
    assert (finding.verdict, finding.message) == (
        Severity.ok,
        "`asterism serve` makes one when it starts",
    )
    assert [*tmp_path.iterdir()] == []


def test_a_private_one_is_well_and_not_shown(tmp_path: Path) -> None:
    token = TokenFile(tmp_path).ensure()
    finding = found(tmp_path)
    assert finding.verdict is Severity.ok
    assert finding.message.endswith("server/token, for you alone")
    assert token not in str(finding)


@pytest.mark.parametrize(("mode", "said"), [(0o644, "others may use it"), (0o602, "mode 602")])
def test_one_that_others_may_use_is_told(tmp_path: Path, mode: int, said: str) -> None:
    file = TokenFile(tmp_path)
    token = file.ensure()
    file.path.chmod(mode)
    finding = found(tmp_path)
    assert finding.verdict is Severity.warning
    assert said in finding.message
    assert "replaces it" in finding.advice
    assert token not in str(finding)


def test_what_the_user_has_set_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(tmp_path, access="open").verdict is Severity.warning
    assert found(tmp_path, token_file="/x/token").message == "your own, from /x/token"
    monkeypatch.setenv("ASTERISM_SERVER_TOKEN", "0123456789abcdef")
    finding = found(tmp_path)
    assert finding.message == "your own, from ASTERISM_SERVER_TOKEN"
    assert "0123456789abcdef" not in str(finding)
