"""Which items a message needs: compared by meaning and by words, chosen by score.

The sentences of the message are compared with every piece of every candidate. A piece counts by
the sentence that it fits best, an item by its best piece. Rules and references on the one hand and
tools on the other are chosen apart, with values of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from asterism.context.items import query_sentences
from asterism.context.vectors import ItemIndex, PreparedItems
from asterism.context.words import LEAST, PROBES, Numbers, brevity
from asterism.types.agent_settings import ContextSettings, Domain
from asterism.types.context import (
    Item,
    ItemKey,
    LeftOut,
    LeftOutReason,
    ReferenceKey,
    RuleKey,
    Tool,
    ToolKey,
    key_from_text,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_MENTION = re.compile(r"(?<![\w@.])@(rule|ref|reference|tool):", re.IGNORECASE)
_QUOTED = re.compile(r"\"([^\"\n]{1,200})\"|'([^'\n]{1,200})'|“([^”\n]{1,200})”")
_WORD = re.compile(r"[^\s,;:!?()\[\]{}<>\"'“”]{1,200}")
_MOST = 50
"""Mentions of one message; more is a pasted text."""


class ItemMention(NamedTuple):
    """A mention: the item it means, or the words that no item has for a name."""

    key: ItemKey | None
    written: str


def mentions(message: str, known: Iterable[ItemKey]) -> tuple[ItemMention, ...]:
    """The mentions of a message, each once, in their order.

    Names may have spaces: of the known names the longest that follows is meant, whatever the case
    of its letters. A name that is no item's can be quoted; else it is one word.
    """
    names = sorted(known, key=lambda key: -len(_name(key)))
    found = [_mention(message, match, names) for match in _first(_MENTION.finditer(message))]
    return tuple(dict.fromkeys(found))


def _first(matches: Iterator[re.Match[str]]) -> Iterator[re.Match[str]]:
    for _number, match in zip(range(_MOST), matches, strict=False):
        yield match


def _mention(message: str, match: re.Match[str], names: list[ItemKey]) -> ItemMention:
    kind = {"ref": "reference"}.get(match[1].lower(), match[1].lower())
    rest = message[match.end() :]
    quoted = _QUOTED.match(rest)
    if quoted is not None:
        return _quoted(kind, next(filter(None, quoted.groups())), names)
    lowered = rest.lower()
    for key in names:
        name = _name(key)
        if key.kind == kind and lowered.startswith(name.lower()) and _ends(rest, len(name)):
            return ItemMention(key, f"@{key}")
    word = _WORD.match(rest)
    return ItemMention(None, f"@{match[1]}:{word[0].rstrip('.') if word else ''}")


def _quoted(kind: str, name: str, names: list[ItemKey]) -> ItemMention:
    lowered = name.lower()
    for key in names:
        if key.kind == kind and _name(key).lower() == lowered:
            return ItemMention(key, f"@{key}")
    return ItemMention(None, f"@{kind}:{name}")


def _name(key: ItemKey) -> str:
    match key:
        case RuleKey() | ReferenceKey():
            return key.name
        case ToolKey():
            return key.qualified


def _ends(rest: str, length: int) -> bool:
    """Whether a name ends there, and is not the beginning of a longer one."""
    following = rest[length : length + 1]
    return not (following.isalnum() or following in ("_", "-"))


def key_named(written: str, known: Iterable[ItemKey]) -> ItemKey | None:
    """The item that a command's argument means: a mention without `@`, or a name only one has."""
    keys = list(known)
    stated = key_from_text(written.removeprefix("@"))
    if stated is not None:
        return next((key for key in keys if str(key).lower() == str(stated).lower()), None)
    alike = [key for key in keys if _name(key).lower() == written.lower()]
    return alike[0] if len(alike) == 1 else None


LISTED = 50
"""Candidates of a domain that are named among those left out, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoosingOptions:
    """What takes part in choosing; measurements switch parts off."""

    hybrid: bool = True
    """Words count beside meaning."""
    floor: bool = True
    """Nothing is added to fill up that noise would score as well."""
    representation: bool = True
    """Each sentence brings an item where one scores."""


ALL_PARTS = ChoosingOptions()


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """How well each sentence of a message fits each piece of each candidate."""

    prepared: PreparedItems
    sentences: tuple[str, ...]
    cosines: Numbers
    """Sentences by pieces."""
    scores: Numbers
    pooled: Numbers
    """For each piece its score with the sentence that it fits best."""
    floor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An item that was chosen, and what spoke for it."""

    item: Item
    score: float
    cosine: float
    sentence: str
    piece: int
    """Which piece of the item fits best, from 0."""
    piece_text: str
    best_pieces: tuple[int, ...]
    """All its pieces, the best first."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was chosen, best first, and the best of what was not."""

    choices: tuple[Choice, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def compare(
    message: str, items: Sequence[Item], index: ItemIndex, options: ChoosingOptions
) -> Scores:
    """Compare a message with all candidates; raises what the embedder raises."""
    import numpy as np

    prepared = index.prepare(items)
    scale = index.scale(hybrid=options.hybrid)
    sentences = query_sentences(message)
    if not sentences or not prepared.items:
        nothing = np.zeros((len(sentences), len(prepared.pieces)), dtype=np.float32)
        pooled = np.zeros(len(prepared.pieces), dtype=np.float32)
        return Scores(prepared, sentences, nothing, nothing, pooled, scale.floor(None))
    probes = PROBES if scale.needs_probes and options.floor else ()
    queries = index.embedder.embed_queries([*sentences, *probes])
    cosines = queries @ prepared.vectors.T
    noise = prepared.best(cosines[len(sentences) :]) if probes else None
    cosines = cosines[: len(sentences)]
    said = np.stack([prepared.words.said(sentence) for sentence in sentences])
    brief = np.array([[brevity(sentence)] for sentence in sentences], dtype=np.float32)
    scores = scale.scores(cosines, said[:, prepared.owners], brief)
    floor = scale.floor(noise) if options.floor else LEAST
    return Scores(prepared, sentences, cosines, scores, scores.max(axis=0), floor)


def choose(
    scores: Scores, domain: Domain, settings: ContextSettings, options: ChoosingOptions
) -> Chosen:
    """The items of a domain that the message needs.

    Of the `top_k` best pieces each item counts by its best one. Items at or above `include_score`
    always come; then each sentence that has no item yet brings its best; then the best of the rest
    fill up to `top_n`. Nothing below the floor comes at all.
    """
    import numpy as np

    prepared = scores.prepared
    floor = max(scores.floor * settings.floor_factor, LEAST)
    members = np.array([domain_of(item) is domain for item in prepared.items], dtype=bool)
    if not members.any() or not scores.sentences:
        return Chosen()
    of_pieces = np.where(members[prepared.owners], scores.pooled, -1.0)
    best = _best_of_top(prepared, of_pieces, settings.top_k)
    ranked = [int(item) for item in _descending(best) if best[item] > 0.0]
    relevant = [item for item in ranked if best[item] >= floor]
    taken = [item for item in relevant if best[item] >= settings.include_score]
    if options.representation and settings.top_n > 0:
        taken += _representatives(scores, members, taken, floor)
    room = max(settings.top_n - len(taken), 0)
    taken += [item for item in relevant if item not in set(taken)][:room]
    everything = prepared.best(of_pieces)
    taken.sort(key=lambda item: (-everything[item], item))
    return Chosen(
        tuple(_choice(scores, item) for item in taken),
        tuple(_left_out(prepared.items, everything, set(taken), floor)),
    )


def domain_of(item: Item) -> Domain:
    """Which of the two sorts an item is of."""
    return Domain.tools if isinstance(item, Tool) else Domain.texts


def _descending(values: Numbers) -> NDArray[np.intp]:
    import numpy as np

    return np.argsort(-values, kind="stable")


def _best_of_top(prepared: PreparedItems, of_pieces: Numbers, top_k: int) -> Numbers:
    """For each item the best of its pieces among the best of all; 0 for an item without one."""
    import numpy as np

    best = np.zeros(len(prepared.items), dtype=np.float32)
    top = _descending(of_pieces)[:top_k]
    np.maximum.at(best, prepared.owners[top], of_pieces[top])
    return best


def _representatives(
    scores: Scores, members: NDArray[np.bool_], taken: list[int], floor: float
) -> list[int]:
    """For each sentence that no chosen item is the best of, or has its own best with: its best."""
    import numpy as np

    by_item = np.where(members, scores.prepared.best(scores.scores), 0.0)
    speaking_for = by_item.argmax(axis=0)
    found: list[int] = []
    for sentence, row in enumerate(by_item):
        best = int(row.argmax())
        chosen = [*taken, *found]
        has_one = best in chosen or any(speaking_for[item] == sentence for item in chosen)
        if not has_one and row[best] >= floor:
            found.append(best)
    return found


def _choice(scores: Scores, item: int) -> Choice:
    prepared = scores.prepared
    first = int(prepared.starts[item])
    last = first + int((prepared.owners == item).sum())
    order = first + _descending(scores.pooled[first:last])
    piece = int(order[0])
    sentence = int(scores.scores[:, piece].argmax())
    return Choice(
        item=prepared.items[item],
        score=float(scores.pooled[piece]),
        cosine=float(scores.cosines[sentence, piece]),
        sentence=scores.sentences[sentence],
        piece=prepared.piece_number(piece),
        piece_text=prepared.pieces[piece],
        best_pieces=tuple(prepared.piece_number(int(number)) for number in order),
    )


def _left_out(items: Sequence[Item], best: Numbers, taken: set[int], floor: float) -> list[LeftOut]:
    rest = [int(item) for item in _descending(best) if int(item) not in taken and best[item] > 0.0]
    return [
        LeftOut(
            items[item].key,
            LeftOutReason.over_count if best[item] >= floor else LeftOutReason.not_relevant,
            float(best[item]),
        )
        for item in rest[:LISTED]
    ]
