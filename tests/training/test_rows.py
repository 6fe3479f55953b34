"""Do rows come back from their file as they were, and do hashes see through layout?"""

from pathlib import Path

import pytest

from training.examples.rows import HASHED_CHARS, Row, hashed, read, write

ROW = Row(
    "shop", "python", "a/b.py", "function", "pay", "[Python] a/b.py > pay", "Pays.", "def pay():",
    ("no money", "no «card»"), "Payments", 3,
)  # fmt: skip


def test_there_and_back(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [ROW, ROW._replace(name="zwei\nZeilen \u2028 日本", said=())]
    assert write(path, rows) == 2
    with path.open(encoding="utf-8") as file:
        assert list(read(file)) == rows


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("def pay(cart):\n    return 1", "def pay( cart ) :\n\n\treturn 1", True),
        ("def Pay(cart)", "def pay(cart)", True),
        ("def pay(cart)", "def pay(card)", False),
        ("x" * HASHED_CHARS + "one", "x" * HASHED_CHARS + "other", True),
        ("", "();", True),
        ("\ud800 pay", "? pay", True),
    ],
)
def test_hashes(one: str, other: str, same: bool) -> None:
    assert (hashed(one) == hashed(other)) is same
    assert len(hashed(one)) == 8
