"""Whole repositories against the ten rules: what a summary counts and how summaries add up."""

from pathlib import Path

import pytest

from asterism.analysis.contents import read_chunks
from asterism.evaluation import rules
from asterism.evaluation.rules import CheckedFile, Extreme, Summary, validate


def targets(root: Path, files: dict[str, bytes]) -> list[CheckedFile]:
    for name, data in files.items():
        (root / name).write_bytes(data)
    return [CheckedFile(str(root / name), name, "repo") for name in files]


FILES = {
    "a.py": b"import os\n\nclass A:\n    def f(self):\n        return os\n",
    "b.py": b"def f(:\n",
    "c.txt": b"some text\n",
}


def test_what_is_counted(tmp_path: Path) -> None:
    heard: list[int] = []
    found = validate(targets(tmp_path, FILES), 1, heard.append)
    assert heard == [3]
    assert (found.passed, found.failed) == (3, 0)
    assert (found.lines, found.uncovered, found.coverage) == (6, 0, 1.0)
    assert (found.with_problems, found.nondeterministic) == (1, 0)
    assert found.languages == {"python": 2, "plain": 1}
    assert found.deepest == Extreme(1, "a.py > A.f")
    assert found.largest.value > 0


def test_processes_make_no_difference(tmp_path: Path) -> None:
    files = {f"{number}.py": FILES["a.py"] for number in range(70)}
    made = targets(tmp_path, files)
    one, two = validate(made, 1, lambda _: None), validate(made, 2, lambda _: None)
    assert one == two
    assert one.passed == 70


def test_binaries_are_left_out_and_unreadable_files_are_named(tmp_path: Path) -> None:
    made = targets(tmp_path, {"a.py": b"\x7fELF\x00"})
    missing = CheckedFile(str(tmp_path / "no.py"), "no.py", "repo")
    found = validate([*made, missing], 1, lambda _: None)
    assert (found.passed, found.failed, found.crashes) == (0, 0, [])
    assert len(found.unread) == 1
    assert "no.py does not exist" in found.unread[0]


def test_a_crash_is_kept_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(path: str, *rest: object) -> object:
        if path.endswith("b.py"):
            raise ZeroDivisionError("oops")
        return read_chunks(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(rules, "read_chunks", read)
    found = validate(targets(tmp_path, FILES), 1, lambda _: None)
    assert found.passed == 2
    assert [crash.split(": ", 1)[1] for crash in found.crashes] == ["ZeroDivisionError: oops"]


def test_nothing_to_validate() -> None:
    assert validate([], 4, lambda _: None) == Summary()


def test_summaries_add_up() -> None:
    left = Summary(passed=1, lines=4, uncovered=1, largest=Extreme(3, "a"), unread=["x"])
    left.languages["go"] = 1
    right = Summary(passed=2, lines=4, largest=Extreme(2, "b"), unread=["y"])
    right.languages.update({"go": 1, "c": 1})
    left.add(right)
    assert (left.passed, left.lines, left.coverage) == (3, 8, 0.875)
    assert left.largest == Extreme(3, "a")
    assert left.unread == ["x", "y"]
    assert left.languages == {"go": 2, "c": 1}
