"""`asterism agent`, `context` and `session`: for people and as JSON, bad input included."""

import io
import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run

FAKE = Path(__file__).parents[1] / "toolservers" / "fake_server.py"
AGENT = f"""\
# Ours.
description: Sells things
rules:
  - name: Brevity
    priority: 900
    text: Be brief.
  - name: Tokens
    description: Validating access tokens, keys
    include: agent
    text: Access tokens are validated by the token service.
references:
  - name: Hours
    include: manual
    text: We open at nine.
servers:
  - name: fake
    command: {json.dumps(sys.executable)}
    args: [{json.dumps(str(FAKE))}, ok]
    environment: {{TOKEN: "env:SHOP_TOKEN"}}
    permission: always
"""


@pytest.fixture
def agent(places: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHOP_TOKEN", "t0p-s3cret-value")
    file = places / "data" / "agents" / "shop.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(AGENT)
    return file


def test_agents_are_listed(run: Run, agent: Path) -> None:
    done = run("agent")
    assert (done.code, done.err) == (0, "")
    first, second = done.out.splitlines()
    assert first.split()[:2] == ["reader", "built-in"]
    assert second.split()[:4] == ["shop", "user", "2", "rules,"]
    listed = json.loads(run("agent", "list", "--json").out)
    assert [entry["name"] for entry in listed["agents"]] == ["reader", "shop"]


def test_an_agent_is_shown_with_its_tools_and_no_secret(run: Run, agent: Path) -> None:
    done = run("agent", "show", "shop", "--tools")
    assert (done.code, done.err) == (0, "")
    assert "  900 • Brevity [Always]" in done.out
    assert "  fake. • echo [Always]  Say something again" in done.out
    shown = run("agent", "show", "shop", "--json").out
    assert json.loads(shown)["servers"][0]["environment"] == {"TOKEN": "env:SHOP_TOKEN"}
    assert "t0p-s3cret-value" not in done.out + shown


def test_an_agent_is_made_edited_and_keeps_its_comments(run: Run, agent: Path) -> None:
    assert run("agent", "new", "mine", "--description", "Mine").code == 0
    edited = run(
        *("agent", "edit", "shop", "--add", "rule:Cents", "--text", "Whole cents."),
        *("--include", "agent", "--set", "settings.contextTopN=2"),
        *("--set", "rules.Brevity.priority=100"),
    )
    assert (edited.code, edited.err) == (0, "")
    text = agent.read_text()
    assert text.startswith("# Ours.\n")
    assert "priority: 100" in text
    shown = json.loads(run("agent", "show", "shop", "--json").out)
    assert [rule["name"] for rule in shown["rules"]] == ["Cents", "Tokens", "Brevity"]
    assert shown["settings"] == {"contextTopN": 2}
    assert run("agent", "edit", "shop", "--set", "settings.contextTopN=").code == 0
    assert json.loads(run("agent", "show", "shop", "--json").out)["settings"] == {}
    assert run("agent", "edit", "shop", "--remove", "rule:Cents", "--disable").code == 0
    refused = run("context", "hello", "--agent", "shop")
    assert refused.code == 2
    assert "switched off" in refused.err
    assert run("agent", "edit", "shop", "--enable").code == 0


def test_an_edit_without_changes_tells_where_the_file_is(run: Run, agent: Path) -> None:
    assert run("agent", "edit", "shop").out == f"{agent}\n"


def test_a_broken_file_is_checked_by_line_and_key(run: Run, agent: Path) -> None:
    assert run("agent", "check", "shop").out == "shop: no problems found.\n"
    agent.write_text(AGENT.replace("include: agent", "include: sometimes"))
    done = run("agent", "check", "shop")
    assert done.code == 1
    assert f"{agent}: line 9, rules[2].include" in done.out
    agent.write_text("rules: [")
    assert run("agent", "check", "shop").code == 1
    assert run("context", "hello", "--agent", "shop").code == 2


def test_a_file_anywhere_is_checked_and_shown(run: Run, agent: Path, tmp_path: Path) -> None:
    file = tmp_path / "draft.yaml"
    file.write_text(AGENT)
    assert run("agent", "check", str(file)).out == f"{file}: no problems found.\n"
    assert "900 • Brevity [Always]" in run("agent", "show", str(file)).out
    file.write_text(AGENT.replace("include: agent", "include: sometimes"))
    done = run("agent", "check", str(file))
    assert done.code == 1
    assert f"{file}: line 9, rules[2].include" in done.out
    assert "nothing.yml does not exist" in run("agent", "check", "nothing.yml").err


def test_one_problem_is_one(run: Run, agent: Path) -> None:
    agent.write_text("rules: [")
    assert "1 problem " in run("agent").out


def test_a_new_session_says_which_servers_it_has_no_tools_of(run: Run, agent: Path) -> None:
    agent.write_text(AGENT.replace(json.dumps(sys.executable), "no-such-program-at-all"))
    done = run("session", "new", "shop")
    assert done.code == 0
    assert "no tools of fake" in done.err
    assert "no-such-program-at-all" in done.err
    assert run("session", "new", "shop", "--no-tools").err == ""


def test_a_session_is_shown_without_its_agent(run: Run, agent: Path) -> None:
    id_ = json.loads(run("session", "new", "shop", "--json", "--no-tools").out)["id"]
    agent.unlink()
    done = run("session", "show", id_, "--no-tools")
    assert (done.code, done.out.split()[0]) == (0, id_)
    assert "no agent 'shop'" in done.err


def test_what_is_given_in_part_is_marked(run: Run, agent: Path) -> None:
    agent.write_text(AGENT.replace("Be brief.", "Be brief. " * 100))
    done = run("context", "hello", "--agent", "shop", "--no-tools", "--tokens", "100")
    assert "Brevity [Always]  name" in done.out


def test_a_server_that_does_not_answer_is_checked(run: Run, agent: Path) -> None:
    agent.write_text(AGENT.replace(json.dumps(sys.executable), "no-such-program-at-all"))
    assert run("agent", "check", "shop").code == 0
    done = run("agent", "check", "shop", "--tools")
    assert done.code == 1
    assert "no-such-program-at-all" in done.out


def test_an_agent_goes_out_and_comes_in(
    run: Run, agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exported = run("agent", "export", "shop").out
    assert exported == AGENT
    monkeypatch.setattr("sys.stdin", io.StringIO(exported))
    assert run("agent", "import", "-", "--name", "copy").code == 0
    assert (agent.parent / "copy.yaml").read_text() == AGENT
    source = tmp_path / "other.yaml"
    source.write_text("description: Other\n")
    assert run("agent", "import", str(source)).code == 0
    again = run("agent", "import", str(source))
    assert again.code == 2
    assert "already" in again.err
    assert run("agent", "import", str(source), "--replace").code == 0
    assert run("agent", "import", "-").code == 2


def test_context_is_shown_in_three_groups(run: Run, agent: Path) -> None:
    done = run("context", "who validates an access token?", "--agent", "shop", "--explain")
    assert done.code == 0
    assert "no index is around" in done.err
    lines = done.out.splitlines()
    assert lines[:2] == ["Rules", "  900 • Brevity [Always]  "]
    assert lines[2].startswith("  500 • Tokens [Agent - 0.")
    assert lines[3].strip() == "fits “who validates an access token?”"
    assert lines[4:8] == [
        "References",
        "  none",
        "Tools",
        "  fake. • echo [Always]  Say something again",
    ]
    assert lines[-1].endswith(f"request {lines[-1].split()[-1]}")


def test_context_with_code(run: Run, agent: Path, indexed: Path) -> None:
    done = run(
        *("context", "validate a token", "--agent", "shop", "--no-tools", "--min-score", "0"),
        "--json",
    )
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert any(code["place"].startswith("src/tokens.ts:") for code in found["code"])
    assert found["usedTokens"] <= found["budget"] == 8000
    by_name = {item["name"]: item for item in found["items"]}
    assert by_name["Brevity"]["text"] == "Be brief."
    assert by_name["Tokens"]["similarityScore"] > 0
    assert "vector" not in done.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("agent", "show"), "needs the name"),
        (("agent", "show", "stranger"), "there are: reader, shop"),
        (("agent", "new", "a/b"), "no name for an agent"),
        (("agent", "new", "shop"), "already"),
        (("agent", "edit", "reader", "--disable"), "Copy it first"),
        (("agent", "edit", "shop", "--enable", "--disable"), "exclude each other"),
        (("agent", "edit", "shop", "--set", "x"), "KEY=VALUE"),
        (("agent", "edit", "shop", "--set", "nothing=1"), "nothing"),
        (("agent", "edit", "shop", "--set", "settings.contextTopN=many"), "contextTopN"),
        (("agent", "edit", "shop", "--set", "settings.contextTopM=1"), "mean contextTopN?"),
        (("agent", "edit", "shop", "--set", "rules.Brevity.include=x"), "Nothing was changed"),
        (("agent", "edit", "shop", "--add", "rule:X"), "needs a text"),
        (("agent", "edit", "shop", "--add", "tool:a.b", "--text", "x"), "no rule"),
        (("agent", "edit", "shop", "--add", "rule:Brevity", "--text", "x"), "Brevity"),
        (("context", " ", "--agent", "shop"), "empty"),
        (("context", "x", "--agent", "stranger"), "no agent"),
        (("context", "x", "--session", "nowhere"), "no session"),
        (("session", "show"), "needs an id"),
        (("session", "add", "abcd"), "needs what to add"),
        (("session", "delete", "abcd"), "no session"),
        (("session", "replay", "abcd"), "No single request"),
    ],
)
def test_mistakes_are_told(run: Run, agent: Path, arguments: tuple[str, ...], words: str) -> None:
    done = run(*arguments)
    assert done.code == 2
    assert words in done.err
    assert agent.read_text() == AGENT


def test_a_session_from_beginning_to_end(run: Run, agent: Path) -> None:
    assert "begin one" in run("session").out
    new = run("session", "new", "shop", "--title", "Tokens", "--json", "--no-tools")
    id_ = json.loads(new.out)["id"]
    quiet = ("--no-tools",)
    run("context", "when? see @ref:hours", "--session", id_, "--no-tools")
    shown = json.loads(run("session", "show", id_, "--json", *quiet).out)
    assert [entry["item"] for entry in shown["items"]] == ["rule:Brevity", "ref:Hours"]
    (request,) = shown["requests"]
    assert request["message"] == "when? see @ref:hours"
    replayed = run("session", "replay", request["id"], *quiet)
    assert (replayed.code, replayed.err) == (0, "")
    assert "We open at nine." in replayed.out
    agent.write_text(AGENT.replace("at nine", "at ten"))
    again = run("session", "replay", request["id"], *quiet)
    assert "We open at nine." in again.out
    assert "ref:Hours has changed since; it is shown as it was." in again.err
    changed = run("session", "set", id_, "contextTopN=1", "toolPermission=never", "--no-tools")
    assert "  contextTopN = 1" in changed.out
    assert "  contextTopN" not in run("session", "set", id_, "contextTopN=", *quiet).out
    assert "Hours" not in run("session", "remove", id_, "ref:Hours", *quiet).out
    assert "Tokens [Manual]" in run("session", "add", id_, "Tokens", *quiet).out
    assert run("session", "list", "shop").out.split()[0] == id_
    assert "sent 1" in run("session", "usage", "shop", *quiet).out
    lines = run("session", "export", "shop").out.splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["Hours", "Brevity"]
    assert run("session", "delete", id_).out == f"{id_} was deleted.\n"
    assert json.loads(run("session", "--json").out) == {"sessions": []}


def test_an_item_that_was_renamed_is_reported(run: Run, agent: Path) -> None:
    new = run("session", "new", "shop", "--json", "--no-tools")
    id_ = json.loads(new.out)["id"]
    agent.write_text(AGENT.replace("name: Brevity", "name: Shortness"))
    done = run("session", "show", id_, "--no-tools")
    assert "which is now called rule:Shortness" in done.err
    asked = run("context", "hello", "--session", id_, "--no-tools")
    assert "which is now called rule:Shortness" in asked.err


def test_no_secret_is_written_anywhere(run: Run, agent: Path, places: Path) -> None:
    outputs = [
        run("session", "new", "shop"),
        run("context", "hello", "--agent", "shop", "--json"),
        run("agent", "export", "shop"),
        run("session", "export"),
    ]
    assert all("t0p-s3cret-value" not in done.out + done.err for done in outputs)
    for file in (places / "data").rglob("*"):
        assert not file.is_file() or b"t0p-s3cret-value" not in file.read_bytes()


def test_agents_of_a_repository_that_is_not_trusted_are_told_of(
    run: Run, indexed: Path, places: Path
) -> None:
    folder = indexed / ".asterism" / "agents"
    folder.mkdir(parents=True)
    (folder / "theirs.yaml").write_text("description: Theirs\n")
    done = run("agent")
    assert "theirs" not in done.out
    assert "`asterism trust PATH`" in done.err
