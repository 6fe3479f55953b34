"""Makes hidden characters visible, and counts what was masked by kind and place."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from asterism.disclosure.tokens import find_tokens, line_of

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


PLACES_SHOWN = 10
"""Places that a note names; a longer note would hide the rest of the reply."""
PLACES_KEPT = 10_000
"""Places that are remembered while texts are sent: a repository of test keys has thousands."""


class MaskingReport(StrEnum):
    """What notes and reports say of masked tokens; the setting `masking.report`."""

    counts = "counts"
    places = "places"
    none = "none"


class MaskedPlace(NamedTuple):
    """A line of a file with a token that was masked."""

    path: str
    line: int


@dataclass(slots=True)
class MaskedTokens:
    """The tokens that were masked in texts for one receiver."""

    counts: Counter[str] = field(default_factory=Counter)
    places: set[MaskedPlace] = field(default_factory=set)
    """Of texts that come from a file; the words of a query have no place."""

    def add(self, counts: Mapping[str, int], places: Iterable[MaskedPlace] = ()) -> None:
        """Count more tokens."""
        self.counts.update(counts)
        for place in places:
            if len(self.places) < PLACES_KEPT:
                self.places.add(place)

    def at_least(self, counts: Mapping[str, int]) -> None:
        """Count a text that may have been sent before, as each round of a chat sends it again."""
        for kind, count in counts.items():
            self.counts[kind] = max(self.counts[kind], count)

    def note(self, receiver: str, report: str = MaskingReport.counts) -> list[str]:
        """The sentence for the reader of a reply; nothing where none is wanted or due."""
        if not self.counts or report == MaskingReport.none:
            return []
        total = sum(self.counts.values())
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items()))
        said = "1 token was" if total == 1 else f"{total} tokens were"
        masked = f"{said} masked in what was sent to {receiver} ({kinds})"
        if report == MaskingReport.places and self.places:
            return [f"{masked}: {self._listed()}."]
        return [f"{masked}; `asterism files --tokens` shows where they are."]

    def _listed(self) -> str:
        places = sorted(self.places)
        shown = ", ".join(f"{visible_line(path)}:{line}" for path, line in places[:PLACES_SHOWN])
        more = len(places) - PLACES_SHOWN
        if more <= 0:
            return shown
        return f"{shown} and {more:,} more {'place' if more == 1 else 'places'}"


def places_in(path: str, first_line: int, text: str) -> list[MaskedPlace]:
    """The lines of a file with tokens, by a part of its text that begins on a line."""
    return [MaskedPlace(path, first_line - 1 + line_of(text, one)) for one in find_tokens(text)]


def places_of_part(path: str, first_line: int, text: str) -> list[MaskedPlace]:
    """The same for a part from which a masked text was made; at worst its first line.

    The token may be in what surrounds the code in the masked text, for example in its path.
    """
    return places_in(path, first_line, text) or [MaskedPlace(path, first_line)]
