"""Citations are looked for where they say they are, and nowhere else."""

from pathlib import Path

import pytest

from asterism.engine.chat.sources import checked
from asterism.types.chat import Citation


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "shop"
    made.mkdir()
    (made / "three.py").write_text("a = 1\nb = 2\nc = 3\n")
    (made / "unended.py").write_text("a = 1\nb = 2")
    (made / "empty.py").write_text("")
    (tmp_path / "outside.py").write_text("a = 1\n")
    (made / "link.py").symlink_to(tmp_path / "outside.py")
    return made


@pytest.mark.parametrize(
    ("path", "first", "last", "exists"),
    [
        ("three.py", 1, 3, True),
        ("three.py", 3, 3, True),
        ("three.py", 3, 4, False),
        ("three.py", 2, 1, False),
        ("three.py", 0, 1, False),
        ("unended.py", 2, 2, True),
        ("unended.py", 3, 3, False),
        ("empty.py", 1, 1, False),
        ("gone.py", 1, 1, False),
        ("link.py", 1, 1, False),
        ("../outside.py", 1, 1, False),
    ],
)
def test_whether_the_lines_are_there(
    root: Path, path: str, first: int, last: int, exists: bool
) -> None:
    (found,) = checked([Citation("shop", path, first, last)], {"shop": str(root)})
    assert found.exists is exists


def test_a_repository_that_is_not_known(root: Path) -> None:
    (found,) = checked([Citation("other", "three.py", 1, 1)], {"shop": str(root)})
    assert not found.exists


@pytest.mark.parametrize(("last", "place"), [(2, "a.py:2"), (5, "a.py:2-5")])
def test_places_as_editors_open_them(last: int, place: str) -> None:
    (found,) = checked([Citation("shop", "a.py", 2, last)], {})
    assert found.citation.place == place
