"""Does a server that hangs, dies, babbles or grows always end in an answer or a clear error?"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asterism.lsp.connection import ServerConnection
from asterism.lsp.keeper import Keeper, KeeperOptions, ServerCondition
from asterism.lsp.process import ServerCommand
from asterism.programs.table import Consent, Program
from asterism.types.errors import (
    LanguageServerError,
    ServerDied,
    ServerGarbled,
    ServerGivenUp,
    ServerMissing,
    ServerRefused,
    ServerStarting,
    ServerTimeout,
    ServerTooLarge,
)

PROGRAM = Program(name="fake", purpose="a fake", consent=Consent.always, directory="{directory}")
HERE = {"directory": "/"}

FAKE = str(Path(__file__).with_name("fake_server.py"))

# Longer than anything that should answer ever takes, on the slowest machine.
PLENTY = 60.0

Made = Callable[..., Keeper[ServerConnection]]


def is_alive(pid: int) -> bool:
    """Whether a process is there and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + PLENTY
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Made]:
    made: list[Keeper[ServerConnection]] = []

    def build(
        options: KeeperOptions | None = None,
        command: tuple[str, ...] = (sys.executable, FAKE),
        opening: Callable[[ServerConnection], ServerConnection] = lambda connection: connection,
        **more: Any,
    ) -> Keeper[ServerConnection]:
        clock = more.pop("clock", time.monotonic)
        server = ServerCommand(name="fake server", program=PROGRAM, command=command, values=HERE)
        keeper = Keeper(
            replace(server, **more),
            opening,
            options or KeeperOptions(wait_seconds=PLENTY),
            {"workspace/configuration": lambda params: [params["items"][0]["section"]]},
            clock,
        )
        made.append(keeper)
        return keeper

    yield build
    for keeper in made:
        keeper.close()


def ask(
    method: str, /, seconds: float = PLENTY, **params: Any
) -> Callable[[ServerConnection], Any]:
    return lambda session: session.request(method, params, seconds=seconds)


def test_nothing_runs_before_the_first_question_and_after_the_close(make: Made) -> None:
    keeper = make()
    assert (keeper.condition, keeper.pid) == (ServerCondition.resting, None)
    assert keeper.call(ask("echo", word="汉")) == {"word": "汉"}
    pid = keeper.call(ask("pid"))
    assert (keeper.condition, keeper.pid) == (ServerCondition.ready, pid)
    assert keeper.memory() > 1_000_000
    keeper.close()
    assert not is_alive(pid)
    assert (keeper.condition, keeper.pid) == (ServerCondition.closed, None)
    with pytest.raises(ServerDied, match=r"The fake server was closed\."):
        keeper.call(ask("echo"))


def test_warming_up_starts_it_in_the_background(make: Made) -> None:
    keeper = make()
    keeper.warm_up()
    keeper.warm_up()
    assert until(lambda: keeper.condition is ServerCondition.ready)
    assert keeper.call(ask("pid")) == keeper.pid


def test_many_threads_share_it(make: Made) -> None:
    keeper = make()
    results: dict[int, Any] = {}

    def work(number: int) -> None:
        results[number] = [keeper.call(ask("echo", n=number * 100 + i))["n"] for i in range(20)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: [n * 100 + i for i in range(20)] for n in range(8)}


def test_the_server_may_ask_too(make: Made) -> None:
    keeper = make()

    def asked(method: str, params: Any) -> Any:
        return keeper.call(
            lambda session: session.request("ask", {"for": method, "with": params}, seconds=PLENTY)
        )

    section = {"items": [{"section": "ty"}]}
    assert asked("workspace/configuration", section)["result"] == ["ty"]
    assert asked("workspace/configuration", None)["error"]["message"] == "odd parameters"
    assert asked("window/dance", {})["error"]["code"] == -32601


def test_a_refusal_is_an_answer(make: Made) -> None:
    keeper = make()
    pid = keeper.call(ask("pid"))
    with pytest.raises(ServerRefused, match="refuse: I will not"):
        keeper.call(ask("refuse"))
    assert keeper.call(ask("pid")) == pid


def test_a_flood_of_complaints_stops_nothing(make: Made) -> None:
    keeper = make()
    assert keeper.call(ask("flood", a=1)) == {"a": 1}


def test_variables_reach_the_server(make: Made) -> None:
    program = replace(PROGRAM, variables={"GOMEMLIMIT": "{memory_mib}MiB"})
    keeper = make(program=program, values={**HERE, "memory_mib": "300"})
    assert keeper.call(ask("variable", name="GOMEMLIMIT")) == "300MiB"


def test_a_server_that_dies_is_restarted_and_asked_again(make: Made, tmp_path: Path) -> None:
    keeper = make()
    before = keeper.call(ask("pid"))
    mark = str(tmp_path / "mark")
    assert keeper.call(ask("fail_once", mark=mark)) == {"mark": mark}
    assert keeper.call(ask("pid")) != before
    assert keeper.trouble is None


@pytest.mark.parametrize(
    ("method", "kind", "says"),
    [
        ("die", ServerDied, "The server ended with status 3"),
        ("killed", ServerDied, "The server was ended by SIGKILL"),
        ("truncated", ServerDied, "ended with status 0"),
        ("garbage", ServerGarbled, "'Segmentation fault, sort of"),
        ("no_length", ServerGarbled, "without a length"),
        ("oversized", ServerGarbled, "99,999,999,999 bytes"),
        ("not_json", ServerGarbled, "not JSON"),
        ("not_an_object", ServerGarbled, "not a message"),
    ],
)
def test_one_that_fails_again_is_given_up_and_says_why(
    make: Made, method: str, kind: type[LanguageServerError], says: str
) -> None:
    keeper = make()
    with pytest.raises(kind) as caught:
        keeper.call(ask(method))
    assert "The fake server failed: " in str(caught.value)
    assert says in str(caught.value)
    assert (keeper.condition, keeper.pid) == (ServerCondition.given_up, None)
    with pytest.raises(ServerGivenUp) as given_up:
        keeper.call(ask("echo"))
    assert says in str(given_up.value)


def test_after_a_rest_it_is_tried_again(make: Made) -> None:
    now = [0.0]
    keeper = make(KeeperOptions(wait_seconds=PLENTY, rest_seconds=30), clock=lambda: now[0])
    with pytest.raises(ServerDied):
        keeper.call(ask("die"))
    with pytest.raises(ServerGivenUp):
        keeper.call(ask("echo"))
    now[0] = 31.0
    assert keeper.call(ask("echo", a=1)) == {"a": 1}


def test_a_hanging_server_meets_the_deadline_and_is_replaced(make: Made) -> None:
    keeper = make()
    hanging = keeper.call(ask("pid"))
    with pytest.raises(ServerTimeout, match=r"No answer to hang within 0\.2 seconds\."):
        keeper.call(ask("hang", seconds=0.2))
    assert not is_alive(hanging)
    assert keeper.call(ask("pid")) != hanging


def test_a_server_that_reads_no_more_meets_the_deadline_too(make: Made) -> None:
    connection = make().call(lambda session: session)
    with pytest.raises(ServerTimeout):
        connection.request("hang", seconds=0.05)
    with pytest.raises(ServerTimeout):
        connection.request("echo", {"more than a pipe holds": "x" * 5_000_000}, seconds=0.05)


def test_an_answer_after_its_deadline_is_not_taken_for_another(make: Made) -> None:
    connection = make().call(lambda session: session)
    with pytest.raises(ServerTimeout):
        connection.request("sleep", {"seconds": 0.3}, seconds=0.05)
    assert connection.request("echo", {"late": False}, seconds=PLENTY) == {"late": False}


def test_a_server_that_eats_memory_is_ended(make: Made) -> None:
    keeper = make(memory_bytes=150_000_000)
    with pytest.raises(ServerTooLarge) as caught:
        keeper.call(ask("eat", bytes=300_000_000))
    assert "it may take 150 MB" in str(caught.value)
    assert keeper.condition is ServerCondition.resting
    assert keeper.call(ask("echo", a=1)) == {"a": 1}


def test_an_idle_server_is_released_and_comes_back(make: Made) -> None:
    now = [0.0]
    keeper = make(KeeperOptions(wait_seconds=PLENTY, idle_seconds=60), clock=lambda: now[0])
    first = keeper.call(ask("pid"))
    now[0] = 59.0
    assert keeper.call(ask("pid")) == first
    now[0] = 120.0
    assert until(lambda: keeper.condition is ServerCondition.resting)
    assert until(lambda: not is_alive(first))
    assert keeper.call(ask("pid")) != first


def test_a_server_can_be_started_anew(make: Made) -> None:
    keeper = make()
    keeper.renew()
    assert keeper.condition is ServerCondition.resting
    first = keeper.call(ask("pid"))
    keeper.renew()
    assert (keeper.condition, is_alive(first)) == (ServerCondition.resting, False)
    assert keeper.call(ask("pid")) != first
    # It was no failure, so it is not counted as one.
    assert keeper.trouble is None


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("no-such-program-anywhere",), "no-such-program-anywhere: No such file or directory"),
        ((FAKE,), "Permission denied"),
    ],
)
def test_a_missing_program_is_named(make: Made, command: tuple[str, ...], says: str) -> None:
    keeper = make(command=command)
    for _ in range(2):
        with pytest.raises(ServerMissing) as caught:
            keeper.call(ask("echo"))
        assert says in str(caught.value)


def test_one_that_refuses_to_start_gives_its_last_words(make: Made) -> None:
    keeper = make(command=(sys.executable, FAKE, "--refuse-to-start"), opening=ask("echo"))
    with pytest.raises(ServerGivenUp, match="its last words: no licence"):
        keeper.call(ask("echo"))


def test_a_directory_that_is_gone_is_an_error(make: Made, tmp_path: Path) -> None:
    keeper = make(values={"directory": str(tmp_path / "gone")})
    with pytest.raises(ServerMissing, match="cannot be started"):
        keeper.call(ask("echo"))


def test_a_caller_that_cannot_wait_for_the_start_is_told(make: Made) -> None:
    def slow(connection: ServerConnection) -> ServerConnection:
        connection.request("sleep", {"seconds": 0.5}, seconds=PLENTY)
        return connection

    keeper = make(KeeperOptions(wait_seconds=0.05), opening=slow)
    with pytest.raises(ServerStarting, match="still loading"):
        keeper.call(ask("echo"))
    assert until(lambda: keeper.condition is ServerCondition.ready)
    assert keeper.call(ask("echo", a=1)) == {"a": 1}


def test_a_session_that_cannot_be_opened_keeps_no_caller_waiting(make: Made) -> None:
    def broken(connection: ServerConnection) -> ServerConnection:
        raise OSError("no space left")

    keeper = make(opening=broken)
    with pytest.raises(ServerGivenUp, match="cannot be prepared: OSError"):
        keeper.call(ask("echo"))


def test_closing_while_it_starts_leaves_nothing_behind(make: Made) -> None:
    pids: list[int] = []

    def slow(connection: ServerConnection) -> ServerConnection:
        pids.append(connection.request("pid", {}, seconds=PLENTY))
        connection.request("hang", {}, seconds=PLENTY)
        return connection

    keeper = make(opening=slow)
    keeper.warm_up()
    assert until(lambda: bool(pids))
    keeper.close()
    assert until(lambda: not is_alive(pids[0]))


def test_children_of_the_server_end_with_it(make: Made) -> None:
    keeper = make()
    child = keeper.call(ask("child"))
    assert is_alive(child)
    keeper.close()
    assert until(lambda: not is_alive(child))


PARENT = """
import sys, time
from asterism.lsp.keeper import Keeper
from asterism.lsp.process import ServerCommand
from asterism.programs.table import Consent, Program
program = Program(name="fake", purpose="a fake", consent=Consent.always)
server = ServerCommand(name="fake", program=program, command=(sys.executable, sys.argv[1]))
keeper = Keeper(server, lambda connection: connection)
if __name__ == "__main__":
    keeper.warm_up()
    method = sys.argv[2]
    pid = keeper.call(lambda session: session.request("pid", {}, seconds=60))
    sys.stdout.write(f"{pid}\\n")
    sys.stdout.flush()
    if method == "hang":
        # A server that is busy does not notice the end of its input.
        keeper.call(lambda session: session.request("hang", {}, seconds=600))
    if method == "wait":
        time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ties processes on Linux only")
@pytest.mark.parametrize("method", ["wait", "hang"])
def test_no_orphan_after_the_parent_is_killed(method: str, tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    command = [sys.executable, str(script), FAKE, method]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        os.kill(parent.pid, signal.SIGKILL)
        assert until(lambda: not is_alive(pid))


def test_no_orphan_after_an_ordinary_end(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    command = [sys.executable, str(script), FAKE, "leave"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    assert until(lambda: not is_alive(int(done.stdout)))
