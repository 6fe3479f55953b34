"""Does a program get what a request should know, in records of its own?"""

from pathlib import Path

import pytest

import asterism

AGENT = """\
rules:
  - name: Brief
    priority: 700
    text: Be brief.
references:
  - name: Ports
    description: Network ports of the shop
    include: agent
    text: The shop listens on network port 3000.
"""


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASTERISM_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("ASTERISM_CACHE_DIR", str(tmp_path / "cache"))
    agents = tmp_path / "data" / "agents"
    agents.mkdir(parents=True)
    (agents / "shop.yaml").write_text(AGENT)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    return tmp_path


def test_what_a_request_should_know() -> None:
    known = asterism.context_for("On which network port does the shop listen?", agent="shop")
    assert known.agent == "shop"
    (rule,) = known.rules
    assert (rule.name, rule.mode, rule.priority, rule.text) == (
        *("Brief", "always", 700, "Be brief."),
    )
    (reference,) = known.references
    assert reference.score is not None
    assert reference.mode == "agent"
    assert reference.why
    assert (known.tools, known.code, known.left_out) == ((), (), ())
    assert 0 < known.used_tokens <= known.budget == 8_000
    assert any("no index" in note for note in known.notes)


def test_code_of_a_repository(places: Path) -> None:
    root = places / "repo"
    root.mkdir()
    (root / "port.py").write_text("def shop_port():\n    return 3000\n")
    with asterism.open(root) as code:
        code.sync()
    known = asterism.context_for("which port has the shop", root, agent="shop", min_score=0)
    assert [part.place for part in known.code] == ["port.py:1-2"]
    assert "return 3000" in known.code[0].text


def test_what_is_not_relevant_is_listed() -> None:
    known = asterism.context_for("sing me a song about whales", agent="shop")
    assert [(left.what, left.reason) for left in known.left_out] == [("ref:Ports", "not_relevant")]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"request": 1}, "request"),
        ({"request": " "}, "empty"),
        ({"request": "x", "agent": "stranger"}, "there are: reader, shop"),
        ({"request": "x", "session": "nowhere"}, "no session"),
        ({"request": "x", "max_tokens": 1}, "budget"),
        ({"request": "x", "path": "/no/such/place"}, "does not exist"),
    ],
)
def test_mistakes_are_told(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(asterism.AsterismError, match=words):
        asterism.context_for(**arguments)  # type: ignore[arg-type]
