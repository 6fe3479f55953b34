"""Does a path that is typed as a reply shows it mean the file?"""

from pathlib import Path

import pytest

from asterism.analysis.source.checkouts import on_disk
from asterism.types.files import display_path, wire_path

NAMES = (
    "plain.py",
    "\u202egnp.py",
    "tab\there\n.py",
    "\x1b[2J.py",
    "caf\udce9.py",
    "back\\slash\u200b.py",
    "\U000e0041.py",
)


@pytest.mark.parametrize("name", NAMES, ids=display_path)
@pytest.mark.parametrize("shown", [display_path, wire_path, str])
def test_a_shown_path_means_its_file(tmp_path: Path, name: str, shown: object) -> None:
    place = tmp_path / name / name
    place.parent.mkdir()
    place.write_text("")
    assert callable(shown)
    assert on_disk(f"{tmp_path}/{shown(name)}/{shown(name)}") == str(place)


@pytest.mark.parametrize(
    ("names", "typed", "found"),
    [
        (["a\\u202e", "a\u202e"], "a\\u202e", "a\\u202e"),
        (["a\u202e"], "b\\u202e", "b\\u202e"),
        (["a\u202e"], "a\\u202e/", "a\u202e/"),
        (["a\u202e"], "a\\u202e/../x", "a\u202e/../x"),
        (["\u200b\t", "\\u200b\t"], "\\u200b\\t", "\\u200b\\t"),
        ([], "no\\u202e\0", "no\\u202e\0"),
    ],
    ids=["what exists is itself", "absent", "a slash at the end", "dots", "several", "NUL"],
)
def test_what_else_a_path_may_be(
    tmp_path: Path, names: list[str], typed: str, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in names:
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    assert on_disk(typed) == found
