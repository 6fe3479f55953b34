"""Are agents found where they live, and those of a repository only where it is trusted?"""

import re
from pathlib import Path

import pytest

from asterism.context.agents.parse import problems_of
from asterism.engine.agents import AgentPlaces
from asterism.types.agent_settings import SETTINGS
from asterism.types.errors import InputError, PathMissing

ROOT = Path(__file__).resolve().parents[2]


def write(folder: Path, name: str, text: str = "description: x\n") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.yaml").write_text(text)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    write(tmp_path / "repo" / ".asterism" / "agents", "theirs", "description: theirs\n")
    write(tmp_path / "repo" / ".asterism" / "agents", "both", "description: theirs\n")
    write(tmp_path / "data" / "agents", "both", "description: mine\n")
    return tmp_path / "repo"


def test_one_agent_comes_with_us(tmp_path: Path) -> None:
    (only,) = AgentPlaces(tmp_path / "data").list()
    assert (only.origin, only.file.name, only.file.problems) == ("built-in", "reader", ())


def test_the_users_come_before_a_trusted_repositorys(tmp_path: Path, repository: Path) -> None:
    places = AgentPlaces(tmp_path / "data", repository, trusted=True)
    assert [(one.origin, one.file.name) for one in places.list()] == [
        ("user", "both"),
        ("built-in", "reader"),
        ("repository", "theirs"),
    ]
    assert places.load("both").description == "mine"
    assert places.notes() == ()


def test_a_repository_that_is_not_trusted_is_told_of(tmp_path: Path, repository: Path) -> None:
    places = AgentPlaces(tmp_path / "data", repository, trusted=False)
    assert [one.file.name for one in places.list()] == ["both", "reader"]
    (note,) = places.notes()
    assert "(both, theirs)" in note
    assert "asterism trust" in note
    with pytest.raises(PathMissing, match="asterism trust"):
        places.load("theirs")


def test_a_broken_file_is_listed_with_its_problems(tmp_path: Path) -> None:
    write(tmp_path / "agents", "broken", "rules: [{name: A, include: sometimes, text: x}]\n")
    broken, _reader = AgentPlaces(tmp_path).list()
    assert broken.file.agent is None
    assert "include" in str(broken.file.problems[0])


def test_an_agent_that_is_switched_off_is_not_used(tmp_path: Path) -> None:
    write(tmp_path / "agents", "off", "enabled: false\n")
    with pytest.raises(InputError, match="switched off"):
        AgentPlaces(tmp_path).load("off")


def test_what_comes_with_us_is_not_edited(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Copy it first"):
        AgentPlaces(tmp_path).changeable("reader")


def test_an_unknown_agent_is_an_error_that_names_the_known(tmp_path: Path) -> None:
    with pytest.raises(PathMissing, match="there are: reader"):
        AgentPlaces(tmp_path).load("unknown")


def test_examples_are_agents_without_problems() -> None:
    example = (ROOT / "examples" / "agents" / "harbor.yaml").read_text()
    assert problems_of(example) == ()
    page = (ROOT / "docs" / "agents.md").read_text()
    (shown,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert problems_of(shown) == ()


def test_the_page_names_the_settings_with_their_defaults() -> None:
    page = (ROOT / "docs" / "agents.md").read_text()
    for name in ("contextTopK", "contextTopN", "contextIncludeScore", "toolPermission"):
        assert f"| `{name}` | {SETTINGS[name].default} |" in page
