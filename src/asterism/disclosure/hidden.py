r"""Characters that do not show, or change how others show, made visible.

They are written as JSON writes them, `\u202e`, so that a JSON text stays the same value.
"""

import re

_ALWAYS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, terminal escapes among them; not tab and line feed
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f"  # zero-width space and marks of direction
    "\u2028-\u202e"  # ends of lines and paragraphs; embeddings and overrides of direction
    "\u2060-\u206f"  # joiners, invisible operators, isolates of direction
    "\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags, and variation selectors that carry any byte
)
# Joiners belong between letters of some scripts and between emoji, but not into ASCII names; one
# variation selector belongs behind a character, but not behind another selector.
_SOMETIMES = (
    "(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
    "|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]"
)
_HIDDEN = re.compile(f"[{_ALWAYS}]|{_SOMETIMES}")
_HIDDEN_IN_LINE = re.compile(f"[\t\n{_ALWAYS}]|{_SOMETIMES}")
_HIDDEN_BUT_CONTROLS = re.compile(f"[{_ALWAYS[_ALWAYS.index(chr(0x7F)) :]}]|{_SOMETIMES}")
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def visible(text: str) -> str:
    """The text with hidden characters spelt out; tabs and line ends stay."""
    return text if _is_plain(text) else _HIDDEN.sub(_spelt, text)


def visible_line(text: str) -> str:
    """The same as one line: its tabs and line ends are spelt out as well."""
    return text if _is_plain(text) else _HIDDEN_IN_LINE.sub(_spelt, text)


def visible_drawing(text: str) -> str:
    """The same for text with intended terminal escapes: control characters stay."""
    return text if _is_plain(text) else _HIDDEN_BUT_CONTROLS.sub(_spelt, text)


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _spelt(found: re.Match[str]) -> str:
    char = found.group()
    number = ord(char)
    if number < 0x20:
        return _SHORT.get(char, f"\\x{number:02x}")
    if number > 0xFFFF:
        # As JSON writes it: two halves.
        number -= 0x10000
        return f"\\u{0xD800 + (number >> 10):04x}\\u{0xDC00 + (number & 0x3FF):04x}"
    return f"\\u{number:04x}"
