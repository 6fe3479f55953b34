"""What was masked in texts that were sent: counts by kind, and places in files."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from asterism.disclosure.hidden import visible_line
from asterism.disclosure.tokens import find_tokens, line_of

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
