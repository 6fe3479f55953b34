"""Which items are sent, cited and called, and which might as well go."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asterism.types.context import Item, ItemKey, RequestMode, Tool
from asterism.types.sessions import ItemUse, key_json

ENOUGH_REQUESTS = 10
"""Requests after which an item that was never of use is worth a word: fewer say little."""

SHARED_WORDS = 6
"""Words in a row that an answer takes from an item; shorter ones are anybody's."""

_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What came of one item."""

    key: ItemKey
    sent: int = 0
    """Requests that it was given to."""
    chosen: int = 0
    """Those of them that it was chosen for, or came to by expansion."""
    cited: int = 0
    """Requests whose answers speak of it."""
    called: int = 0
    tokens: int = 0
    """All that it cost."""
    mean_score: float | None = None

    @property
    def is_used(self) -> bool:
        """Whether it was ever of use."""
        return bool(self.cited or self.called)


def usage_of(uses: Iterable[ItemUse]) -> tuple[Usage, ...]:
    """The uses of each item together, the most expensive first."""
    by_key: dict[ItemKey, list[ItemUse]] = {}
    for use in uses:
        by_key.setdefault(use.key, []).append(use)
    found = [_usage(key, some) for key, some in by_key.items()]
    return tuple(sorted(found, key=lambda usage: (-usage.tokens, str(usage.key))))


def _usage(key: ItemKey, uses: Sequence[ItemUse]) -> Usage:
    scores = [use.score for use in uses if use.score is not None]
    by_meaning = (RequestMode.agent, RequestMode.expansion)
    return Usage(
        key=key,
        sent=len(uses),
        chosen=sum(use.mode in by_meaning for use in uses),
        cited=sum(use.cited for use in uses),
        called=sum(use.called for use in uses),
        tokens=sum(use.tokens for use in uses),
        mean_score=sum(scores) / len(scores) if scores else None,
    )


def advice(usage: Iterable[Usage], items: Mapping[ItemKey, Item], requests: int) -> list[str]:
    """What might be changed, in sentences; nothing before there is enough to go by."""
    if requests < ENOUGH_REQUESTS:
        return []
    by_key = {entry.key: entry for entry in usage}
    sentences: list[str] = []
    for key, item in items.items():
        seen = by_key.get(key)
        if seen is None:
            if isinstance(item, Tool) or item.enabled:
                sentences.append(
                    f"{key} was in none of {requests} requests: describe it better, or remove it."
                )
        elif not seen.is_used and seen.sent >= ENOUGH_REQUESTS:
            verb = "called" if isinstance(item, Tool) else "spoken of"
            sentences.append(
                f"{key} was sent {seen.sent} times for {seen.tokens:,} tokens and never {verb}: "
                f"{_instead(seen)}."
            )
    return sentences


def _instead(usage: Usage) -> str:
    if usage.chosen < usage.sent:
        return "set its include mode to agent, or remove it from the session"
    return "make its description more exact, so that it is chosen less often"


def cited(answer: str, items: Iterable[Item]) -> tuple[ItemKey, ...]:
    """The rules and references that an answer names, or takes several words in a row from."""
    said = [word.lower() for word in _WORDS.findall(answer)]
    whole = f" {' '.join(said)} "
    runs = set(_runs(said))
    found: list[ItemKey] = []
    for item in items:
        if isinstance(item, Tool):
            continue
        name = " ".join(word.lower() for word in _WORDS.findall(item.name))
        words = [word.lower() for word in _WORDS.findall(item.text)]
        if (name and f" {name} " in whole) or not runs.isdisjoint(_runs(words)):
            found.append(item.key)
    return tuple(found)


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for start in range(len(words) - SHARED_WORDS + 1):
        yield tuple(words[start : start + SHARED_WORDS])


def use_json(use: ItemUse) -> dict[str, Any]:
    """One line of an export; names and numbers, never a text of an item or a message."""
    return {
        "request": use.request,
        "session": use.session,
        "agent": use.agent,
        **key_json(use.key),
        "includeMode": str(use.mode),
        "similarityScore": use.score,
        "tokens": use.tokens,
        "cited": use.cited,
        "called": use.called,
        "at": use.at,
    }


def usage_json(usage: Usage) -> dict[str, Any]:
    """An item's uses together, for programs."""
    return {
        **key_json(usage.key),
        "sent": usage.sent,
        "chosen": usage.chosen,
        "cited": usage.cited,
        "called": usage.called,
        "tokens": usage.tokens,
        "meanScore": usage.mean_score,
    }
