"""Are tool servers listed once, called, and survived when they misbehave?"""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from asterism.toolservers.options import ServerLimits, ServerSurroundings
from asterism.toolservers.servers import ToolServers
from asterism.types.context import FromEnvironment, Server, ToolKey
from asterism.types.errors import (
    ToolServerDied,
    ToolServerError,
    ToolServerFlooding,
    ToolServerMissing,
    ToolServerSlow,
)

FAKE = str(Path(__file__).with_name("fake_server.py"))
VARIABLES = {"FAKE_TOKEN": "s3cr3t-value"}
PATIENT = ServerLimits(connect_seconds=60, call_seconds=60, leaving_seconds=0.2)
HASTY = ServerLimits(connect_seconds=2, call_seconds=1, leaving_seconds=0.2)


def fake(behaviour: str, detail: str = "", name: str = "fake") -> Server:
    return Server(name=name, command=sys.executable, args=(FAKE, behaviour, detail))


@contextmanager
def asked(limits: ServerLimits = PATIENT) -> Iterator[ToolServers]:
    around = ServerSurroundings(VARIABLES.get, {"PATH": os.environ["PATH"]})
    with closing(ToolServers(around, limits)) as servers:
        yield servers


def problem(behaviour: str, detail: str = "", limits: ServerLimits = PATIENT) -> ToolServerError:
    """The one problem of listing a server that must not have any tools."""
    with asked(limits) as servers:
        listing = servers.tools([fake(behaviour, detail)])
    assert listing.tools == ()
    (found,) = listing.problems
    assert found.server == "fake"
    return found.error


def test_tools_are_listed_once_and_called(tmp_path: Path) -> None:
    counted = tmp_path / "listed"
    server = fake("count", str(counted))
    with asked() as servers:
        first, second = servers.tools([server]), servers.tools([server])
        result = servers.call(server, "echo", {"text": "once more"})
    assert first == second
    assert [tool.key for tool in first.tools] == [ToolKey("fake", "echo")]
    assert first.tools[0].schema["type"] == "object"
    assert result.text == "once more"
    assert counted.read_text() == "listed\n"


def test_tools_that_change_something_are_known_by_their_hints() -> None:
    with asked() as servers:
        tools = servers.tools([fake("hints")]).tools
    assert [tool.effects for tool in tools] == [False, False, True, True]


def test_a_server_that_says_its_tools_changed_is_listed_again() -> None:
    server = fake("growing")
    with asked() as servers:
        assert [tool.name for tool in servers.tools([server]).tools] == ["echo"]
        servers.call(server, "echo", {})
        # The notice comes before the answer to the call, on the same line.
        assert [tool.name for tool in servers.tools([server]).tools] == ["echo", "shout"]


def test_one_broken_server_hides_no_other() -> None:
    with asked() as servers:
        listing = servers.tools([fake("die", name="broken"), fake("ok", name="well")])
    assert [tool.server for tool in listing.tools] == ["well"]
    assert [problem.server for problem in listing.problems] == ["broken"]


@pytest.mark.parametrize(
    ("behaviour", "detail", "limits", "error"),
    [
        ("die", "", PATIENT, ToolServerDied),
        ("hang", "", HASTY, ToolServerSlow),
        ("chatter", "", PATIENT, ToolServerFlooding),
        ("one-line", "", PATIENT, ToolServerFlooding),
        ("endless", "", PATIENT, ToolServerFlooding),
        ("many", "5001", PATIENT, ToolServerFlooding),
    ],
)
def test_what_misbehaves_is_reported(
    behaviour: str, detail: str, limits: ServerLimits, error: type[ToolServerError]
) -> None:
    found = problem(behaviour, detail, limits)
    assert type(found) is error
    assert "The server fake" in str(found)


def test_a_program_that_does_not_exist_is_named() -> None:
    with asked() as servers:
        (found,) = servers.tools([Server(name="gone", command="no-such-program-at-all")]).problems
    assert type(found.error) is ToolServerMissing
    assert "no-such-program-at-all" in str(found.error)


def test_a_greeting_on_the_line_is_passed_over() -> None:
    with asked() as servers:
        assert [tool.name for tool in servers.tools([fake("greet")]).tools] == ["echo"]


def test_two_thousand_tools_are_listed() -> None:
    with asked() as servers:
        assert len(servers.tools([fake("many", "2000")]).tools) == 2000


@pytest.mark.parametrize(
    ("behaviour", "limits", "error"),
    [
        ("die-when-called", PATIENT, ToolServerDied),
        ("hang-when-called", HASTY, ToolServerSlow),
        ("flood-when-called", PATIENT, ToolServerFlooding),
    ],
)
def test_a_call_that_goes_wrong_says_why(
    behaviour: str, limits: ServerLimits, error: type[ToolServerError]
) -> None:
    with asked(limits) as servers, pytest.raises(error):
        servers.call(fake(behaviour), "echo", {"text": "x"})


def test_a_server_that_died_is_started_again() -> None:
    server = fake("die-when-called")
    with asked() as servers:
        for _attempt in range(2):
            with pytest.raises(ToolServerDied):
                servers.call(server, "echo", {})


def test_a_waiting_thread_is_told_when_everything_is_closed() -> None:
    server = fake("hang-when-called")
    told: list[BaseException] = []

    def call() -> None:
        try:
            servers.call(server, "echo", {})
        except ToolServerError as error:
            told.append(error)

    with asked() as servers:
        servers.tools([server])
        thread = threading.Thread(target=call)
        thread.start()
        while not any("_call" in repr(task) for task in asyncio.all_tasks(servers._loop)):
            time.sleep(0.01)
    thread.join(60)
    assert not thread.is_alive()
    assert len(told) == 1


def test_a_server_that_failed_rests() -> None:
    now = [0.0]
    around = ServerSurroundings(VARIABLES.get, {"PATH": os.environ["PATH"]})
    limits = ServerLimits(connect_seconds=60, rest_seconds=30)
    marker = Server(name="late", command="no-such-program-at-all")
    with closing(ToolServers(around, limits, lambda: now[0])) as servers:
        first = servers.tools([marker]).problems[0].error
        assert servers.tools([marker]).problems[0].error is first
        now[0] = 31.0
        assert servers.tools([marker]).problems[0].error is not first


def test_a_long_result_is_cut_and_says_so() -> None:
    with asked() as servers:
        result = servers.call(fake("long", "250000"), "echo", {})
    assert result.left_out == 150_000
    assert result.text.endswith("[150,000 more characters were left out]")


def test_a_tool_that_fails_is_an_answer() -> None:
    with asked() as servers:
        result = servers.call(fake("failing"), "echo", {})
    assert (result.text, result.is_error) == ("No such page", True)


def test_a_disabled_server_is_not_started() -> None:
    server = Server(name="off", command="no-such-program-at-all", enabled=False)
    with asked() as servers:
        assert servers.tools([server]) == ((), ())


def test_a_secret_reaches_the_server_and_nothing_else() -> None:
    token = FromEnvironment("FAKE_TOKEN")
    server = Server(
        name="fake",
        command=sys.executable,
        args=(FAKE, "environment"),
        environment={"TOKEN": token, "PLAIN": "seen"},
    )
    with asked() as servers:
        text = servers.call(server, "echo", {}).text
        assert "s3cr3t-value" not in repr(servers.__dict__)
    given = json.loads(text)
    assert given["PLAIN"] == "seen"
    # The server has it, and said it; what it says is given on without.
    assert given["TOKEN"] == "…"
    assert set(given) <= {"PLAIN", "TOKEN", "PATH", "LC_CTYPE", "PWD", "_"}


def test_a_variable_that_is_not_set_is_named() -> None:
    server = Server(name="x", command="true", environment={"A": FromEnvironment("NOT_SET_AT_ALL")})
    with asked() as servers:
        (found,) = servers.tools([server]).problems
    assert "NOT_SET_AT_ALL" in str(found.error)


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    # One that has ended and waits to be collected is not there any more.
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


def ends(pid: int) -> bool:
    """Whether a process ends; the kernel may take a moment for it."""
    for _look in range(400):
        if not is_there(pid):
            return True
        time.sleep(0.05)
    return False


def test_no_process_outlives_the_connection(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    with asked() as servers:
        servers.tools([fake("family", str(file))])
        pids = [int(pid) for pid in file.read_text().split()]
        assert all(map(is_there, pids))
    assert all(map(ends, pids))


def test_a_server_that_ignores_its_end_is_killed() -> None:
    with asked() as servers:
        assert servers.tools([fake("stay")]).tools


def test_no_server_outlives_a_process_that_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    script = (
        "import os, sys, time\n"
        "from asterism.toolservers.options import ServerSurroundings\n"
        "from asterism.toolservers.servers import ToolServers\n"
        "from asterism.types.context import Server\n"
        "servers = ToolServers(ServerSurroundings(os.environ.get))\n"
        f"server = Server(name='x', command=sys.executable, args=({FAKE!r}, 'stay'))\n"
        "assert servers.tools([server]).tools\n"
        "children = open(f'/proc/{os.getpid()}/task/{servers._thread.native_id}/children').read()\n"
        f"open({str(file)!r}, 'w').write(children)\n"
        "print('listed', flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"listed\n"
        (pid,) = map(int, file.read_text().split())
        assert is_there(pid)
        process.kill()
    assert ends(pid)
