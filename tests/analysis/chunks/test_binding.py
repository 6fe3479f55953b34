"""Signatures of other files in a chunk's text, once it is known what its imports mean."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.analysis.chunks.chunker import FileOrigin, chunk_file
from asterism.analysis.chunks.embedding_text import bind_quotes, preamble
from asterism.analysis.chunks.units import ChunkOptions
from asterism.analysis.chunks.validation import violations
from asterism.analysis.source.text import decode
from asterism.analysis.syntax.outlines import outline
from asterism.types.index import Chunk
from tests.analysis.chunks.cutting import chunk_named, chunks_of, code_of
from tests.analysis.chunks.invariants import STEADY
from tests.analysis.syntax.material import SOURCES

FILE = """
    import os
    from rates import quote as price, Tax
    from units import *
    from shapes import Box

    def total(box):
        return helper(price(box), Box, price(Tax), other.Tax, os.sep)

    def helper(value, tax): ...

    def lonely(Tax):
        return Tax

    class Shop(Box):
        def open(self):
            return self.price() or price
        def price(self): ...

    Box()
    """

KNOWN = {
    "price": "def quote(amount: int) -> int",
    "Tax": "class Tax",
    "Box": "class Box",
    "unused": "def unused()",
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("total", ("price", "Box", "Tax", "os")),
        # A parameter hides the import.
        ("lonely", ()),
        ("helper", ()),
        ("Shop", ("Box",)),
        # A member that is called like an import is quoted already.
        ("Shop.open", ()),
        # A statement quotes nothing.
        ("Box()", ()),
    ],
)
def test_mentions(name: str, expected: tuple[str, ...]) -> None:
    assert chunk_named("a.py", FILE, name).mentions == expected


@pytest.mark.parametrize(
    ("limit", "expected"), [(0, ()), (1, ()), (2, ("price",)), (3, ("price", "Box"))]
)
def test_own_symbols_come_first(limit: int, expected: tuple[str, ...]) -> None:
    found = chunks_of("a.py", FILE, ChunkOptions(max_quoted=limit))
    assert next(chunk for chunk in found if chunk.name == "total").mentions == expected


def _bound(name: str, options: ChunkOptions | None = None) -> list[str]:
    options = options or ChunkOptions()
    chunk = bind_quotes(chunk_named("a.py", FILE, name), KNOWN, options)
    return chunk.embedding_text.split("\n---\n", 1)[0].split("\n")


def test_behind_the_quotes_of_the_file() -> None:
    assert _bound("total")[3:] == [
        "",
        "Referenced symbols:",
        "- helper: def helper(value, tax)",
        "- price: def quote(amount: int) -> int",
        "- Box: class Box",
        "- Tax: class Tax",
        "",
    ]


def test_a_section_of_its_own_is_what_a_preamble_would_write() -> None:
    head = preamble(
        "[Python] a.py > Shop",
        None,
        "class Shop(Box)",
        ["rates", "shapes"],
        [("Box", "class Box")],
        ChunkOptions(),
    )
    assert [*_bound("Shop"), "---"] == head.split("\n")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (ChunkOptions(max_quoted=1), ["helper"]),
        (ChunkOptions(max_quoted=3), ["helper", "price", "Box"]),
        (ChunkOptions(max_quote_chars=9), ["helper", "price", "Box", "Tax"]),
    ],
)
def test_limits(options: ChunkOptions, expected: list[str]) -> None:
    lines = [line for line in _bound("total", options) if line.startswith("- ")]
    assert [line[2:].split(":")[0] for line in lines] == expected


def test_a_long_signature_is_cut_like_any_quote() -> None:
    assert "- price: def quote …" in _bound("total", ChunkOptions(max_quote_chars=9))


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        (0, []),
        (16, []),
        (17, ["Box"]),
        (33, ["Box"]),
        (34, ["Box", "Tax"]),
        (38, ["Box", "Tax"]),
        (39, ["price"]),
        (55, ["price"]),
        (56, ["price", "Box"]),
        (73, ["price", "Box", "Tax"]),
    ],
)
def test_what_does_not_fit_is_left_out(left: int, expected: list[str]) -> None:
    """A shorter signature may fit where the first does not."""
    chunk = chunk_named("a.py", FILE, "total")
    options = ChunkOptions(max_tokens=len(chunk.embedding_text) + left, chars_per_token=1)
    found = bind_quotes(chunk, KNOWN, options)
    head = found.embedding_text.split("\n---\n", 1)[0]
    lines = [line[2:].split(":")[0] for line in head.split("\n") if line.startswith("- ")]
    assert lines == ["helper", *expected]
    assert code_of(found) == code_of(chunk)


@pytest.mark.parametrize(("left", "expected"), [(38, False), (39, True)])
def test_a_section_counts_towards_the_limit(left: int, expected: bool) -> None:
    """`- Box: class Box` with its line end, the title with three."""
    chunk = chunk_named("a.py", FILE, "Shop")
    options = ChunkOptions(max_tokens=len(chunk.embedding_text) + left, chars_per_token=1)
    found = bind_quotes(chunk, KNOWN, options)
    assert ("Referenced symbols:" in found.embedding_text) is expected
    assert len(found.embedding_text) == len(chunk.embedding_text) + (39 if expected else 0)


def test_nothing_known_is_the_chunk_itself() -> None:
    for chunk in chunks_of("a.py", FILE):
        assert bind_quotes(chunk, {}, ChunkOptions()) is chunk
        assert bind_quotes(chunk, {"unused": "def unused()"}, ChunkOptions()) is chunk


def test_twice_is_once() -> None:
    for chunk in chunks_of("a.py", FILE):
        once = bind_quotes(chunk, KNOWN, ChunkOptions())
        assert bind_quotes(once, KNOWN, ChunkOptions()) is once


def test_a_shortened_preamble_takes_no_more() -> None:
    body = "    price()\n" * 200
    text = f"from rates import price\n\ndef f({'a' * 300}):\n{body}"
    for options in (ChunkOptions(max_tokens=100), ChunkOptions(max_tokens=200)):
        parts = [chunk for chunk in chunks_of("a.py", text, options) if chunk.name == "f"]
        assert len(parts) > 1
        expected = () if options.max_tokens == 100 else ("price",)
        assert {part.mentions for part in parts} == {expected}


def _check(path: str, source: bytes, known: str, options: ChunkOptions) -> list[Chunk]:
    """The rules hold with any signature for every mention; only the preamble has grown."""
    found = outline(path, source)
    chunks = chunk_file(found, source, FileOrigin("repo", path, path), options)
    bound = [bind_quotes(c, dict.fromkeys(c.mentions, known), options) for c in chunks]
    assert violations(found, source, bound, options) == []
    for chunk, other in zip(chunks, bound, strict=True):
        assert other._replace(embedding_text=chunk.embedding_text) == chunk
        head = other.embedding_text.split("\n---\n", 1)[0].split("\n")
        assert sum(line.startswith("- ") for line in head) <= options.max_quoted
    return bound


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_the_rules_hold_for_every_fixture(path: Path) -> None:
    source = decode(path.read_bytes())
    for options in (ChunkOptions(), ChunkOptions(max_tokens=90)):
        _check(path.name, source, "def known(value: int) -> int", options)


@STEADY
@given(
    known=st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=40),
    tokens=st.integers(30, 400),
    quoted=st.integers(0, 6),
    chars=st.integers(0, 50),
)
def test_the_rules_hold_for_any_signature(known: str, tokens: int, quoted: int, chars: int) -> None:
    options = ChunkOptions(max_tokens=tokens, max_quoted=quoted, max_quote_chars=chars)
    text = FILE.replace("\n    ", "\n").encode()
    bound = _check("a.py", text, known, options)
    assert all(len(chunk.embedding_text) <= options.max_chars for chunk in bound)
