"""Commands, watchers and servers that are killed at random moments while files change."""

import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import IO, Any, NamedTuple

from tests.faults.campaign.forks import Ended, await_end, command, in_child
from tests.faults.campaign.ground import SEARCH, Examiner, Ground, enter, expected, make_ground
from tests.faults.campaign.results import Result
from tests.faults.generated_repository import change
from tests.faults.kinship import Kin

# So few that a fresh index is built in half a second, and so many that it is read by two workers.
FILES = 70

# Kills between two comparisons with a fresh index; in between the next command finds what is left.
EXAMINED_EVERY = 4

_INDEX = ("index",)
_COMMANDS = {
    "writers": (_INDEX, _INDEX, ("index", "--force"), ("clean",)),
    "readers": (
        SEARCH,
        ("search", "adds up the total of f1", "--format", "context"),
        ("search", "regex:def \\w+", "--exhaustive"),
        ("status",),
        ("callers", "f1"),
        ("doctor",),
    ),
}
# What a server is asked before and while it is killed.
_CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("search_code", {"query": '"total"', "exhaustive": True}),
    ("search_code", {"query": "regex:(t|o)*total", "mode": "exact"}),
    ("codebase_search", {"query": "symbol = py/a/m0.py > f0"}),
    ("index_codebase", {}),
    ("index_status", {}),
)


class Struck(NamedTuple):
    """How a run was, for the account."""

    ended: Ended
    words: str


def run_commands(home: Path, kills: int, seed: int, kind: str) -> Result:
    """Kill commands of a kind in forks, at a random time of what they usually take."""
    usual: dict[tuple[str, ...], float] = {}

    def strike(ground: Ground, chance: Random) -> Struck:
        words = chance.choice(_COMMANDS[kind])
        moment = chance.uniform(0, 1.2 * usual.get(words, 1.0))

        def work() -> int:
            enter(ground)
            os.environ["ASTERISM_WORK_JOBS"] = "2"
            return command(words)

        began = time.monotonic()
        ended = in_child(work, kill_after=moment)
        if ended.code >= 0:
            usual[words] = time.monotonic() - began
        else:
            # It takes at least so long.
            usual[words] = max(usual.get(words, 0.3), moment * 1.1)
        return Struck(ended, f"{' '.join(words)} after {moment:.3f} s")

    return _run(home, kind, kills, seed, strike)


def run_watchers(home: Path, kills: int, seed: int) -> Result:
    """Kill `asterism watch` while it starts, waits and syncs."""

    def strike(ground: Ground, chance: Random) -> Struck:
        with _program(ground, "watch") as program:
            if chance.random() < 0.8:
                program.wait_for(b"Watching", chance.uniform(1, 20))
                for _ in range(chance.randrange(3)):
                    change(ground.root, chance)
                    time.sleep(chance.uniform(0, 0.6))
            time.sleep(chance.uniform(0, 0.4))
            return Struck(program.kill(), "watch")

    return _run(home, "watchers", kills, seed, strike)


def run_stdio_servers(home: Path, kills: int, seed: int) -> Result:
    """Kill `asterism mcp` while it starts and answers."""
    opening: list[dict[str, Any]] = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "faults", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]

    def strike(ground: Ground, chance: Random) -> Struck:
        with _program(ground, "mcp") as program:
            tools = [chance.choice(_CALLS) for _ in range(3)]
            calls = [
                {
                    "jsonrpc": "2.0",
                    "id": 10 + number,
                    "method": "tools/call",
                    "params": {"name": name, "arguments": arguments},
                }
                for number, (name, arguments) in enumerate(tools)
            ]
            for message in (*opening, *calls):
                program.send(message)
            if chance.random() < 0.7:
                program.wait_for(b'"id":1' + chance.choice((b"0", b"1", b"2")), 20)
                change(ground.root, chance)
                program.send({**calls[0], "id": 20})
            time.sleep(chance.uniform(0, 0.8))
            return Struck(program.kill(), f"mcp with {', '.join(name for name, _ in tools)}")

    return _run(home, "stdio servers", kills, seed, strike)


def run_http_servers(home: Path, kills: int, seed: int) -> Result:
    """Kill `asterism serve` while it starts and answers several clients."""
    import httpx

    routes = {
        "search_code": "/api/search",
        "codebase_search": "/api/context",
        "index_codebase": "/api/index",
    }

    def ask(address: str, name: str, arguments: dict[str, object]) -> None:
        with suppress(httpx.HTTPError):
            httpx.post(address + routes[name], json=arguments, timeout=60)

    def strike(ground: Ground, chance: Random) -> Struck:
        with _program(ground, "serve", "--port", "0") as program:
            asking: list[threading.Thread] = []
            if chance.random() < 0.9 and program.wait_for(b"http://", 20):
                address = program.said.split(b"http://")[1].split()[0].decode().rstrip(":")
                for name, arguments in chance.sample(_CALLS[:4], 2):
                    what = (f"http://{address}", name, arguments)
                    asking.append(threading.Thread(target=ask, args=what))
                    asking[-1].start()
                change(ground.root, chance)
            time.sleep(chance.uniform(0, 1.5))
            struck = Struck(program.kill(), "serve")
            for thread in asking:
                thread.join()
            return struck

    return _run(home, "HTTP servers", kills, seed, strike)


def _run(
    home: Path,
    kind: str,
    kills: int,
    seed: int,
    strike: Callable[[Ground, Random], Struck],
) -> Result:
    result = Result(f"killed {kind}")
    ground = make_ground(home, FILES)
    examiner = Examiner(ground, result)
    chance = Random(seed)
    for kill in range(kills):
        change(ground.root, chance)
        if chance.random() < 0.05:
            ground.forget()
        ended, words = strike(ground, chance)
        run = f"kill {kill} of seed {seed}: {words}"
        examiner.note(run, ended)
        examiner.look(run)
        if kill % EXAMINED_EVERY == EXAMINED_EVERY - 1 or kill == kills - 1:
            wanted = expected(ground)
            examiner.mend(run, wanted)
            examiner.weigh(run, wanted)
    return result


class _Program:
    """A real Asterism process, from its start on."""

    def __init__(self, process: "subprocess.Popen[bytes]", kin: Kin) -> None:
        self._process = process
        self._kin = kin
        self.said = b""
        self._pieces: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        assert process.stdout is not None
        threading.Thread(target=self._hear, args=(process.stdout,), daemon=True).start()

    def _hear(self, source: IO[bytes]) -> None:
        with suppress(OSError, ValueError):
            while piece := os.read(source.fileno(), 65_536):
                self._pieces.put(piece)
        self._pieces.put(b"")

    def wait_for(self, words: bytes, seconds: float) -> bool:
        """Until it says this, for so long at most."""
        deadline = time.monotonic() + seconds
        while words not in self.said and (left := deadline - time.monotonic()) > 0:
            try:
                piece = self._pieces.get(timeout=left)
            except queue.Empty:
                return False
            if not piece:
                return False
            self.said += piece
        return words in self.said

    def send(self, message: dict[str, Any]) -> None:
        """A line to its input; it may be gone already."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def kill(self) -> Ended:
        """Kill it; how it ended and what it left."""
        self._kin.look(self._process.pid)
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGKILL)
        code = self._process.wait()
        orphans = await_end(self._kin)
        assert self._process.stderr is not None
        complaint = b""
        # A process that is left would keep this open.
        while select.select([self._process.stderr], [], [], 0)[0]:
            piece = os.read(self._process.stderr.fileno(), 65_536)
            if not piece:
                break
            complaint += piece
        return Ended(code, complaint.decode(errors="replace"), orphans=len(orphans))


@contextmanager
def _program(ground: Ground, *words: str) -> Iterator[_Program]:
    kin = Kin()
    with subprocess.Popen(
        [sys.executable, "-m", "asterism.cli", *words],
        cwd=ground.root,
        env={**os.environ, **ground.variables(), **kin.variables, "ASTERISM_WORK_JOBS": "2"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            yield _Program(process, kin)
        finally:
            process.kill()
            assert process.stdin is not None
            with suppress(OSError):
                process.stdin.close()
