"""Whatever happens to a file, it has an outline, and its chunks keep the ten rules."""

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.analysis.syntax.outlines import outline_bytes
from tests.analysis.chunks.invariants import STEADY, complaints
from tests.analysis.syntax.damages import DAMAGES
from tests.analysis.syntax.material import ROWS, SOURCES, name_in, sources_of

damages = st.lists(st.sampled_from(sorted(DAMAGES)), min_size=1, max_size=3)
seeds = st.integers(0, 2**32)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_fixture_as_it_is(path: Path) -> None:
    assert complaints(path.name, path.read_bytes()) == []


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_damage_in_every_language(damage: str) -> None:
    wrong = {}
    for key, entry in ROWS.items():
        data = sources_of(entry)[0].read_bytes()
        found = complaints(name_in(entry), DAMAGES[damage](data, Random(damage)))
        if found:
            wrong[key] = found
    assert wrong == {}


@pytest.mark.parametrize("key", ROWS)
@given(st.data())
@settings(STEADY, max_examples=40)
def test_damaged_at_random(key: str, data: st.DataObject) -> None:
    entry = ROWS[key]
    source = data.draw(st.sampled_from(sources_of(entry))).read_bytes()
    random = Random(data.draw(seeds))
    for damage in data.draw(damages):
        source = DAMAGES[damage](source, random)
    assert complaints(name_in(entry), source) == []


@pytest.mark.parametrize(
    "source",
    [
        "const t = useCallback();",
        "const a , => b ] . ]",
        "( ) = > t ( ) ; const toggle = useCallback ( ) = > { set ( ( v ) ! v ) ; ",
        "export const C = memo(forwardRef());",
    ],
)
@pytest.mark.parametrize("name", ["a.ts", "a.tsx", "a.js"])
def test_nothing_where_something_usually_stands(name: str, source: str) -> None:
    assert complaints(name, source.encode()) == []


@pytest.mark.parametrize("key", ROWS)
def test_cut_off_anywhere(key: str) -> None:
    entry = ROWS[key]
    whole = min((path.read_bytes() for path in sources_of(entry)), key=len)[:4000]
    step = max(1, len(whole) // 25)
    wrong = {
        size: found
        for size in range(0, len(whole), step)
        if (found := complaints(name_in(entry), whole[:size]))
    }
    assert wrong == {}


@pytest.mark.parametrize("key", ROWS)
@given(source=st.sampled_from(SOURCES))
@settings(STEADY, max_examples=8)
def test_a_file_in_another_language(key: str, source: Path) -> None:
    assert complaints(name_in(ROWS[key]), source.read_bytes()) == []


@pytest.mark.parametrize("key", ROWS)
@given(text=st.text(max_size=200), noise=st.binary(max_size=200))
@settings(STEADY, max_examples=25)
def test_no_source_at_all(key: str, text: str, noise: bytes) -> None:
    name = name_in(ROWS[key])
    assert complaints(name, text.encode("utf-8", "replace")) == []
    assert complaints(name, noise) == []


def test_a_damage_is_seen() -> None:
    """The damages are real: a broken file says so, a good one does not."""
    good = b"def f(a):\n    return a\n"
    assert outline_bytes("a.py", good).problems == ()
    assert outline_bytes("a.py", b"def f(a:\n    return (a\n").problems != ()
