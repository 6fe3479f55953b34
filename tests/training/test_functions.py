"""Queries made of commits: which messages, and which functions."""

import json
import subprocess
from pathlib import Path

import pytest

from training.examples import functions as examples
from training.sources.functions import changed_functions, changes, hunks_of, main, query_of

BEFORE = """def renew(token):
    token.ends += 1


class Store:
    def forget(self, name):
        self.tokens.pop(name)
"""


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Renew tokens that expire (#12)\n", "Renew tokens that expire"),
        ("[core] Renew tokens early.\n\nThey were lost.\n\nSigned-off-by: a", None),
        ("Bump the version of shop\n", ""),
        ("Fix it\n", ""),
    ],
)
def test_queries(message: str, expected: str | None) -> None:
    found = query_of(message)
    assert found == ("Renew tokens early\n\nThey were lost." if expected is None else expected)


def test_hunks() -> None:
    diff = "--- a/shop.py\n+++ b/shop.py\n@@ -2 +2,2 @@ def\n-x\n+y\n@@ -7,0 +8 @@\n+z\n"
    assert hunks_of(diff) == {"shop.py": [(2, 1), (7, 0)]}
    assert hunks_of(diff.replace("shop.py", "tests/test_shop.py")) == {}
    assert hunks_of("--- a/a.py\n+++ b/a.py\n@@ -1,300 +1,2 @@\n") == {}


@pytest.mark.parametrize(
    ("hunks", "expected"),
    [
        ([(2, 1)], ["renew"]),
        ([(2, 1), (7, 1)], ["renew", "Store.forget"]),
        ([(3, 2)], []),
        ([(7, 0)], ["Store.forget"]),
    ],
)
def test_functions(hunks: list[tuple[int, int]], expected: list[str]) -> None:
    found = changed_functions("shop.py", BEFORE.encode(), hunks)
    assert [name for _, name in found] == expected


def commits_in(clone: Path, *states: tuple[str, str]) -> str:
    """A history of shop.py: messages and texts; the id of the first commit."""
    clone.mkdir()

    def git(*arguments: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        command = ["git", "-C", str(clone), *who, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q")
    for message, text in states:
        (clone / "shop.py").write_text(text)
        git("add", "-A")
        git("commit", "-qm", message)
    return git("rev-list", "--max-parents=0", "HEAD")


def test_a_history(tmp_path: Path) -> None:
    clone = tmp_path / "shop"
    base = commits_in(
        clone,
        ("Add the shop with its store", BEFORE),
        ("Renew tokens for two hours", BEFORE.replace("+= 1", "+= 2")),
        ("Say \x1e which token expired now", BEFORE),
    )
    (change,) = changes(clone)
    assert (change.parent, change.query) == (base, "Renew tokens for two hours")
    assert change.wanted == (("shop.py", "renew"),)
    assert main([str(clone), "--out", str(tmp_path / "out.jsonl")]) == 0
    row = json.loads((tmp_path / "out.jsonl").read_text())
    assert (row["base"], row["wanted"]) == (base, [["shop.py", "renew"]])


DOCUMENTED = (
    BEFORE
    + """

def expired(tokens, now):
    \"\"\"Lists the tokens that ended before a moment.\"\"\"
    return [token for token in tokens if token.ends < now]
"""
)


def test_examples_among_neighbours(tmp_path: Path) -> None:
    clone = tmp_path / "shop"
    after = DOCUMENTED.replace("+= 1", "+= 2")
    commits_in(clone, ("Add the shop", DOCUMENTED), ("Renew tokens for two hours", after))
    given = [str(clone), "--out", str(tmp_path / "out"), "--processes", "1"]
    assert examples.main(given) == 0
    told = json.loads((tmp_path / "out" / "shop.json").read_text())
    found = {
        (query, kind): (
            [told["texts"][number] for number in answers],
            [told["texts"][number] for number in others],
        )
        for query, kind, answers, others in told["asked"]
    }
    (answer,), others = found.pop(("Renew tokens for two hours", "commit"))
    assert "+= 1" in answer
    assert any("def forget" in text for text in others)
    assert all("+= 1" not in text for text in others)
    (((query, kind), ((answer,), others)),) = found.items()
    assert (query, kind) == ("Lists the tokens that ended before a moment.", "documentation")
    assert "def expired" in answer
    assert all("before a moment" not in text for text in (answer, *others))
