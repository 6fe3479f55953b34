"""One text has one outline, another text another."""

from asterism.structure import repository
from asterism.structure.repository import KeptOutlines


def test_the_same_text_is_read_once() -> None:
    outlines = KeptOutlines()
    first = outlines("a.py", b"def a(): ...\n")
    assert outlines("a.py", b"def a(): ...\n") is first
    changed = outlines("a.py", b"def b(): ...\n")
    assert [item.name for _, item in changed.symbols()] == ["b"]
    assert outlines("b.py", b"def a(): ...\n").path == "b.py"


def test_what_was_not_asked_for_long_is_forgotten() -> None:
    outlines = KeptOutlines()
    first = outlines("0.py", b"")
    for number in range(repository.KEPT_OUTLINES):
        outlines(f"{number + 1}.py", b"")
    assert outlines("0.py", b"") is not first
