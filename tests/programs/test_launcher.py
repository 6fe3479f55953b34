"""Does a program get the environment, directory and limits of its row, and nothing else?"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from asterism.programs.start import Launch, fences, inherited, is_below, prepare, run, search_path
from asterism.programs.table import (
    DOCTOR_PROBE,
    PROGRAMS,
    RUST_ANALYZER,
    SERVERS,
    TOOL_SERVER,
    TYPESCRIPT,
    Consent,
    Files,
    Limits,
    Program,
)

PLAIN = Program(name="plain", purpose="says how it is", consent=Consent.always)
CONFINED = replace(
    PLAIN,
    limits=Limits(memory_times=1.0, cpu_seconds=5, processes=64, network=False),
)
FENCED = replace(
    CONFINED,
    files=Files.named,
    reads=("{root}",),
    writes=("{cache}",),
)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
needs_files = pytest.mark.skipif(not fences().files, reason="this kernel has no Landlock")
needs_network = pytest.mark.skipif(not fences().network, reason="this kernel has no seccomp")


def said(
    program: Program, code: str, values: Mapping[str, str] | None = None, memory: int = 0
) -> str:
    """The output of Python code run as this program, or the last line of stderr."""
    launch = Launch(
        program=program,
        command=(sys.executable, "-I", "-c", code),
        values=values or {},
        memory_bytes=memory,
    )
    done = run(launch, 120)
    complaint = next(reversed(done.stderr.strip().splitlines()), "")
    return done.stdout.strip() or complaint or f"ended with {done.returncode}"


def test_directory_and_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "LD_PRELOAD_X", "RUSTC_WRAPPER", "JAVA_TOOL_OPTIONS", "GOFLAGS"):
        monkeypatch.setenv(name, "evil")
    monkeypatch.setenv("LANG", "C.UTF-8")
    for name in ("LC_ALL", "LC_CTYPE", "DYLD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LD_LIBRARY_PATH", "evil:/usr/lib::.")
    code = "import json, os; print(json.dumps([os.getcwd(), dict(os.environ)]))"
    for program in (PLAIN, CONFINED):
        directory, environment = json.loads(said(program, code))
        assert directory == "/"
        # Python itself adds LC_CTYPE.
        assert {**environment, "LC_CTYPE": ""} == {
            "LANG": "C.UTF-8",
            "LD_LIBRARY_PATH": "/usr/lib",
            "LC_CTYPE": "",
        }


SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "AUTH", "SOCK", "PRELOAD")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_no_row_hands_a_secret_on(program: Program) -> None:
    if program.inherits == ("*",):
        # Asterism's own workers, and commands that the user gives to `asterism eval`.
        assert program.name in ("reader processes", "compared tool")
        return
    assert [name for name in program.inherits if any(word in name for word in SECRETS)] == []


@pytest.mark.parametrize("program", SERVERS, ids=lambda program: program.name)
def test_every_server_is_held(program: Program) -> None:
    limits = program.limits
    assert not limits.network
    assert limits.cpu_seconds
    assert limits.processes
    assert limits.memory_times
    assert program.tied
    assert program.directory == ""
    assert (program.consent is Consent.always) == (program.name in ("tsc", "ty"))
    if program.consent is Consent.always:
        assert program.files is Files.named


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("/usr/bin:/bin", "/usr/bin:/bin"),
        (".:/usr/bin", "/usr/bin"),
        ("node_modules/.bin:/usr/bin::./x", "/usr/bin"),
        ("{root}/node_modules/.bin:/usr/bin", "/usr/bin"),
        ("{root}:/usr/bin:{root}-beside", "/usr/bin:{root}-beside"),
        ("{base}/link:/usr/bin", "/usr/bin"),
        ("", ""),
    ],
)
def test_the_search_path_has_no_folder_of_the_repository(
    tmp_path: Path, path: str, left: str
) -> None:
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    (tmp_path / "link").symlink_to(root / "bin")

    def filled(text: str) -> str:
        return text.replace("{root}", str(root)).replace("{base}", str(tmp_path))

    assert search_path(filled(path), str(root)) == filled(left)


def test_below() -> None:
    assert is_below("/a/b", "/a")
    assert is_below("/a", "/a")
    assert is_below("/a", "/")
    assert not is_below("/ab", "/a")


def test_modules_of_the_user_are_found_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"source{os.pathsep}{os.pathsep}/other")
    assert inherited(DOCTOR_PROBE)["PYTHONPATH"] == f"{tmp_path}/source{os.pathsep}/other"


def test_overrides_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSTC_WRAPPER", "evil")
    monkeypatch.setenv("RUSTUP_TOOLCHAIN", "./evil")
    environment = prepare(Launch(program=RUST_ANALYZER, command=("x",))).environment
    assert environment["RUSTC_WRAPPER"] == ""
    assert "RUSTUP_TOOLCHAIN" not in environment


def test_a_tool_server_gets_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER", "evil")
    launch = Launch(
        program=TOOL_SERVER,
        command=("x",),
        values={"directory": "/"},
        environment={"TOKEN": "its own"},
    )
    assert prepare(launch).environment == {"TOKEN": "its own"}
    assert "OTHER" not in inherited(TOOL_SERVER)
    # No variable, such as a token, is among the arguments.
    assert "its own" not in " ".join(prepare(launch).command)


@on_linux
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import resource as r; print(r.getrlimit(r.RLIMIT_CPU))", "(5, 5)"),
        ("import resource as r; print(r.getrlimit(r.RLIMIT_CORE))", "(0, 0)"),
        ("import resource as r; print(r.getrlimit(r.RLIMIT_DATA))", "(300000000, 300000000)"),
        ("print(len(bytes(900_000_000)))", "MemoryError"),
        ("import resource as r; print(r.getrlimit(r.RLIMIT_NPROC)[0] > 0)", "True"),
    ],
)
def test_limits(code: str, expected: str) -> None:
    assert said(CONFINED, code, memory=300_000_000) == expected


@on_linux
def test_a_program_that_never_ends_runs_out_of_time() -> None:
    short = replace(CONFINED, limits=replace(CONFINED.limits, cpu_seconds=1))
    assert said(short, "while True: pass").startswith("ended with -")


@on_linux
@needs_network
@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"])
def test_no_sockets(family: str) -> None:
    code = f"import socket; socket.socket(socket.{family}, socket.SOCK_STREAM)"
    assert said(CONFINED, code) == "PermissionError: [Errno 13] Permission denied"


@on_linux
@needs_network
def test_no_connection_to_a_listener_that_others_reach() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        code = (
            "import socket; socket.create_connection(('127.0.0.1', "
            f"{listener.getsockname()[1]})); print('connected')"
        )
        assert said(PLAIN, code) == "connected"
        assert said(CONFINED, code) == "PermissionError: [Errno 13] Permission denied"
        # Its children are limited as well.
        child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
        assert said(CONFINED, child) == "PermissionError: [Errno 13] Permission denied"


@on_linux
def test_pairs_of_sockets_still_work() -> None:
    assert said(CONFINED, "import socket; a, b = socket.socketpair(); print('paired')") == "paired"


@on_linux
@needs_files
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("print(open('{root}/a').read())", "inside"),
        ("print(open('{outside}/a').read())", "PermissionError"),
        ("print(open('{root}/link').read())", "PermissionError"),
        ("print(open('{root}/../outside/a').read())", "PermissionError"),
        ("print(open('/etc/passwd').read())", "PermissionError"),
        ("import os; print(os.listdir('{outside}'))", "PermissionError"),
        ("open('{root}/new', 'w')", "PermissionError"),
        ("open('{root}/a', 'a')", "PermissionError"),
        ("import os; os.remove('{root}/a')", "PermissionError"),
        ("import os; os.link('{root}/a', '{cache}/a')", "OSError"),
        ("open('{cache}/new', 'w').write('x'); print(open('{cache}/new').read())", "x"),
        ("import os; os.execv('{root}/run', ['run'])", "PermissionError"),
        ("import os; os.symlink('/etc', '{cache}/l'); print(os.listdir('{cache}/l'))", "Permis"),
    ],
)
def test_files(tmp_path: Path, code: str, expected: str) -> None:
    root, outside, cache = (tmp_path / name for name in ("root", "outside", "cache"))
    for place, text in ((root, "inside"), (outside, "outside")):
        place.mkdir()
        (place / "a").write_text(text)
    (root / "link").symlink_to(outside / "a")
    (root / "run").write_text("#!/bin/sh\necho ran\n")
    (root / "run").chmod(0o755)
    values = {"root": str(root), "cache": str(cache), "outside": str(outside)}
    for name, value in values.items():
        code = code.replace(f"{{{name}}}", value)
    assert said(FENCED, code, values).startswith(expected)


def test_without_its_values_a_fenced_program_reads_nothing(tmp_path: Path) -> None:
    launch = Launch(program=TYPESCRIPT, command=("tsc",), arguments=("--version",))
    command = prepare(launch).command
    assert "fenced" in command
    assert [word for word in command if word.startswith(("reads=", "writes="))] == []
    assert [word for word in command if str(tmp_path) in word] == []


@on_linux
def test_it_ends_with_what_started_it() -> None:
    """The program ends with its parent when it is fenced, too."""
    tied = (
        "import sys\n"
        "from asterism.programs.start import Launch, start\n"
        "from asterism.programs.table import *\n"
        "limits = Limits(cpu_seconds=60, processes=64, network=False)\n"
        "program = Program(name='x', purpose='', consent=Consent.always, limits=limits)\n"
        "code = 'import time; print(1, flush=True); time.sleep(600)'\n"
        "import subprocess\n"
        "child = start(Launch(program=program, command=(sys.executable, '-I', '-c', code)),"
        " stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\n"
        "print(child.pid, flush=True)\n"
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    source = str(Path(__file__).resolve().parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", tied],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    pid = int(done.stdout)
    # The test holds the pipe open, so the end is checked in the process table.
    for _ in range(6000):
        if not _is_alive(pid):
            break
        _wait()
    assert not _is_alive(pid)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _wait() -> None:
    import time

    time.sleep(0.01)
