"""Other tools under evaluation: what they print, what they return, and how they fail."""

import sys
from pathlib import Path

import pytest

from asterism.evaluation.adapters import AdapterSearcher, CommandSearcher, parse_found
from asterism.evaluation.datasets import FoundPlace
from asterism.types.errors import PathMissing, UsageError

PLACES = [FoundPlace("a.py", 1, 2), FoundPlace("b.py")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.py:1:2\n\nb.py\n", PLACES),
        ("c:d.py:3:4", [FoundPlace("c:d.py", 3, 4)]),
        ("a.py:1:x", [FoundPlace("a.py:1:x")]),
        ('[{"path": "a.py", "start_line": 1, "end_line": 2}, {"path": "b.py"}]', PLACES),
        ('{"results": [{"file_path": "a.py", "start": 1, "end": 2}, {"file": "b.py"}]}', PLACES),
        ('{"hits": [{"file": "b.py", "tokens": 4}]}', [FoundPlace("b.py", tokens=4)]),
        ('{"path": "b.py"}', [FoundPlace("b.py")]),
        ('{"path": "b.py", "score": 0.5}', [FoundPlace("b.py", score=0.5)]),
        ('{"path": "b.py", "score": "high"}', [FoundPlace("b.py")]),
        ('{"path": "a.py", "start": 1, "end": 2}\n{"path": "b.py"}\n', PLACES),
        ("", []),
        ("[]", []),
    ],
)
def test_what_a_command_prints(text: str, expected: list[FoundPlace]) -> None:
    assert parse_found(text) == expected


@pytest.mark.parametrize(
    "text",
    ["{", "[1]", '{"results": 3}', "[{}]", '[{"path": "a", "start": "x"}]', '{"hits": "ab"}'],
)
def test_what_cannot_be_read_is_an_error(text: str) -> None:
    with pytest.raises(UsageError, match="no places that can be read"):
        parse_found(text)


def python(code: str) -> str:
    """A command that runs this code."""
    return f"'{sys.executable}' -c '{code}' "


def test_a_command_gets_each_argument_whole(tmp_path: Path) -> None:
    code = 'import sys; print("|".join(sys.argv[1:]))'
    searcher = CommandSearcher(python(code) + "-k{k} {query} --in={repo}")
    assert searcher.index(tmp_path) == ""
    found = searcher.search("two $words {k} 'x'", 7)
    assert found == [FoundPlace(f"-k7|two $words {{k}} 'x'|--in={tmp_path}")]
    assert searcher.name == sys.executable


def test_the_command_that_indexes_runs_once(tmp_path: Path) -> None:
    code = 'import sys, pathlib; pathlib.Path(sys.argv[1], "made").touch()'
    searcher = CommandSearcher(python("") + "{query}", python(code) + "{repo}")
    searcher.index(tmp_path)
    assert (tmp_path / "made").exists()


def test_a_command_that_finds_nothing_may_say_so_by_its_status() -> None:
    assert CommandSearcher(python("raise SystemExit(1)")).search("x", 1) == []


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (python("raise SystemExit(3)"), "ended with status 3"),
        (python('raise SystemExit("broken index")'), "status 1: broken index"),
        ("no-such-tool-anywhere {query}", "cannot be started"),
    ],
)
def test_a_command_that_fails_is_no_empty_answer(command: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        CommandSearcher(command).search("x", 1)


def test_an_empty_command() -> None:
    with pytest.raises(UsageError, match="empty"):
        CommandSearcher(" ")
    with pytest.raises(UsageError, match="not complete"):
        CommandSearcher("tool 'x")


ADAPTER = """\
class Adapter:
    def __init__(self, lines="1", bad=""):
        self.lines, self.bad, self.closed = int(lines), bad, []
    def index(self, repo_dir):
        self.last_size = "3 windows"
        return repo_dir
    def search(self, handle, query, k):
        if query == self.bad:
            raise RuntimeError("not today")
        return [(handle + "/a.py", self.lines, k), ("b.py", None, None)]
    def close(self, handle):
        self.closed.append(handle)
        print(handle)
"""


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(ADAPTER)
    return path


def test_an_adapter(adapter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    searcher = AdapterSearcher(adapter, {"lines": "4"})
    assert searcher.name == "mine"
    assert searcher.index(tmp_path) == "3 windows"
    assert searcher.search("x", 9) == [FoundPlace(f"{tmp_path}/a.py", 4, 9), FoundPlace("b.py")]
    searcher.close()
    assert capsys.readouterr().out == f"{tmp_path}\n"


def test_an_adapter_may_have_a_name_and_nothing_to_close(adapter: Path, tmp_path: Path) -> None:
    text = ADAPTER[: ADAPTER.index("    def close")].replace('"3 windows"', "None")
    adapter.write_text(text + '    name = "tool 1.0"\n')
    searcher = AdapterSearcher(adapter, {})
    assert searcher.name == "tool 1.0"
    assert searcher.index(tmp_path) == ""
    searcher.close()


def test_an_adapter_may_say_costs_and_scores(adapter: Path, tmp_path: Path) -> None:
    adapter.write_text(
        "class Adapter:\n"
        "    def index(self, repo_dir): return None\n"
        "    def search(self, handle, query, k):\n"
        "        return [('a.py', 1, 2, 7), ('b.py', 3, 4, None, 1)]\n"
    )
    searcher = AdapterSearcher(adapter, {})
    searcher.index(tmp_path)
    assert searcher.search("x", 9) == [
        FoundPlace("a.py", 1, 2, 7),
        FoundPlace("b.py", 3, 4, None, "", 1.0),
    ]
    assert searcher.within("x", 9, 2_000) is None


def test_an_adapter_that_fails_says_where(adapter: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"mine\.py failed while loading: TypeError: .*other"):
        AdapterSearcher(adapter, {"other": "1"})
    searcher = AdapterSearcher(adapter, {"bad": "x"})
    searcher.index(tmp_path)
    with pytest.raises(UsageError, match="while searching: RuntimeError: not today"):
        searcher.search("x", 1)
    adapter.write_text("import no_such_module_anywhere\n")
    with pytest.raises(UsageError, match="ModuleNotFoundError"):
        AdapterSearcher(adapter, {})
    adapter.write_text("")
    with pytest.raises(UsageError, match="AttributeError"):
        AdapterSearcher(adapter, {})
    with pytest.raises(PathMissing):
        AdapterSearcher(tmp_path / "no.py", {})
