"""A string goes into a list of a TOML file and out again, and every comment stays."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.install.toml_edits import with_item, without_item
from asterism.types.errors import InputError

PATH = ("trust", "repositories")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[trust]\nrepositories = ["/b"]\n'),
        ("# mine\n[log]\n", '# mine\n[log]\n\n[trust]\nrepositories = ["/b"]\n'),
        ("[trust]\n# none yet\n", '[trust]\nrepositories = ["/b"]\n# none yet\n'),
        ("[trust]\nrepositories = []\n", '[trust]\nrepositories = ["/b"]\n'),
        (
            '[trust]\nrepositories = ["/a"] # those\n',
            '[trust]\nrepositories = ["/a", "/b"] # those\n',
        ),
        ("[trust]\nrepositories = ['/a',]\n", "[trust]\nrepositories = ['/a', \"/b\"]\n"),
        (
            '[trust]\nrepositories = [\n  "/a", # work\n  # more\n]\n[log]\n',
            '[trust]\nrepositories = [\n  "/a", # work\n  # more\n  "/b",\n]\n[log]\n',
        ),
        (
            '[trust]\nrepositories = [\n\t"/a" # work ] "\n]\n',
            '[trust]\nrepositories = [\n\t"/a", # work ] "\n\t"/b",\n]\n',
        ),
        (
            "[trust]\nrepositories = [ # none\n]\n",
            '[trust]\nrepositories = ["/b", # none\n]\n',
        ),
        ('trust.repositories = ["/a"]\n', 'trust.repositories = ["/a", "/b"]\n'),
        ('trust = {repositories = ["/a"]}\n', 'trust = {repositories = ["/a", "/b"]}\n'),
        (
            '[trust]\r\nrepositories = [\r\n  "/a",\r\n]\r\n',
            '[trust]\r\nrepositories = [\r\n  "/a",\r\n  "/b",\r\n]\r\n',
        ),
        ('[trust]\nrepositories = ["/b"]\n', '[trust]\nrepositories = ["/b"]\n'),
        (
            '[other]\nrepositories = ["/a"]\n',
            '[other]\nrepositories = ["/a"]\n\n[trust]\nrepositories = ["/b"]\n',
        ),
    ],
)
def test_with_item(before: str, after: str) -> None:
    assert with_item(before, PATH, "/b") == after
    if before != after:
        assert "/b" not in without_item(after, PATH, "/b")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('[trust]\nrepositories = ["/b"]\n', "[trust]\nrepositories = []\n"),
        ('[trust]\nrepositories = ["/a", "/b"]\n', '[trust]\nrepositories = ["/a"]\n'),
        ('[trust]\nrepositories = ["/b", "/a"]\n', '[trust]\nrepositories = ["/a"]\n'),
        ('[trust]\nrepositories = ["/b", "/a", "/b"]\n', '[trust]\nrepositories = ["/a"]\n'),
        (
            '[trust]\nrepositories = [\n  # work\n  "/b", # the shop\n  "/a", # mine\n]\n',
            '[trust]\nrepositories = [\n  # work\n  "/a", # mine\n]\n',
        ),
        (
            '[trust]\nrepositories = [\n  "/a",\n  "/b"\n]\n',
            '[trust]\nrepositories = [\n  "/a",\n]\n',
        ),
        ('[trust]\nrepositories = ["/a"] # /b\n', '[trust]\nrepositories = ["/a"] # /b\n'),
        ("", ""),
    ],
)
def test_without_item(before: str, after: str) -> None:
    assert without_item(before, PATH, "/b") == after


@pytest.mark.parametrize(
    "text", ["trust = 3\n", "[trust]\nrepositories = 3\n", "[trust]\nrepositories = [3]\n", "[["]
)
def test_what_is_no_list_is_left_alone(text: str) -> None:
    for edit in (with_item, without_item):
        with pytest.raises(InputError):
            edit(text, PATH, "/b")


PATHS = st.lists(st.text(min_size=1, max_size=8), max_size=6)


@given(PATHS, st.text(min_size=1, max_size=8), st.booleans())
def test_any_text(listed: list[str], item: str, is_long: bool) -> None:
    """What is added is there, what is taken out is not, and the others stay in order."""
    text = ""
    for one in listed:
        text = with_item(text, PATH, one)
    if is_long:
        text = text.replace('["', '[ # a list\n  "', 1).replace("[trust]", "# top\n[trust]")
    before = tomllib.loads(text).get("trust", {}).get("repositories", [])
    assert before == [*dict.fromkeys(listed)]
    added = with_item(text, PATH, item)
    assert tomllib.loads(added)["trust"]["repositories"] == [*dict.fromkeys([*listed, item])]
    removed = without_item(added, PATH, item)
    left = tomllib.loads(removed)["trust"]["repositories"]
    assert left == [one for one in dict.fromkeys(listed) if one != item]
    assert added.count("#") >= text.count("# ")
