"""Are subjects of commits paired with the symbols that they wrote lines of?"""

import json
from pathlib import Path

import pytest

from tests.training.source_trees import FILES, clone, git, run, write_tree
from training.examples.mine import rows_of_source
from training.examples.prepare import load, read_change_requests
from training.examples.rows import Row, write
from training.sources.exclusions import Exclusions
from training.sources.history import LINES_AT_MOST, PER_SYMBOL, change_requests, changes, subject

NOTHING = Exclusions(frozenset(), frozenset())
ADDED = "raise LookupError(self.kept, token)"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Say which session is not open", "Say which session is not open"),
        ("fix(auth): say which session is not open (#12)", "say which session is not open"),
        ("[auth] Say which session is not open.", "Say which session is not open"),
        ("auth: renew sessions before they end, fixes #3", "renew sessions before they end"),
        ("Fix it", ""),
        ("Bump lodash from one to another version", ""),
        ("Update the readme for new users", ""),
        ("word " * 30, ""),
        ("", ""),
    ],
)
def test_subjects(line: str, expected: str) -> None:
    assert subject(line).rstrip(" ,") == expected


def log(said: str, path: str, *lines: str) -> list[str]:
    added = [f"+{line}\n" for line in lines]
    return [f"\x1e{said}\n", "\n", f"--- a/{path}\n", f"+++ b/{path}\n", "@@ -1 +1 @@\n", *added]


def test_changes() -> None:
    told = [
        *log("Say which session is open", "a.py", "one", "two"),
        *log("Fix it", "b.py", "three"),
        "\x1eRenew sessions before they end\n",
        "+++ /dev/null\n",
        "+gone\n",
        "+++ b/c.py\n",
        "+four\n",
    ]
    assert list(changes(told)) == [
        ("Say which session is open", {"a.py": ["one", "two"]}),
        ("Renew sessions before they end", {"c.py": ["four"]}),
    ]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    return rows_of_source(write_tree(tmp_path_factory.mktemp("shop")), "shop", NOTHING)


LINE = "self.kept[token] = time.time() + self.seconds"


def test_the_symbol_with_most_of_the_lines(rows: list[Row]) -> None:
    told = log("Renew sessions before they end", "src/sessions.py", LINE, "return self.kept[token]")
    [found] = change_requests(told, rows)
    assert found == ("Renew sessions before they end", "shop", "src/sessions.py", "renew_session")


@pytest.mark.parametrize(
    "told",
    [
        log("Renew sessions before they end", "src/sessions.py", "a line that is not there now"),
        log("Renew sessions before they end", "src/sessions.py", "}"),
        log("Renew sessions before they end", "other.py", LINE),
        log("Renew sessions before they end", "tests/test_sessions.py", LINE),
        log("Renew sessions before they end", "src/sessions.py", *[LINE] * (LINES_AT_MOST + 1)),
        [
            line
            for n in range(9)
            for line in log("Renew sessions before they end", f"{n}.py", LINE)[3 if n else 0 :]
        ],
    ],
    ids=["gone", "short", "unknown file", "test", "too much", "too many files"],
)
def test_no_answer(rows: list[Row], told: list[str]) -> None:
    assert list(change_requests(told, rows)) == []


def test_no_symbol_is_asked_for_too_often(rows: list[Row]) -> None:
    told = [
        line
        for n in range(PER_SYMBOL + 3)
        for line in log(f"Renew all sessions {'very ' * n}early", "src/sessions.py", LINE)
    ]
    assert len(list(change_requests(told, rows))) == PER_SYMBOL


def test_from_a_clone_to_examples(tmp_path: Path) -> None:
    before = FILES["src/sessions.py"]
    folder = clone(tmp_path / "shop")
    after = before.replace('raise KeyError("no session with such a token is open")', ADDED)
    write_tree(folder, {"src/sessions.py": after})
    git(folder, "commit", "--quiet", "--all", "--message=auth: say which session is not open (#7)")
    (tmp_path / "rows").mkdir()
    write(tmp_path / "rows" / "shop.jsonl", rows_of_source(folder, "shop", NOTHING))
    requested = tmp_path / "change-requests.jsonl"
    done = run("sources.history", folder, tmp_path, "--rows", tmp_path / "rows", "--out", requested)
    assert done.returncode == 0, done.stderr
    query = "say which session is not open"
    assert [json.loads(line) for line in requested.read_text("utf-8").splitlines()] == [
        [query, "shop", "src/sessions.py", "renew_session"]
    ]
    assert read_change_requests(requested) == {
        ("shop", "src/sessions.py"): {"renew_session": [query]}
    }
    none = tmp_path / "none.bin"
    none.write_bytes((0).to_bytes(8, "little"))
    arguments = ["--out", tmp_path / "examples", "--exclude", none, "--change-requests", requested]
    done = run("examples.prepare", tmp_path / "rows", *arguments)
    assert done.returncode == 0, done.stderr
    made = load(tmp_path / "examples")
    assert any(
        "session" in asked.lower() and ADDED in text and "renew_session" in name
        for asked, text, name in zip(made.queries, made.texts, made.names, strict=True)
    )
