"""Bytes become UTF-8 with LF line ends, whatever they were; binaries are told apart; reads fail clearly."""

import codecs
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.analysis.source.text import decode, is_binary, read
from asterism.types.errors import PathMissing, PathUnreadable, WrongPathKind
from asterism.types.files import display_path

TEXT = 'name = "Zoë"\nprint(name)\n'
DECODED: list[tuple[bytes, str]] = [
    (b"", ""),
    (b"a\n", "a\n"),
    (TEXT.encode(), TEXT),
    (codecs.BOM_UTF8 + TEXT.encode(), TEXT),
    (codecs.BOM_UTF8, ""),
    (codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), TEXT),
    (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), TEXT),
    (codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"), TEXT),
    (codecs.BOM_UTF32_BE + TEXT.encode("utf-32-be"), TEXT),
    (TEXT.encode("utf-16-le"), TEXT),
    (TEXT.encode("utf-16-be"), TEXT),
    (codecs.BOM_UTF16_LE + "漢字\r\n".encode("utf-16-le"), "漢字\n"),
    (codecs.BOM_UTF16_LE + b"a\0b", "a\ufffd"),
    ("😀 x\n".encode("utf-16"), "😀 x\n"),
    (b"a\r\nb\rc\nd\r\r\ne", "a\nb\nc\nd\n\ne"),
    ("a\r\nb\r\n".encode("utf-16"), "a\nb\n"),
    (b"a\x0cb\x0bc\td", "a\x0cb\x0bc\td"),
    ("a\u2028b\x85".encode(), "a\u2028b\x85"),
    (b"caf\xe9 \x93quoted\x94\n", "café “quoted”\n"),
    (b"caf\xe9 with a bell \x07\n", "caf\ufffd with a bell \x07\n"),
    (b"\x81\x8d\n", "\ufffd\ufffd\n"),
    ("größer Zoë ".encode() + b"\xff" + "für\n".encode(), "größer Zoë \ufffdfür\n"),
    ("é".encode() * 5000 + b"\xc3", "é" * 5000 + "\ufffd"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "expected"), DECODED)
def test_decode(data: bytes, expected: str) -> None:
    assert decode(data) == expected.encode()
    assert not is_binary(data)


BINARY = [
    b"%PDF-1.7\n", b"\x89PNG\r\n\x1a\n", b"PK\x03\x04abc", b"\x7fELFabc", b"\xca\xfe\xba\xbe", b"\0asm",
    b"\x1f\x8b\x08", b"SQLite format 3\0", b"text with a \0 in it\n", bytes(64), bytes(range(256)),
    b"\xff\xfe\0\0", b"\xff\xfea\0\0\0", b"a\0" * 20 + b"\0\0", b"\x90\x01\x02\x03\x04\x05\xff\x80 x",
]  # fmt: skip


@pytest.mark.parametrize("data", BINARY)
def test_binary(data: bytes) -> None:
    if data == b"\xff\xfe\0\0":
        # A UTF-32 byte order mark with nothing behind it: an empty text.
        assert decode(data) == b""
    else:
        assert is_binary(data)


def test_a_character_cut_at_the_end_of_the_block_is_no_evidence() -> None:
    assert not is_binary(b"a" * 8191 + "é".encode())
    assert not is_binary("x😀".encode("utf-16") * 2000)


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_decode_never_fails_and_settles(data: bytes) -> None:
    text = decode(data).decode("utf-8")
    assert "\r" not in text


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff")))
def test_text_survives_every_encoding(text: str) -> None:
    assert decode(text.encode()) == text.encode()
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        assert decode(text.encode(encoding)) == text.encode()


def test_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\r\n\0")
    assert read(str(tmp_path / "a")) == b"\xff\r\n\0"


def test_read_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    for name, error, words in (
        ("nothing", PathMissing, "check the path"),
        ("file/below", PathMissing, "check the path"),
        ("nul\0", PathMissing, "not a possible path"),
        ("folder", WrongPathKind, "give the path of a file"),
        ("pipe", WrongPathKind, "give the path of a plain file"),
        ("loop", PathUnreadable, "could not be read"),
    ):
        with pytest.raises(error, match=words):
            read(str(tmp_path / name))

    def deny(path: str, *_: object) -> int:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "open", deny)
    with pytest.raises(PathUnreadable, match="check its permissions"):
        read(str(tmp_path / "file"))


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("src/a b.py", "src/a b.py"),
        ("é/漢.py", "é/漢.py"),
        ("a\nb", r"a\nb"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\udcff.py", r"\xff.py"),
        ("x\u202ey", r"x\u202ey"),
    ],
)
def test_display_path(path: str, shown: str) -> None:
    assert display_path(path) == shown
    assert display_path(path).encode("utf-8").decode("utf-8") == shown
