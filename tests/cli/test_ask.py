"""`asterism ask`, `asterism chat` and `asterism conversations`, as people and programs use them."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Outcome, Run, terminal
from tests.llm.fake_openai import FakeOpenAI
from tests.llm.loopback import Call, Say

SERVER = ROOT / "tests" / "toolservers" / "fake_server.py"
PATIENCE_SECONDS = 600.0
"""How long a command may take on a busy machine before a test gives up."""
PROMPT = b"\x1b[?2004h"
"""What the terminal is told when a line is read: pasted text is to be marked."""


@pytest.fixture(autouse=True)
def _indexed(indexed: Path) -> None:
    """Every test asks about the small repository."""


def use(fake: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("PROVIDER", "openai"), ("NAME", "fake-1"), ("URL", fake.url)):
        monkeypatch.setenv(f"ASTERISM_MODEL_{name}", value)


def answered(run: Run, *arguments: str) -> dict[str, object]:
    done = run("ask", *arguments, "--json")
    assert (done.code, done.err) == (0, "")
    found: dict[str, object] = json.loads(done.out)
    return found


def test_an_answer_with_its_places(run: Run) -> None:
    done = run("ask", "who validates tokens?")
    assert (done.code, done.err) == (0, "")
    assert "TokenService" in done.out
    assert done.out.startswith("No language model was asked")
    assert "in `src/tokens.ts:" in done.out
    # Its places are in the answer, so they are not listed again.
    assert not [line for line in done.out.splitlines() if line.startswith("  src/")]


def test_json(run: Run) -> None:
    found = answered(run, "who validates tokens?")
    assert found["status"] == "done"
    assert (found["provider"], found["modelId"]) == ("extractive", "extractive")
    assert (found["number"], found["isRepeat"], found["title"]) == (
        1,
        False,
        "who validates tokens?",
    )
    citations = found["citations"]
    assert isinstance(citations, list)
    assert citations[0]["path"] == "src/tokens.ts"
    assert citations[0]["exists"] is True


def test_a_conversation_by_the_start_of_its_id(run: Run) -> None:
    first = str(answered(run, "who validates tokens?")["conversationId"])
    assert answered(run, "and keys?", "--conversation", first[:10])["number"] == 2
    assert answered(run, "and more?", "--conversation", "last")["number"] == 3


def test_a_repeated_request(run: Run) -> None:
    first = answered(run, "who validates tokens?", "--request-id", "r-1")
    again = answered(run, "who validates tokens?", "--request-id", "r-1")
    assert (again["turnId"], again["isRepeat"]) == (first["turnId"], True)


def test_a_question_on_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    os.write(write, b"who validates tokens?")
    os.close(write)
    with os.fdopen(read) as text:
        monkeypatch.setattr("sys.stdin", text)
        assert "TokenService" in run("ask", "-").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["  "], "The question is empty"),
        (["who?", "nowhere"], "does not exist"),
        (["who?", "--conversation", "zzz"], "There is no conversation 'zzz'"),
        (["who?", "--agent", "stranger"], "There is no agent 'stranger'"),
        (["who?", "--model", "openai/"], "No model of openai is named"),
    ],
)
def test_what_cannot_be_asked(run: Run, arguments: list[str], message: str) -> None:
    done = run("ask", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_a_model_answers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeOpenAI([Say("The TokenService does.")]) as fake:
        use(fake, monkeypatch)
        done = run("ask", "who validates tokens?")
        other = run("ask", "who validates tokens?", "--model", "extractive")
    assert done == Outcome(0, "The TokenService does.\n", "")
    assert other.out.startswith("No language model was asked")


def test_a_model_that_fails(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeOpenAI([Say(status=401, body="{}")]) as fake:
        use(fake, monkeypatch)
        done = run("ask", "who validates tokens?")
    assert (done.code, done.out) == (2, "")
    assert "wants a key" in done.err


@pytest.fixture
def echo(places: Path) -> None:
    """An agent whose tool needs consent."""
    folder = places / "data" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    server = {"name": "fake", "command": sys.executable, "args": [str(SERVER), "plain"]}
    (folder / "echo.yaml").write_text(json.dumps({"servers": [server]}))


@pytest.mark.usefixtures("echo")
@pytest.mark.parametrize(
    ("options", "typed", "code", "is_error"),
    [
        (["--yes"], None, 0, False),
        ([], "y\n", 0, False),
        ([], "n\n", 0, True),
        ([], None, 1, None),
    ],
)
def test_a_tool_that_needs_consent(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    typed: str | None,
    code: int,
    is_error: bool | None,
) -> None:
    call = Call("fake__echo", '{"text": "hello"}', "call-1")
    with FakeOpenAI([Say(calls=(call,)), Say("It said hello.")]) as fake:
        use(fake, monkeypatch)
        asking = terminal(monkeypatch, typed) if typed else nullcontext()
        with asking:
            done = run("ask", "say hello", "--agent", "echo", *options)
    assert done.code == code
    shown = json.loads(run("conversations", "show", "last", "--json").out)
    results = shown["turns"][0]["rounds"][0]["results"]
    assert [result["isError"] for result in results] == ([] if is_error is None else [is_error])
    assert ("Call fake__echo(" in done.err) is (typed is not None)
    assert ("ask again with --yes" in done.err) is (code == 1)


def test_a_model_answers_from_places(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    call = Call("search_code", '{"query": "who validates tokens?"}')
    with FakeOpenAI([Say(calls=(call,)), Say("The TokenService does.")]) as fake:
        use(fake, monkeypatch)
        done = run("ask", "who validates tokens?")
    assert done.out.startswith("The TokenService does.\n\n  src/tokens.ts:")
    assert "\nSources:\n\n- `src/tokens.ts:" in run("conversations", "export", "last").out
    assert "\n   src/tokens.ts:" in run("conversations", "show", "last").out


def test_the_last_conversation_is_the_one_about_this_repository(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(run, "who validates tokens?")
    other = tmp_path / "other"
    other.mkdir()
    (other / "bell.py").write_text("def ring() -> None: ...\n")
    assert run("index", str(other)).code == 0
    assert answered(run, "who rings?", str(other))["number"] == 1
    again = answered(run, "and keys?", "--conversation", "last")
    assert (again["number"], again["title"]) == (2, "who validates tokens?")
    monkeypatch.chdir(other)
    assert "Going on with 'who rings?'" in chat("/resume").out


def test_the_list_and_one_conversation(run: Run) -> None:
    assert run("conversations").out.startswith("No conversations.")
    id_ = str(answered(run, "who validates tokens?")["conversationId"])
    listed = run("conversations")
    assert listed.out.startswith(f"{id_[:8]}  who validates tokens?  shop, 1 turn, ")
    shown = run("conversations", "show", id_[:8])
    assert "1. who validates tokens?" in shown.out
    assert "src/tokens.ts:" in shown.out
    whole = json.loads(run("conversations", "show", "last", "--json").out)
    assert (whole["conversationId"], len(whole["turns"])) == (id_, 1)
    assert json.loads(run("conversations", "--json").out)["total"] == 1


def test_pages(run: Run) -> None:
    for number in range(3):
        answered(run, f"question {number}")
    page = json.loads(run("conversations", "--limit", "2", "--json").out)
    rest = json.loads(
        run("conversations", "--limit", "2", "--cursor", page["cursor"], "--json").out
    )
    titles = [entry["title"] for entry in (*page["conversations"], *rest["conversations"])]
    assert titles == ["question 2", "question 1", "question 0"]
    assert "--cursor" in run("conversations", "--limit", "2").out


def test_searching_what_was_said(run: Run) -> None:
    answered(run, "who validates tokens?")
    found = run("conversations", "search", "VALIDATES")
    assert "turn 1, question" in found.out
    assert run("conversations", "search", "unsaid-words").code == 1
    assert json.loads(run("conversations", "search", "tokens", "--json").out)["total"] == 1


def test_archiving_restoring_deleting(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    id_ = str(answered(run, "who validates tokens?")["conversationId"])
    assert "is archived" in run("conversations", "archive", id_).out
    refused = run("ask", "and now?", "--conversation", id_)
    assert (refused.code, "is archived; restore it" in refused.err) == (2, True)
    assert run("conversations").out.startswith("No conversations.")
    assert id_[:8] in run("conversations", "--archived").out
    assert json.loads(run("conversations", "restore", id_, "--json").out)["archivedAt"] is None
    assert "give --yes" in run("conversations", "delete", id_).err
    with terminal(monkeypatch, "n\n"):
        assert run("conversations", "delete", id_).out == "Nothing was deleted.\n"
    assert run("conversations", "delete", id_, "--yes").code == 0
    assert run("conversations", "show", id_).code == 2


def test_exporting(run: Run, tmp_path: Path) -> None:
    id_ = str(answered(run, "who validates tokens?")["conversationId"])
    page = run("conversations", "export", id_).out
    assert page.startswith("# who validates tokens?\n")
    assert "in `src/tokens.ts:" in page
    assert "Sources:" not in page
    file = tmp_path / "talk.json"
    assert run("conversations", "export", id_, "--format", "json", "-o", str(file)).code == 0
    assert json.loads(file.read_text())["exportVersion"] == 1
    missing = run("conversations", "export", id_, "-o", str(tmp_path / "no" / "file"))
    assert (missing.code, "cannot be written" in missing.err) == (2, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ["list", "x"],
        ["show"],
        ["search"],
        ["list", "--out", "x"],
        ["list", "--yes"],
        ["list", "--limit", "0"],
        ["list", "--cursor", "x"],
        ["search", " "],
    ],
)
def test_conversations_that_make_no_sense(run: Run, arguments: list[str]) -> None:
    done = run("conversations", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def chat(*lines: str) -> Outcome:
    """A chat without a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "asterism.cli", "chat"],
        input="".join(f"{line}\n" for line in lines),
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        check=False,
        text=True,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def test_a_chat_in_plain_lines() -> None:
    done = chat(
        *("/help", "who validates tokens?", "", "and keys?", "/context", "/conversations"),
        *("/model", "/model openai/", "/agent", "/agent stranger", "/stop", "/nothing", "/new"),
        *("another one", "/archive", "/archive", "/resume", "/quit", "never asked"),
    )
    assert done.code == 0
    assert "/archive [ID]" in done.out
    assert done.out.count("No language model was asked") == 3
    assert "* " in done.out
    assert "who validates tokens?  shop, 2 turns" in done.out
    assert "Answers come from extractive (extractive)." in done.out
    assert re.search(r"^  src/tokens.ts:\d+(-\d+)?, distance \d\.\d\d$", done.out, re.MULTILINE)
    assert "Nothing is being answered" in done.out
    assert "Archived 'another one'." in done.out
    assert "Going on with 'who validates tokens?'." in done.out
    errors = done.err.splitlines()
    assert [line.split(";")[0] for line in errors] == [
        "asterism: No model of openai is named",
        "asterism: There is no agent 'stranger'",
        "asterism: There is no command /nothing",
        "asterism: There is no conversation yet",
    ]


def test_a_chat_at_a_terminal_stops_an_answer_with_ctrl_c(
    indexed: Path, monkeypatch: pytest.MonkeyPatch, places: Path
) -> None:
    with FakeOpenAI([Say("The service does it all.", hold_after=4), Say("Next.")]) as fake:
        use(fake, monkeypatch)
        with Screen(["chat"], indexed) as screen:
            screen.wait_for(PROMPT)
            screen.type(b"who validates tokens?\r")
            screen.wait_for(b"The service")
            assert fake.holding.wait(PATIENCE_SECONDS)
            screen.type(b"\x03")
            screen.wait_for(PROMPT)
            screen.type(b"go on\r")
            screen.wait_for(b"Next.")
            screen.type(b"/quit\r")
            assert screen.end() == 0
    history = places / "data" / "chat_history"
    assert history.stat().st_mode & 0o777 == 0o600
    assert "who validates tokens?" in history.read_text()


@pytest.mark.usefixtures("echo")
def test_a_chat_asks_for_the_word_that_an_answer_waits_for(
    run: Run, indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user who is told to agree in a chat is asked there; Ctrl-C leaves the call waiting."""
    call = Call("fake__echo", '{"text": "hello"}', "call-1")
    with FakeOpenAI([Say(calls=(call,)), Say("It said hello.")]) as fake:
        use(fake, monkeypatch)
        assert run("ask", "say hello", "--agent", "echo").code == 1
        with Screen(["chat", "--conversation", "last"], indexed) as screen:
            screen.wait_for(b"Call fake__echo(")
            screen.type(b"\x03")
            screen.wait_for(b"/resume asks you again")
            screen.wait_for(PROMPT)
            screen.type(b"/resume\r")
            screen.wait_for(b"[y/N]")
            screen.type(b"y\r")
            screen.wait_for(b"It said hello.")
            screen.type(b"/quit\r")
            assert screen.end() == 0
    shown = json.loads(run("conversations", "show", "last", "--json").out)
    assert [turn["status"] for turn in shown["turns"]] == ["done"]


@pytest.mark.usefixtures("echo")
def test_ctrl_c_at_the_question_leaves_the_chat_open(
    indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Call("fake__echo", '{"text": "hello"}', "call-1")
    with FakeOpenAI([Say(calls=(call,)), Say("Then not.")]) as fake:
        use(fake, monkeypatch)
        with Screen(["chat", "--agent", "echo"], indexed) as screen:
            screen.wait_for(PROMPT)
            screen.type(b"say hello\r")
            screen.wait_for(b"[y/N]")
            screen.type(b"\x03")
            screen.wait_for(b"may only be called if you agree; /resume asks you again")
            screen.wait_for(PROMPT)
            screen.type(b"never mind\r")
            screen.wait_for(b"Then not.")
            screen.type(b"/quit\r")
            assert screen.end() == 0


class Screen:
    """A command at a terminal of its own."""

    def __init__(self, arguments: list[str], where: Path) -> None:
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            # The terminal has to be the command's own for Ctrl-C to reach it.
            ["setsid", "--ctty", "--wait", sys.executable, "-m", "asterism.cli", *arguments],
            cwd=where,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "xterm"},
        )
        os.close(theirs)
        self._seen = b""

    def __enter__(self) -> "Screen":
        return self

    def __exit__(self, *_error: object) -> None:
        """A command that a failed test leaves behind would disturb the next ones."""
        self._process.kill()
        self._process.wait()
        os.close(self._ours)

    def wait_for(self, text: bytes) -> None:
        """Read until a text is seen; what came before it is forgotten."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while text not in self._seen:
            assert time.monotonic() < deadline, self._seen
            if select.select([self._ours], [], [], 0.5)[0]:
                self._seen += os.read(self._ours, 65_536)
        self._seen = self._seen.partition(text)[2]

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._ours, keys)

    def end(self) -> int:
        """How it ended."""
        return self._process.wait(PATIENCE_SECONDS)
