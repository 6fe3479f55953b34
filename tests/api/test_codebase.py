"""`asterism.open`: a repository is made known, built when needed, searched and asked for names."""

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import asterism
from asterism.api.codebase import Codebase
from asterism.indexing.report import SyncStage
from asterism.types.errors import IndexMissing, PathMissing, SettingError, UsageError
from tests.models.weights.tiny_models import make_encoder

ROOT = Path(__file__).resolve().parents[2]

MONEY = '''\
from decimal import Decimal


class Purse:
    """Holds coins."""

    def deposit(self, amount):
        """Put coins in."""
        self.total = self.total + Decimal(amount)

    def withdraw(self, amount):
        """Take coins out."""
        self.total = self.total - Decimal(amount)


def audit(purse):
    return purse.deposit(0)
'''
CLOCK = "export function tick(time: number) {\n  return time + 1;\n}\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository, and places of its own for its index."""
    root = tmp_path / "bank"
    (root / "web").mkdir(parents=True)
    (root / "money.py").write_text(MONEY)
    (root / "web" / "clock.ts").write_text(CLOCK)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ASTERISM_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("ASTERISM_CACHE_DIR", str(tmp_path / "cache"))
    # However slow the machine is, a question sees the files as they are.
    monkeypatch.setenv("ASTERISM_INDEX_SYNC_SECONDS", "600")
    return root


@pytest.fixture
def code(root: Path) -> Iterator[Codebase]:
    with asterism.open(root) as opened:
        yield opened


def names(reply: asterism.Reply) -> list[str]:
    return [hit.qualified_name for hit in reply]


def test_encoder_vectors(root: Path, tmp_path: Path) -> None:
    folder = make_encoder(tmp_path / "encoder")
    with asterism.open(root, settings={"embedding.upgrade": str(folder)}) as code:
        code.sync()
        assert "the built-in model answers until then" in code.status().upgrade
        report = code.upgrade()
        assert report.embedded == report.texts > 0
        assert code.status().upgrade.endswith("chunks, and answers.")
        assert code.search("who puts coins in").notes == ()
    with asterism.open(root) as code:
        assert code.status().upgrade == ""
        with pytest.raises(UsageError, match=r"embedding\.upgrade"):
            code.upgrade()


def test_the_first_question_builds_the_index(root: Path) -> None:
    heard: list[asterism.Progress] = []
    with asterism.open(root, listener=heard.append) as code:
        assert code.status().state == "missing"
        assert heard == []
        reply = code.search("take coins out")
        assert reply[0].qualified_name == "Purse.withdraw"
        assert SyncStage.reading in {progress.stage for progress in heard}
        assert code.status()._replace(sentence="") == asterism.IndexStatus("equal", "", 0, 2, 6)
    assert {path.name for path in root.iterdir()} == {"money.py", "web"}


def test_sync_says_what_it_did(code: Codebase, root: Path) -> None:
    assert code.sync().sentence.startswith("Indexed 2 files")
    (root / "more.py").write_text("x = 1\n")
    assert code.status().behind == 1
    assert code.sync().added == 1
    assert code.sync().sentence == "Nothing to do: all 3 files are as they were."
    assert code.sync(force=True).parsed == 3


def test_a_hit_says_where_it_is_and_why(code: Codebase, root: Path) -> None:
    hit = code.search("Purse.deposit", limit=1)[0]
    assert (hit.file_path, hit.start_line, hit.end_line) == ("money.py", 7, 9)
    assert (hit.qualified_name, hit.kind, hit.language) == ("Purse.deposit", "method", "python")
    assert hit.content == "\n".join(MONEY.split("\n")[6:9])
    assert (hit.detail, hit.signature) == ("full", "def deposit(self, amount)")
    assert 0 < hit.similarity_score <= 1
    assert (hit.path, hit.name, hit.score, hit.text) == (
        hit.file_path,
        hit.qualified_name,
        hit.similarity_score,
        hit.content,
    ), "the names of earlier versions"
    assert {"name", "text"} <= {signal.name for signal in hit.why or ()}
    assert (hit.absolute_path, hit.repo) == (str(root / "money.py"), "bank")


def test_a_reply_accounts_for_the_rest(code: Codebase) -> None:
    reply = code.search("amount", limit=1)
    assert len(reply) == len(reply.hits) == 1
    account = reply.account
    assert account.total_count == account.returned_count + sum(account.dropped)
    assert not reply.total_is_exact
    assert reply.filters == {"repo": ["bank"]}
    assert (reply.behind, reply.notes, reply.cursor) == (0, (), None)
    assert reply.seconds > 0


@pytest.mark.parametrize(
    ("query", "options", "found"),
    [
        ("symbol = Purse.deposit", {}, ["Purse.deposit"]),
        ("tick", {"mode": "definition"}, ["tick"]),
        ("regex:Decimal\\(", {}, ["Purse.deposit", "Purse.withdraw"]),
        ("amount", {"mode": "exact", "type": "method"}, ["Purse.deposit", "Purse.withdraw"]),
        ("tick", {"mode": "exact", "filters": {"languages": ["typescript"]}}, ["tick"]),
        ("tick", {"mode": "exact", "languages": "python"}, []),
        ("purse", {"mode": "exact", "path": "web"}, []),
        ("coins", {"mode": "exact", "has_docstring": True, "type": ["class"]}, ["Purse"]),
    ],
)
def test_modes_and_filters(
    code: Codebase, query: str, options: dict[str, Any], found: list[str]
) -> None:
    reply = code.search(query, **options)
    assert names(reply) == found
    assert bool(reply) is bool(found)


def test_pages(code: Codebase) -> None:
    seen: list[str] = []
    cursor = None
    while True:
        page = code.search("regex:.", exhaustive=True, limit=3, cursor=cursor)
        seen += [hit.chunk_id for hit in page]
        cursor = page.cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == len(code.search("regex:.", exhaustive=True, limit=100))


def test_similar_code(code: Codebase, root: Path) -> None:
    assert names(code.similar("money.py", 8))[0] == "Purse.withdraw"
    assert "Purse" not in names(code.similar(root / "money.py", 8))
    snippet = "def put(self, amount):\n    self.total = self.total + Decimal(amount)"
    assert names(code.search(mode="similar", code_snippet=snippet))[0] == "Purse.deposit"
    both = code.search("coins", mode="similar", code_snippet=snippet)
    assert both.notes == (
        "Compared with the piece of code alone; the words of the question are not used.",
    )


def test_lines_around_and_a_budget(code: Codebase) -> None:
    hit = code.search("symbol = audit", context_lines=1)[0]
    assert (hit.context_before, hit.context_after) == ("", "")
    (short,) = code.search("symbol = Purse", max_tokens=30)
    assert (short.detail, short.content) == (
        "collapsed",
        'class Purse:\n    """Holds coins."""\n\n    def deposit(self, amount)\n\n    def withdraw(self, amount)',
    )


def test_symbols(code: Codebase) -> None:
    found = code.symbols("deposit")
    assert [(each.role, each.file_path, each.line) for each in found] == [
        ("definition", "money.py", 7),
        ("usage", "money.py", 17),
    ]
    assert (found.total, found.counts) == (2, {"definition": 1, "usage": 1})
    assert [each.line for each in code.symbols("deposit", role="usage")] == [17]
    assert len(code.symbols("deposit", kind="class")) == 0
    assert "deposit" in code.symbols("depositt").did_you_mean


def test_new_code_is_found_at_once(code: Codebase, root: Path) -> None:
    code.sync()
    (root / "late.py").write_text("def serendipity():\n    return 1\n")
    assert names(code.search("serendipity"))[0] == "serendipity"
    (root / "late.py").write_text("def zemblanity():\n    return 1\n")
    assert {each.file_path for each in code.symbols("zemblanity")} == {"late.py"}


def test_the_same_repository_opened_elsewhere(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asterism.open(root, name="savings").close()
    for place in (root / "web", root / "money.py", str(root)):
        assert (asterism.open(place).root, asterism.open(place).name) == (root, "savings")
    monkeypatch.chdir(root / "web")
    assert asterism.open().root == root
    assert repr(asterism.open()) == f"<asterism.Codebase savings at {root}>"


def test_a_checkout_is_found_from_inside(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(root / "web")
    assert asterism.open().root == root


def test_settings_of_the_call_come_first(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ASTERISM_INDEX_SYNC_SECONDS", "never")
    with caplog.at_level(logging.WARNING, "asterism"):
        code = asterism.open(root, settings={"discovery.max_file_bytes": 100})
    assert "ASTERISM_INDEX_SYNC_SECONDS" in caplog.text
    assert code.sync().files == 1
    with pytest.raises(SettingError, match=r"asterism\.open: there is no setting x"):
        asterism.open(root, settings={"x": 1})


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"query": ""}, "empty"),
        ({"query": "\0"}, "empty"),
        ({"query": "?!"}, "no words"),
        ({"query": 3}, "give a text"),
        ({"query": None}, "give a text"),
        ({"query": "regex:("}, "regular expression"),
        ({"query": "regex:" + "(x)" * 400_000}, "give 100,000 at most"),
        ({"query": "x", "mode": "fuzzy"}, "hybrid, semantic, exact"),
        ({"query": "x", "mode": 7}, "give a text"),
        ({"query": "x", "stage": "wander"}, "discover, refine"),
        ({"query": "x", "limit": 0}, "give 1 to 50"),
        ({"query": "x", "limit": -1}, "give 1 to 50"),
        ({"query": "x", "limit": 10**9}, "give 1 to 50"),
        ({"query": "x", "limit": 2.5}, "whole number"),
        ({"query": "x", "limit": True}, "whole number"),
        ({"query": "x", "limit": "3"}, "whole number"),
        ({"query": "x", "min_score": "high"}, "give a number"),
        ({"query": "x", "min_score": float("inf")}, "give 0 to 1"),
        ({"query": "x", "max_tokens": 0}, "give 1 or more"),
        ({"query": "x", "context_lines": 99}, "give 0 to 10"),
        ({"query": "x", "cursor": "abc"}, "exhaustive"),
        ({"query": "x", "cursor": "abc", "exhaustive": True}, "without a cursor"),
        ({"query": "x", "colour": "red"}, "The filters are path,"),
        ({"query": "x", "filters": {"colour": "red"}}, "The filters are path,"),
        ({"query": "x", "filters": ["path"]}, "mapping of keys"),
        ({"query": "x", "filters": {"path": "a"}, "path": "b"}, "given twice"),
        ({"query": "x", "path": "../outside"}, "not inside"),
        ({"query": "x", "is_exported": "yes"}, "true or false"),
        ({"query": "x", "repo": "other"}, "no repository other"),
        ({"query": "x", "bm25_weight": 7}, "from 0 to 1"),
        ({"mode": "similar"}, "needs a piece of code"),
        ({"mode": "similar", "code_snippet": " "}, "no words"),
        ({"query": "x", "code_snippet": "f()"}, "belongs to mode similar"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_bad_questions(ready: Codebase, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(asterism.AsterismError, match=says):
        ready.search(**arguments)


@pytest.mark.parametrize(
    "query",
    ["x" * 100_000, "日本語 🎉 coins", "the of and", "coins \ud800\udce9", "coins\0amount", "a"],
    ids=lambda value: ascii(value)[:30],
)
def test_odd_questions(ready: Codebase, query: str) -> None:
    reply = ready.search(query)
    assert len(reply) == reply.account.returned_count
    assert bool(reply.notes) is (len(query) > 10_000)


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codebase]:
    """An opened repository that no test changes."""
    base = tmp_path_factory.mktemp("ready")
    (base / "bank").mkdir()
    (base / "bank" / "money.py").write_text(MONEY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(base))
        patch.setenv("ASTERISM_DATA_DIR", str(base / "data"))
        patch.setenv("ASTERISM_CACHE_DIR", str(base / "cache"))
        patch.setenv("ASTERISM_INDEX_SYNC_SECONDS", "600")
        with asterism.open(base / "bank") as opened:
            opened.sync()
            yield opened


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nowhere.py", 1), "does not exist"),
        (("money.py", 0), "counted from 1"),
        (("money.py", 999), "ends on line 17"),
        (("money.py", "3"), "whole number"),
        (("..", 1), "is a directory"),
        (("/etc/passwd", 1), "is not inside"),
    ],
    ids=str,
)
def test_bad_places(ready: Codebase, arguments: tuple[Any, ...], says: str) -> None:
    with pytest.raises(asterism.AsterismError, match=says):
        ready.similar(*arguments)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"name": " "}, "empty"),
        ({"name": 3}, "give a text"),
        ({"name": "x", "role": "owner"}, "definition, export"),
        ({"name": "x", "kind": 3}, "a list of texts"),
        ({"name": "x", "limit": -1}, "0 or more"),
    ],
    ids=str,
)
def test_bad_names(ready: Codebase, options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        ready.symbols(**options)


def test_bad_repositories(root: Path, tmp_path: Path) -> None:
    with pytest.raises(PathMissing, match="does not exist"):
        asterism.open(tmp_path / "nowhere")
    with pytest.raises(asterism.AsterismError, match="directory"):
        asterism.open(root / "money.py")
    with pytest.raises(UsageError, match="whole number"):
        asterism.open(root, jobs=0)
    (tmp_path / "bare").mkdir()
    with pytest.raises(IndexMissing, match="is empty"):
        asterism.open(tmp_path / "bare").search("x")


def test_a_repository_that_went_away(root: Path, tmp_path: Path) -> None:
    code = asterism.open(root)
    code.sync()
    root.rename(tmp_path / "elsewhere")
    with pytest.raises(asterism.AsterismError, match=str(root)):
        code.search("coins")
    with pytest.raises(asterism.AsterismError, match=str(root)):
        code.sync()


def test_an_option_that_is_not_known(ready: Codebase) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        ready.ask("x", colour="red")  # type: ignore[call-arg]


def test_closed_is_closed(root: Path) -> None:
    code = asterism.open(root)
    code.close()
    for call in (code.sync, code.status, lambda: code.search("x"), lambda: code.symbols("x")):
        with pytest.raises(UsageError, match="was closed"):
            call()


SCRIPT = """
import asterism
code = asterism.open({root!r}, jobs={jobs})
print(code.sync(force=True).files)
"""


def run_script(root: Path, tmp_path: Path, jobs: int) -> subprocess.CompletedProcess[str]:
    """A script as people write them, without a guard."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(root=str(root), jobs=jobs))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False
    )


def test_a_plain_script(root: Path, tmp_path: Path) -> None:
    done = run_script(root, tmp_path, jobs=1)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


def test_a_script_that_wants_processes_is_told_of_the_guard(root: Path, tmp_path: Path) -> None:
    # So many files that processes are worth their while.
    for number in range(300):
        (root / f"more_{number}.py").write_text(f"x = {number}\n")
    done = run_script(root, tmp_path, jobs=2)
    assert done.returncode == 1
    assert 'below `if __name__ == "__main__":`' in done.stderr.splitlines()[-1]
