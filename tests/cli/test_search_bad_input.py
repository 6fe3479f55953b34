"""Whatever a search is asked, it answers in a line that says what to do, or says what happened."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from asterism.cli.main import main
from asterism.indexing.lock import writer
from tests.cli.conftest import ROOT, SERVICE, Run, spawn
from tests.servers.http_clients import descendants

LONG = "validate a token " * 6_000
# Exponential on what it is applied to below, so that it runs until it is stopped.
ENDLESS = r"regex:(a+)+b"
PATIENCE_SECONDS = 600.0
"""How long a command may take on a busy machine before a test gives up."""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with an indexed repository `shop`, which no test changes."""
    base = tmp_path_factory.mktemp("asked")
    (base / "shop" / "src").mkdir(parents=True)
    (base / "shop" / "src" / "tokens.ts").write_text(SERVICE)
    (base / "shop" / "main.py").write_text("def main():\n    return 1\n")
    with pytest.MonkeyPatch.context() as patch:
        _settle(base, patch)
        assert main(["index"]) == 0
    return base


@pytest.fixture
def shop(base: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository, as the current directory."""
    _settle(base, monkeypatch)
    return base / "shop"


def _settle(base: Path, patch: pytest.MonkeyPatch) -> None:
    patch.chdir(base / "shop")
    patch.setenv("HOME", str(base))
    patch.setenv("ASTERISM_DATA_DIR", str(base / "data"))
    patch.setenv("ASTERISM_CACHE_DIR", str(base / "cache"))
    patch.setenv("ASTERISM_INDEX_SYNC_SECONDS", "600")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([""], "empty"),
        (["  \n\t "], "empty"),
        (["???"], "no words"),
        (["🎉🎉"], "no words"),
        (["\0\0"], "empty"),
        (["regex:("], "no regular expression"),
        (["regex:"], "no pattern"),
        (["regex:" + "x" * 20_000], "shorten it"),
        (["symbol ="], "no name"),
        (["x", "--filter", "colour=red"], "The filters are path,"),
        (["x", "--filter", "type"], "no value"),
        (["x", "--filter", "type=klass"], "did you mean class?"),
        (["x", "--filter", "path=../other"], "not inside"),
        (["x", "--filter", "path=/etc/passwd"], "not inside"),
        (["x", "--filter", "repo=nope"], "There is no repository nope"),
        (["x", "src", "--filter", "path_prefix=docs/"], "nothing can be found"),
        (["x", "--limit", "0"], "give 1 to 50"),
        (["x", "--limit", "-1"], "give 1 to 50"),
        (["x", "--limit", "1000000000"], "give 1 to 50"),
        (["x", "--exhaustive", "--limit", "101"], "give 1 to 100"),
        (["x", "--min-score", "2"], "give 0 to 1"),
        (["x", "--min-score", "nan"], "give 0 to 1"),
        (["x", "--tokens", "0"], "give 1 or more"),
        (["x", "--context-lines", "11"], "give 0 to 10"),
        (["x", "--context-lines", "-1"], "give 0 to 10"),
        (["x", "--cursor", "abc"], "ask exhaustively"),
        (["x", "--exhaustive", "--cursor", "abc"], "Ask again without a cursor"),
        (["x", "nowhere"], "does not exist"),
        (["x", "/"], "asterism index"),
        (["", "--mode", "similar"], "needs a piece of code"),
        (["{}", "--mode", "similar"], "no words"),
        (["regex:x", "--mode", "similar", "--cursor", "x"], "ask exhaustively"),
        (["12 + 3", "--mode", "definition"], "needs a name"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_one_line_says_what_to_do(run: Run, shop: Path, arguments: list[str], says: str) -> None:
    done = run("search", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("asterism: ")
    assert done.err.count("\n") == 1
    assert says in done.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["x", "--mode", "fuzzy"], "choose from 'hybrid'"),
        (["x", "--stage", "wander"], "choose from 'discover'"),
        (["x", "--limit", "many"], "invalid int"),
        (["x", "--limit", "1e9"], "invalid int"),
        (["x", "--min-score", "high"], "invalid float"),
        ([], "QUERY"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_the_parser_refuses(run: Run, arguments: list[str], says: str) -> None:
    done = run("search", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert says in done.err
    assert "see asterism search --help" in done.err


@pytest.mark.parametrize(
    ("query", "note"),
    [
        (LONG, "asterism: The last 92,"),
        ("validate 🎉 a token", ""),
        ("トークンを validate する", ""),
        ("日本語 検索", ""),
        ("the of and to", ""),
        ("validate\0token", ""),
        ("validate \udce9\ud800 token", ""),
        ("a", ""),
        ('"', ""),
        ("token" * 2_000, ""),
    ],
    ids=lambda value: ascii(value)[:40],
)
@pytest.mark.parametrize("mode", ["hybrid", "semantic", "exact", "definition"])
def test_odd_questions_are_answered(run: Run, shop: Path, query: str, note: str, mode: str) -> None:
    done = run("search", query, "--mode", mode)
    if done.code == 2:
        assert (done.out, done.err.count("\n")) == ("", 1)
        assert done.err.startswith("asterism: ")
    else:
        assert done.out.endswith(" ms\n")
        assert done.code == (1 if done.out.startswith("Nothing here matches.") else 0)
        assert done.err.startswith(note)


def test_bytes_that_are_no_text(repository: Path, places: Path) -> None:
    assert spawn(["index"], repository).code == 0
    done = spawn([b"search", b"validate \xff\xfe token"], repository)
    assert (done.code, done.err) == (0, "")
    assert "TokenService" in done.out


def test_too_much_on_standard_input(
    run: Run, indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, says in (("x" * 1_000_001, "over 1,000,000 bytes"), ("", "empty")):
        (tmp_path / "typed").write_text(text)
        with (tmp_path / "typed").open() as typed, monkeypatch.context() as patch:
            patch.setattr("sys.stdin", typed)
            done = run("search", "-")
        assert (done.code, done.out) == (2, "")
        assert says in done.err
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdin", None)
        assert "no standard input" in run("search", "-").err


def test_a_cursor_is_good_for_one_index_and_state(run: Run, indexed: Path, tmp_path: Path) -> None:
    listing = ("search", "regex:.", "--exhaustive", "--limit", "1")
    cursor = json.loads(run(*listing, "--json").out)["cursor"]
    assert run(*listing, "--cursor", cursor).code == 0
    other = tmp_path / "other"
    shutil.copytree(indexed, other)
    assert run("index", str(other)).code == 0
    asked = [
        ([*listing[:2], str(other), *listing[2:]], "another index"),
        (["search", "regex:x", *listing[2:]], "another question"),
        ([*listing], "has changed since"),
    ]
    (indexed / "new.py").write_text("x = 1\n")
    for command, says in asked:
        done = run(*command, "--cursor", cursor)
        assert (done.code, done.out) == (2, "")
        assert says in done.err


class _Model(BaseHTTPRequestHandler):
    """A server that gives every text the same kind of vector."""

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        data = [
            {"index": at, "embedding": [1.0, float(len(text)), 0.0, 1.0]}
            for at, text in enumerate(texts)
        ]
        body = json.dumps({"data": data, "usage": {}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


def test_a_provider_that_is_down(
    run: Run, repository: Path, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Model) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        for name, value in (
            ("PROVIDER", "openai"),
            ("URL", f"http://127.0.0.1:{server.server_port}/v1"),
            ("MODEL", "some-model"),
            ("DIMENSIONS", "4"),
        ):
            monkeypatch.setenv(f"ASTERISM_EMBEDDING_{name}", value)
        indexed = run("index")
        server.shutdown()
        thread.join()
    assert indexed.code == 0, indexed.err
    done = run("search", "validate a token")
    assert done.code == 0
    assert "TokenService" in done.out
    assert done.err.startswith("asterism: Answered by words alone: ")
    assert done.err.count("\n") == 1
    meant = run("search", "validate a token", "--mode", "semantic")
    assert (meant.code, meant.out, meant.err.count("\n")) == (2, "", 1)


def test_another_model_than_the_index_has(
    run: Run, indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASTERISM_EMBEDDING_PROVIDER", "openai")
    monkeypatch.setenv("ASTERISM_EMBEDDING_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("ASTERISM_EMBEDDING_MODEL", "some-model")
    monkeypatch.setenv("ASTERISM_EMBEDDING_DIMENSIONS", "4")
    done = run("search", "validate a token")
    assert done.code == 0
    assert "Answered by words alone" in done.err
    meant = run("search", "validate a token", "--mode", "semantic")
    assert (meant.code, meant.out) == (2, "")
    assert "run `asterism index`" in meant.err


def test_nothing_is_indexed_yet(run: Run, repository: Path, places: Path) -> None:
    assert "run `asterism index" in run("search", "x").err
    assert run("repos", "add", ".").code == 0
    done = run("search", "x")
    assert (done.code, done.out) == (2, "")
    assert "asterism index" in done.err


def test_a_repository_without_files(run: Run, places: Path, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    assert run("index", str(tmp_path / "bare")).code == 0
    done = run("search", "x", str(tmp_path / "bare"))
    assert (done.code, done.out) == (2, "")
    assert "--skipped" in done.err


def test_a_repository_that_is_gone(
    run: Run, indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    indexed.rename(tmp_path / "elsewhere")
    done = run("search", "x", str(indexed))
    assert (done.code, done.out) == (2, "")
    assert "does not exist" in done.err


def test_while_another_process_writes(run: Run, indexed: Path, places: Path) -> None:
    (indexed / "late.py").write_text("def late():\n    return 1\n")
    (project,) = (places / "data" / "projects").iterdir()
    with ExitStack() as stack:
        stack.enter_context(writer(project))
        # Longer than any test waits.
        os.utime(project / "writer.pid", (0, 0))
        done = run("search", "validate a token")
    assert done.code == 0
    assert "TokenService" in done.out
    assert done.err == "asterism: 1 file is behind (1 new); run `asterism index`.\n"


def test_a_reader_that_goes_away(indexed: Path) -> None:
    command = f"{sys.executable} -m asterism.cli search regex:. --exhaustive --json | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=indexed,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "{\n", "")


def test_an_interrupted_search(indexed: Path) -> None:
    (indexed / "long.py").write_text(f'x = "{"a" * 60}"\n')
    assert spawn(["index"], indexed).code == 0
    command = [sys.executable, "-m", "asterism.cli", "search", ENDLESS]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "ASTERISM_SERVER_QUERY_SECONDS": "600",
    }
    with subprocess.Popen(
        command, cwd=indexed, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        wait_for_matcher(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, out, err) == (130, b"", b"")


def wait_for_matcher(process: "subprocess.Popen[bytes]") -> None:
    """Until the process that matches the pattern is there: the search has begun."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not any(b"exact/worker" in command_of(pid) for pid in descendants(process.pid)):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.01)


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
