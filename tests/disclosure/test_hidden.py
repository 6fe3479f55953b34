"""Which characters do not show, and how they are spelt out."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asterism.disclosure.places import visible, visible_drawing, visible_line
from asterism.types.files import display_path, wire_path

SPELT = [
    ("\u202e", "\\u202e"),
    ("if a\u2066 /* }\u2069 */", "if a\\u2066 /* }\\u2069 */"),
    ("pass\u200bword", "pass\\u200bword"),
    ("a\u200db", "a\\u200db"),
    ("x\u2060y\ufeff", "x\\u2060y\\ufeff"),
    ("\x1b[2J\x1b]0;owned\x07", "\\x1b[2J\\x1b]0;owned\\x07"),
    ("over\rwritten\b\b", "over\\rwritten\\x08\\x08"),
    ("\x9b31m\x7f", "\\u009b31m\\u007f"),
    ("\U000e0041\U000e0062", "\\udb40\\udc41\\udb40\\udc62"),
    ("\ufe00\ufe01\U000e0100", "\ufe00\\ufe01\\udb40\\udd00"),
    ("a\u3164b\u115f", "a\\u3164b\\u115f"),
    ("\u2028\u2029\u00ad", "\\u2028\\u2029\\u00ad"),
]
SHOWN = [
    "plain\ttext\n",
    "größer, café, Ж, 日本語, שלום, مرحبا",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 and \u26a0\ufe0f",
    "\u06a9\u062a\u0627\u0628\u200c\u0647\u0627",
    "\u0915\u094d\u200d\u0937",
    "a\u00a0b\u0301",
    "",
]


@pytest.mark.parametrize(("text", "expected"), SPELT)
def test_what_is_hidden_is_spelt_out(text: str, expected: str) -> None:
    assert visible(text) == expected
    assert visible_line(text) == expected


@pytest.mark.parametrize("text", SHOWN)
def test_what_shows_stays(text: str) -> None:
    assert visible(text) == text


def test_a_line_is_one_line() -> None:
    assert visible_line("a\nb\tc\r\n") == "a\\nb\\tc\\r\\n"


def test_a_drawing_keeps_its_escapes_only() -> None:
    assert visible_drawing("\x1b[31ma\u202e\x9b\r\x1b[0m") == "\x1b[31ma\\u202e\\u009b\r\x1b[0m"


def test_every_invisible_character_of_unicode_is_known() -> None:
    """Controls, formats, and what is drawn as nothing."""
    blank = "\u115f\u1160\u17b4\u17b5\u3164\uffa0\u034f\u180b\u180c\u180d\u180f"
    shown = {"\n", "\t", "\u200c", "\u200d"}
    # Signs above and around digits show where a font knows them.
    prepended = {chr(n) for n in (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2)}
    prepended |= {"\U000110bd", "\U000110cd", *map(chr, range(0x13430, 0x13440))}
    for number in range(0x110000):
        char = chr(number)
        hidden = unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") or char in blank
        if hidden and char not in shown | prepended:
            assert visible(char) != char, hex(number)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_json_text_stays_the_same_value(text: str) -> None:
    written = json.dumps({"a": [text]}, ensure_ascii=False)
    assert json.loads(visible(written)) == {"a": [text]}


@given(st.text())
def test_nothing_is_hidden_after_it(text: str) -> None:
    assert visible(visible(text)) == visible(text)


def test_a_name_for_people_and_for_programs() -> None:
    name = "a\u202e\n\x1b[2J\udcff.py"
    assert display_path(name) == "a\\u202e\\n\\x1b[2J\\xff.py"
    assert wire_path(name) == "a\u202e\n\x1b[2J\\xff.py"
