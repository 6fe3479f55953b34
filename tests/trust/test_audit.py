"""Does Asterism execute any file of a hostile repository? Watches every process."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.trust.hostile import Hostile

# Loaded by every Python that is not isolated: logs started programs and executed files.
_SITECUSTOMIZE = """\
import os, sys

def _hook(event, arguments, file=open(os.environ["AUDIT_LOG"], "a", buffering=1)):
    if event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system"):
        file.write(f"start\\t{arguments[0]}\\n")
    elif event == "exec" and hasattr(arguments[0], "co_filename"):
        file.write(f"run\\t{arguments[0].co_filename}\\n")
    elif event == "ctypes.dlopen":
        file.write(f"load\\t{arguments[0]}\\n")

sys.addaudithook(_hook)
"""
_CALLED = re.compile(r'(?P<process>\d+) +execve\("(?P<program>(?:[^"\\]|\\.)*)"')
# strace cuts a call in two lines where another process is seen between its begin and its end.
_RESUMED = re.compile(r"(?P<process>\d+) +<\.\.\. execve resumed>")
_SUCCEEDED = re.compile(r"\) += 0$")
_STRACE = shutil.which("strace") or ""


class Seen(NamedTuple):
    """Programs, audit events and output of a command."""

    programs: set[str]
    """Programs that it or its children executed; empty without strace."""
    events: list[list[str]]
    """Audit events of Asterism's own Python processes."""
    output: str
    complaints: str

    def below(self, root: Path) -> list[str]:
        """Programs and events with a path in the repository."""
        places = [*self.programs, *(place for _, place in self.events)]
        inside = [place for place in places if place.startswith(f"{root}/")]
        return inside + [place for place in places if not os.path.isabs(place) and _is_path(place)]  # noqa: PTH117


def _is_path(place: str) -> bool:
    return "/" in place and not place.startswith("<")


class Audit:
    """Runs commands in the repository and records their processes."""

    def __init__(self, hostile: Hostile) -> None:
        self.hostile = hostile
        self._log = hostile.base / "audit"
        self._trace = hostile.base / "trace"
        hooks = hostile.base / "hooks"
        hooks.mkdir()
        (hooks / "sitecustomize.py").write_text(_SITECUSTOMIZE)
        source = hostile.environment()["PYTHONPATH"]
        self._environment = hostile.environment(
            PYTHONPATH=os.pathsep.join([str(hooks), source]), AUDIT_LOG=str(self._log)
        )

    def __call__(self, command: list[str], given: str = "") -> Seen:
        self._log.write_text("")
        self._trace.unlink(missing_ok=True)
        watch = [_STRACE, "-f", "-s", "4096", "-e", "trace=execve", "-o", str(self._trace)]
        process = subprocess.Popen(
            [*(watch if _STRACE else []), *command],
            cwd=self.hostile.root,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        output = _conversation(process, given)
        rest, complaints = process.communicate()
        output += rest
        assert process.returncode in (0, 1, 2), complaints
        traced = self._trace.read_text(errors="replace") if self._trace.exists() else ""
        programs = executed(traced.splitlines())
        events = [line.split("\t", 1) for line in self._log.read_text().splitlines()]
        return Seen(programs, [event for event in events if len(event) == 2], output, complaints)


def executed(lines: Iterable[str]) -> set[str]:
    """The programs that a trace of `execve` shows as executed."""
    programs = set()
    called: dict[str, str] = {}
    for line in lines:
        if call := _CALLED.match(line):
            called[call["process"]] = call["program"]
        found = call or _RESUMED.match(line)
        if found and _SUCCEEDED.search(line):
            programs.add(called[found["process"]])
    return programs


def _conversation(process: "subprocess.Popen[str]", given: str) -> str:
    """Send messages, and read until the last reply."""
    if not given:
        return ""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(given)
    process.stdin.flush()
    last = json.loads(given.splitlines()[-1])["id"]
    heard = []
    for line in process.stdout:
        heard.append(line)
        if json.loads(line).get("id") == last:
            break
    return "".join(heard)


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    return Audit(Hostile(tmp_path_factory.mktemp("audited")))


def _mcp(*calls: tuple[str, dict[str, object]]) -> str:
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    messages: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        *(
            {"id": number, "method": "tools/call", "params": {"name": name, "arguments": given}}
            for number, (name, given) in enumerate(calls, start=2)
        ),
    ]
    return "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)


COMMANDS: dict[str, Callable[[Hostile], tuple[list[str], str]]] = {
    "index": lambda made: (made.command("index"), ""),
    "show": lambda made: (made.command("show", "add"), ""),
    "search": lambda made: (made.command("search", "--format", "context", "add"), ""),
    "pattern": lambda made: (made.command("search", "--mode", "exact", "regex:a[d]d"), ""),
    "callers": lambda made: (made.command("callers", "add", "--depth", "3"), ""),
    "status": lambda made: (made.command("status"), ""),
    "doctor": lambda made: (made.command("doctor"), ""),
    "agents": lambda made: (made.command("agent", "list"), ""),
    "agent": lambda made: (made.command("context", "add", "--agent", "evil"), ""),
    "trust": lambda made: (made.command("trust", str(made.root / "evil")), ""),
    "files": lambda made: (made.command("files", "."), ""),
    "validate": lambda made: (made.command("validate", "."), ""),
    "codebase_search": lambda made: (
        made.command("mcp"),
        _mcp(("index_codebase", {}), ("codebase_search", {"query": "add"})),
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_of_the_repository_is_executed(audit: Audit, name: str) -> None:
    if name != "index":
        audit(audit.hostile.command("index"))
    audit.hostile.forget()
    seen = audit(*COMMANDS[name](audit.hostile))
    assert audit.hostile.executed == []
    assert seen.below(audit.hostile.root) == []
    # Asterism's own programs; the doctor also runs those on PATH with --version.
    names = {Path(program).name for program in seen.programs}
    ours = {Path(sys.executable).name, "tsc", "ty"}
    probed = {"rust-analyzer"} if name == "doctor" else set()
    python = {one for one in names if one.startswith("python")}
    assert names - ours - probed - python == set()
    assert {line.split()[0] for line in audit.hostile.started} <= probed
    assert {place for kind, place in seen.events if kind == "start"} <= {sys.executable}
    assert seen.events
    refused = {"agent": "There is no agent 'evil'", "trust": "is part of the checkout"}
    assert refused.get(name, "") in seen.complaints
    if name in ("show", "search", "callers", "pattern", "codebase_search"):
        assert "add.go" in seen.output


def test_calls_that_are_traced_in_two_lines() -> None:
    traced = [
        '7 execve("/bin/ty", ["ty"], 0x1 /* 3 vars */ <unfinished ...>',
        '8 execve("/bin/none", ["none"], 0x1 /* 3 vars */) = -1 ENOENT (No such file)',
        '8 execve("/bin/tsc", ["tsc"], 0x1 /* 3 vars */) = 0',
        "7 <... execve resumed>)                  = 0",
        "8 +++ exited with 0 +++",
    ]
    assert executed(traced) == {"/bin/ty", "/bin/tsc"}


def test_compilers_were_asked(audit: Audit) -> None:
    """The audit notices processes, so the test above can fail."""
    if not _STRACE:
        pytest.skip("strace is not installed")
    audit(audit.hostile.command("index"))
    seen = audit(audit.hostile.command("show", "add"))
    assert {"tsc", "ty"} <= {Path(program).name for program in seen.programs}


@pytest.mark.parametrize(
    ("command", "canary", "inside"),
    [
        (["sh", "-c", "node_modules/.bin/tsc"], "local tsc", "node_modules/.bin/tsc"),
        (["sh", "-c", "$PWD/evil/wrapper"], "rustc wrapper", "/evil/wrapper"),
        ([sys.executable, "-c", "import conftest"], "conftest", "/conftest.py"),
        (
            [sys.executable, "-P", "-c", "import subprocess as s; s.run(['evil/wrapper'])"],
            "rustc wrapper",
            "evil/wrapper",
        ),
    ],
)
def test_the_audit_would_notice(audit: Audit, command: list[str], canary: str, inside: str) -> None:
    if command[0] == "sh" and not _STRACE:
        pytest.skip("strace is not installed")
    audit.hostile.forget()
    command = [word.replace("$PWD", str(audit.hostile.root)) for word in command]
    seen = audit(command)
    assert canary in audit.hostile.executed
    assert any(place.endswith(inside) for place in seen.below(audit.hostile.root))
