"""Do language servers start only for trusted repositories?"""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.trust.hostile import Hostile

ADVICE = "asterism trust"


class Run:
    """Runs Asterism in the repository."""

    def __init__(self, hostile: Hostile) -> None:
        self.hostile = hostile

    def __call__(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.hostile.command(*arguments),
            cwd=self.hostile.root,
            env=self.hostile.environment(**environment),
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = Run(Hostile(tmp_path_factory.mktemp("hostile")))
    done = made("index")
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture
def run(indexed: Run) -> Run:
    indexed.hostile.forget()
    return indexed


def answers(done: "subprocess.CompletedProcess[str]") -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def mcp(run: Run, tool: str, **arguments: Any) -> str:
    """The text that a tool of `asterism mcp` replies with."""
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}},
    ]
    process = subprocess.Popen(
        run.hostile.command("mcp"),
        cwd=run.hostile.root,
        env=run.hostile.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            process.stdin.flush()
        for line in process.stdout:
            reply = json.loads(line)
            if reply.get("id") == 2:
                process.stdin.close()
                return json.dumps(reply["result"], ensure_ascii=False)
    raise AssertionError("the server ended without a reply")


WAYS: dict[str, Callable[[Run], object]] = {
    "show": lambda run: run("show", "add"),
    "context": lambda run: run("search", "--format", "context", "add"),
    "callers": lambda run: run("callers", "add"),
    "refs as JSON": lambda run: run("refs", "add", "--json"),
    "codebase_search": lambda run: mcp(run, "codebase_search", query="symbol = add"),
    "doctor": lambda run: run("doctor"),
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_an_untrusted_repository_runs(run: Run, way: str) -> None:
    WAYS[way](run)
    assert run.hostile.executed == []
    probes = [line for line in run.hostile.started if " in / with " not in line]
    assert probes == []
    if way != "doctor":
        assert run.hostile.started == []


@pytest.mark.parametrize("way", [way for way in WAYS if way != "doctor"])
def test_the_reply_says_once_how_to_get_more(run: Run, way: str) -> None:
    reply = WAYS[way](run)
    if isinstance(reply, subprocess.CompletedProcess):
        assert reply.returncode == 0, reply.stderr
        told = reply.stdout if way.endswith("JSON") else reply.stdout + reply.stderr
        assert told.count(f"{ADVICE} {run.hostile.root}") == 1
    else:
        reply_json = json.loads(str(reply))
        text = "".join(part["text"] for part in reply_json["content"])
        assert text.count(f"{ADVICE} {run.hostile.root}") == 1


def test_the_fakes_would_notice(run: Run) -> None:
    """The fakes obey the repository if they start in it, with the full environment."""
    for name in ("rust-analyzer", "gopls", "clangd", "jdtls"):
        subprocess.run(
            [str(run.hostile.programs / name), "--version"],
            cwd=run.hostile.root,
            env=run.hostile.environment(),
            stdin=subprocess.DEVNULL,
            check=False,
        )
    assert run.hostile.executed == [
        "rust-toolchain.toml",
        "go.work toolchain",
        "clangd wrapper",
        "gradle wrapper",
    ]


def test_a_trusted_repository_is_asked_with_nothing_of_the_user(run: Run, tmp_path: Path) -> None:
    root = str(run.hostile.root)
    own = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert answers(run("trust", root, "--json", **own))["changed"] is True
    found = answers(run("callers", "add", "--json", **own))
    assert [note for note in found["notes"] if ADVICE in note or "failed" in note] == []
    # Each language's scripted server found the caller of its own file.
    callers = {
        (call["qualified_name"], call["known"])
        for symbol in found["definitions"]
        for call in symbol["calls"]["calls"]
    }
    assert {("more", "resolved"), ("twice", "resolved"), ("thrice", "resolved")} <= callers
    started = run.hostile.started
    assert {line.split()[0] for line in started} == {"rust-analyzer", "gopls", "clangd", "jdtls"}
    for line in started:
        assert " in / with " in line
        variables = line.partition(" with ")[2].split()
        assert not {"OPENAI_API_KEY", "SSH_AUTH_SOCK", "VIRTUAL_ENV", "PYTHONPATH"} & {*variables}
    assert run.hostile.executed == []
    assert answers(run("untrust", root, "--json", **own))["changed"] is True
    run.hostile.forget()
    assert ADVICE in run("callers", "add", **own).stderr
    assert run.hostile.started == []


_PROXY = """#!/bin/sh
IFS=:
for folder in $PATH; do
    [ "$folder/rust-analyzer" -ef "$0" ] && continue
    [ -x "$folder/rust-analyzer" ] && exec "$folder/rust-analyzer"
done
exit 1
"""


@pytest.mark.parametrize("first", ["the proxy", "the repository"])
@pytest.mark.parametrize("place", ["repository", "elsewhere"])
def test_doctor_starts_no_program_of_a_folder_of_path(
    run: Run, tmp_path: Path, first: str, place: str
) -> None:
    """Rustup's `rust-analyzer` starts the next one on PATH where its component is missing."""
    brought = tmp_path / "repository" / ".venv" / "bin"
    own, canary = tmp_path / "cargo" / "bin", tmp_path / "executed"
    brought.mkdir(parents=True)
    own.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "repository" / ".git" / "objects").mkdir(parents=True)
    (tmp_path / "repository" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (brought / "rust-analyzer").write_text(f"#!/bin/sh\ntouch {canary}\n")
    (own / "rust-analyzer").write_text(_PROXY)
    for folder in (brought, own):
        (folder / "rust-analyzer").chmod(0o755)
    order = [own, brought] if first == "the proxy" else [brought, own]
    path = os.pathsep.join([*map(str, order), os.defpath])
    done = subprocess.run(
        run.hostile.command("doctor"),
        cwd=tmp_path / place,
        env=run.hostile.environment(PATH=path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Rust server" in done.stdout
    assert not canary.exists()
    lies = f"{brought}/rust-analyzer lies in the checkout" in done.stdout
    assert lies is (first == "the repository" and place == "elsewhere")
    # The proxy works as rustup's does.
    subprocess.run([str(own / "rust-analyzer")], env={"PATH": path}, check=True)
    assert canary.exists()
